/** Files and directories of a commit, as JSON or raw, and blobs by their hash. */
import { posix } from 'node:path';
import { Hono } from 'hono';
import { accessRepository } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import { resolveCommit } from '../git/history.ts';
import { git, gitBytes, tryGit } from '../git/process.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import type { GithubState, Repository } from '../state.ts';
import { nodeId, repositoryApiUrl, repositoryPage } from '../views/address.ts';

interface Entry {
  mode: string;
  sha: string;
  size: number;
  path: string;
}

export function contentRoutes(state: GithubState): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  const answer = async (c: ApiContext, asked: string): Promise<Response> => {
    const repository = accessRepository(state, c, { permission: 'contents', level: 'read' });
    const ref = c.req.query('ref') ?? repository.defaultBranch;
    const sha = await resolveCommit(repository.gitDir, ref);
    if (sha === null) throw new ApiError(404, `No commit found for the ref ${ref}`);
    const path = asked.replace(/^\/+|\/+$/g, '');
    const found = path === '' ? undefined : (await entries(repository, sha, path))[0];
    const entry = found && (await behindLink(repository, sha, found));
    if (path !== '' && !entry) throw notFound();
    if (!entry || entry.mode === '040000') {
      const children = await entries(repository, sha, path === '' ? '' : `${path}/`);
      return c.json(children.map((child) => entryView(state, repository, ref, child)));
    }
    // Only asked for by itself does GitHub say that it is one.
    if (entry.mode === '160000') {
      return c.json({ ...entryView(state, repository, ref, entry), type: 'submodule' });
    }
    if (/application\/vnd\.github(\.v3)?\.raw/.test(c.req.header('accept') ?? '')) {
      const bytes = await gitBytes(repository.gitDir, ['cat-file', 'blob', entry.sha]);
      const headers = { 'content-type': 'application/vnd.github.raw; charset=utf-8' };
      return c.body(Uint8Array.from(bytes), 200, headers);
    }
    const content = Buffer.from(await gitBytes(repository.gitDir, ['cat-file', 'blob', entry.sha]));
    return c.json({
      ...entryView(state, repository, ref, entry),
      content: wrapped(content),
      encoding: 'base64',
    });
  };

  routes.get('/repos/:owner/:repo/git/blobs/:sha', async (c) => {
    const repository = accessRepository(state, c, { permission: 'contents', level: 'read' });
    const sha = c.req.param('sha');
    if (!/^[0-9a-f]{40}$/.test(sha)) {
      throw new ApiError(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].');
    }
    const type = await tryGit(repository.gitDir, ['cat-file', '-t', sha]);
    if (type?.trim() !== 'blob') throw notFound();
    const bytes = Buffer.from(await gitBytes(repository.gitDir, ['cat-file', 'blob', sha]));
    return c.json({
      sha,
      node_id: nodeId('Blob', `${repository.id}:${sha}`),
      size: bytes.length,
      url: repositoryApiUrl(state, repository, `/git/blobs/${sha}`),
      content: wrapped(bytes),
      encoding: 'base64',
    });
  });

  routes.get('/repos/:owner/:repo/git/trees/:sha', async (c) => {
    const repository = accessRepository(state, c, { permission: 'contents', level: 'read' });
    const asked = await tryGit(repository.gitDir, [
      ...['rev-parse', '--verify', '--quiet', '--end-of-options', `${c.req.param('sha')}^{tree}`],
    ]);
    if (asked === null) throw notFound();
    const sha = asked.trim();
    const tree = (await entries(repository, sha, '')).map(({ mode, sha: of, size, path }) => {
      const type = mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob';
      const url = repositoryApiUrl(state, repository, `/git/${type}s/${of}`);
      return { path, mode, type, sha: of, ...(type === 'blob' ? { size } : {}), url };
    });
    const url = repositoryApiUrl(state, repository, `/git/trees/${sha}`);
    return c.json({ sha, url, tree, truncated: false });
  });

  routes.get('/repos/:owner/:repo/contents', (c) => answer(c, ''));
  routes.get('/repos/:owner/:repo/contents/:path{.*}', (c) => answer(c, c.req.param('path')));
  return routes;
}

/** GitHub breaks the text after 60 characters; a decoder must not mind. */
const wrapped = (bytes: Buffer): string => `${bytes.toString('base64').replace(/.{60}/g, '$&\n')}\n`;

/** Asked for a link to a file of the repository, GitHub answers with that file, and does not say that it did. */
async function behindLink(repository: Repository, sha: string, entry: Entry): Promise<Entry> {
  if (entry.mode !== '120000') return entry;
  const target = await git(repository.gitDir, ['cat-file', 'blob', entry.sha]);
  const path = posix.join(posix.dirname(entry.path), target);
  const found =
    target.startsWith('/') || path.startsWith('..') ? undefined : (await entries(repository, sha, path))[0];
  return found?.mode.startsWith('100') ? { ...found, path: entry.path } : entry;
}

/** The entry at a path, or with a slash at its end what is inside. */
async function entries(repository: Repository, sha: string, path: string): Promise<Entry[]> {
  const args = ['ls-tree', '-z', '--long', sha, ...(path === '' ? [] : ['--', path])];
  const lines = (await git(repository.gitDir, ['--literal-pathspecs', ...args])).split('\0');
  return lines.flatMap((line) => {
    const [, mode = '', blob = '', size = '', name = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [{ mode, sha: blob, size: Number(size) || 0, path: name }];
  });
}

function entryView(state: GithubState, repository: Repository, ref: string, entry: Entry) {
  const path = entry.path.split('/').map(encodeURIComponent).join('/');
  const url = `${repositoryApiUrl(state, repository, `/contents/${path}`)}?ref=${encodeURIComponent(ref)}`;
  const page = repositoryPage(state, repository, `/blob/${ref}/${path}`);
  const blob = repositoryApiUrl(state, repository, `/git/blobs/${entry.sha}`);
  const directory = entry.mode === '040000';
  return {
    type: directory ? 'dir' : entry.mode === '120000' ? 'symlink' : 'file',
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.sha,
    size: entry.size,
    url,
    html_url: page,
    git_url: blob,
    download_url: directory ? null : repositoryPage(state, repository, `/raw/${ref}/${path}`),
    _links: { self: url, git: blob, html: page },
  };
}
