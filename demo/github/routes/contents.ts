/** Files and directories of a commit, as JSON or raw. */
import { Hono } from 'hono';
import { accessRepository } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import { resolveCommit } from '../git/history.ts';
import { git, gitBytes } from '../git/process.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import type { GithubState, Repository } from '../state.ts';
import { repositoryApiUrl, repositoryPage } from '../views/address.ts';

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
    const entry = path === '' ? undefined : (await entries(repository, sha, path))[0];
    if (path !== '' && !entry) throw notFound();
    if (!entry || entry.mode === '040000') {
      const children = await entries(repository, sha, path === '' ? '' : `${path}/`);
      return c.json(children.map((child) => entryView(state, repository, ref, child)));
    }
    if (/application\/vnd\.github(\.v3)?\.raw/.test(c.req.header('accept') ?? '')) {
      const bytes = await gitBytes(repository.gitDir, ['cat-file', 'blob', entry.sha]);
      const headers = { 'content-type': 'application/vnd.github.raw; charset=utf-8' };
      return c.body(Uint8Array.from(bytes), 200, headers);
    }
    const content = Buffer.from(await gitBytes(repository.gitDir, ['cat-file', 'blob', entry.sha]));
    // GitHub breaks the text after 60 characters; a decoder must not mind.
    const encoded = content.toString('base64').replace(/.{60}/g, '$&\n');
    return c.json({
      ...entryView(state, repository, ref, entry),
      content: `${encoded}\n`,
      encoding: 'base64',
    });
  };

  routes.get('/repos/:owner/:repo/contents', (c) => answer(c, ''));
  routes.get('/repos/:owner/:repo/contents/:path{.*}', (c) => answer(c, c.req.param('path')));
  return routes;
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
