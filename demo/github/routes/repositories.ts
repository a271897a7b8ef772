/** A repository, its branches, and who may do what there. */
import { Hono } from 'hono';
import { accessRepository, checkAccess, roleOf } from '../access.ts';
import { notFound } from '../api-error.ts';
import { readCommits, readRef, resolveCommit } from '../git/history.ts';
import { git } from '../git/process.ts';
import type { ApiEnv } from '../pipeline.ts';
import { idParam, pageOf } from '../request.ts';
import { findAccount, type GithubState, type Role } from '../state.ts';
import { fullUser, simpleUser } from '../views/account.ts';
import { nodeId, repositoryApiUrl } from '../views/address.ts';
import { commitView } from '../views/commit.ts';
import { fullRepositoryView } from '../views/repository.ts';

const metadata = { permission: 'metadata', level: 'read' } as const;
const contents = { permission: 'contents', level: 'read' } as const;

export function repositoryRoutes(state: GithubState): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/repos/:owner/:repo', (c) => {
    return c.json(fullRepositoryView(state, accessRepository(state, c, metadata)));
  });

  routes.get('/repositories/:id', (c) => {
    const repository = state.repositories.get(idParam(c, 'id'));
    if (!repository) throw notFound();
    checkAccess(c.get('caller'), repository, metadata);
    return c.json(fullRepositoryView(state, repository));
  });

  routes.get('/repos/:owner/:repo/branches', async (c) => {
    const repository = accessRepository(state, c, contents);
    const out = await git(repository.gitDir, [
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      'refs/heads/',
    ]);
    const branches = out.split('\n').filter((line) => line !== '');
    const page = pageOf(c, branches).map((line) => {
      const [name = '', sha = ''] = line.split(' ');
      return {
        name,
        commit: { sha, url: repositoryApiUrl(state, repository, `/commits/${sha}`) },
        protected: false,
      };
    });
    return c.json(page);
  });

  routes.get('/repos/:owner/:repo/branches/:branch{.+}', async (c) => {
    const repository = accessRepository(state, c, contents);
    const name = c.req.param('branch');
    const sha = await resolveCommit(repository.gitDir, `refs/heads/${name}`);
    const [commit] = sha === null ? [] : await readCommits(repository.gitDir, ['-1', sha]);
    if (!commit) throw notFound();
    const url = repositoryApiUrl(state, repository, `/branches/${name}`);
    return c.json({
      name,
      commit: commitView(state, repository, commit),
      _links: { self: url, html: `${state.url}/${repository.fullName}/tree/${name}` },
      protected: false,
      protection: {
        enabled: false,
        required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] },
      },
      protection_url: `${url}/protection`,
    });
  });

  routes.get('/repos/:owner/:repo/git/ref/:ref{.+}', async (c) => {
    const repository = accessRepository(state, c, contents);
    const ref = `refs/${c.req.param('ref')}`;
    const sha = await readRef(repository.gitDir, ref);
    if (sha === null) throw notFound();
    c.header('etag', `W/"${sha}"`);
    if (c.req.header('if-none-match') === `W/"${sha}"`) return c.body(null, 304);
    const type = (await git(repository.gitDir, ['cat-file', '-t', sha])).trim();
    return c.json({
      ref,
      node_id: nodeId('Ref', `${repository.id}:${ref}`),
      url: repositoryApiUrl(state, repository, `/git/${ref}`),
      object: { type, sha, url: repositoryApiUrl(state, repository, `/git/${type}s/${sha}`) },
    });
  });

  routes.get('/repos/:owner/:repo/collaborators/:login/permission', (c) => {
    const repository = accessRepository(state, c, metadata);
    const account = findAccount(state, c.req.param('login'));
    if (account?.type !== 'User') throw notFound();
    const role = roleOf(repository, account);
    const user = { ...simpleUser(state, account), permissions: roleFlags(role), role_name: role ?? 'none' };
    return c.json({ permission: legacyPermission(role), user, role_name: role ?? 'none' });
  });

  routes.get('/users/:login', (c) => {
    const account = findAccount(state, c.req.param('login'));
    if (!account) throw notFound();
    return c.json(fullUser(state, account));
  });

  return routes;
}

/** The old four words: they hide that maintain is more than write, and triage more than read. */
function legacyPermission(role: Role | null): 'admin' | 'write' | 'read' | 'none' {
  if (role === null) return 'none';
  if (role === 'admin') return 'admin';
  return role === 'maintain' || role === 'write' ? 'write' : 'read';
}

const rising: readonly Role[] = ['read', 'triage', 'write', 'maintain', 'admin'];

export function roleFlags(role: Role | null): Record<string, boolean> {
  const rank = role === null ? -1 : rising.indexOf(role);
  const names = ['pull', 'triage', 'push', 'maintain', 'admin'];
  return Object.fromEntries(names.map((name, index) => [name, rank >= index]));
}
