/** Commits, comparisons and files, out of the real repository. */
import { Hono } from 'hono';
import { accessRepository } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import { diffFiles } from '../git/diff.ts';
import { listCommits, mergeBase, readCommits, resolveCommit } from '../git/history.ts';
import type { ApiEnv } from '../pipeline.ts';
import { pageOf } from '../request.ts';
import type { GithubState, Repository } from '../state.ts';
import { repositoryApiUrl, repositoryPage } from '../views/address.ts';
import { commitView } from '../views/commit.ts';
import { fileView } from '../views/file.ts';

const contents = { permission: 'contents', level: 'read' } as const;
const mostFiles = 300;
const mostCommits = 250;

export function commitRoutes(state: GithubState): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/repos/:owner/:repo/commits', async (c) => {
    const repository = accessRepository(state, c, contents);
    const sha = await requireCommit(repository, c.req.query('sha') ?? repository.defaultBranch);
    const path = c.req.query('path');
    const shas = pageOf(c, await listCommits(repository.gitDir, [sha], path === undefined ? [] : [path]));
    const commits =
      shas.length === 0 ? [] : await readCommits(repository.gitDir, ['--no-walk=unsorted', ...shas]);
    return c.json(commits.map((commit) => commitView(state, repository, commit)));
  });

  routes.get('/repos/:owner/:repo/commits/:ref{.+}', async (c) => {
    const repository = accessRepository(state, c, contents);
    const sha = await requireCommit(repository, c.req.param('ref'));
    if (c.req.header('accept')?.includes('application/vnd.github.sha')) return c.text(sha);
    const [commit] = await readCommits(repository.gitDir, ['-1', sha]);
    if (!commit) throw notFound();
    const files = await diffFiles(repository.gitDir, commit.parents[0] ?? null, sha);
    const sum = (key: 'additions' | 'deletions'): number =>
      files.reduce((total, file) => total + file[key], 0);
    const [additions, deletions] = [sum('additions'), sum('deletions')];
    return c.json({
      ...commitView(state, repository, commit),
      stats: { total: additions + deletions, additions, deletions },
      files: pageOf(c, files).map((file) => fileView(state, repository, sha, file)),
    });
  });

  routes.get('/repos/:owner/:repo/compare/:basehead{.+}', async (c) => {
    const repository = accessRepository(state, c, contents);
    const [baseName, headName] = c.req.param('basehead').split('...');
    if (!baseName || !headName) throw notFound();
    const { gitDir } = repository;
    const [base, head] = [
      await comparable(state, repository, baseName),
      await comparable(state, repository, headName),
    ];
    const common = await mergeBase(gitDir, base, head);
    if (common === null) throw new ApiError(404, `No common ancestor between ${baseName} and ${headName}.`);
    const ahead = await listCommits(gitDir, [`${base}..${head}`]);
    const behind = await listCommits(gitDir, [`${head}..${base}`]);
    const commits = await readCommits(gitDir, [
      '--reverse',
      `--max-count=${mostCommits}`,
      `${base}..${head}`,
    ]);
    const [baseCommit] = await readCommits(gitDir, ['-1', base]);
    const [commonCommit] = await readCommits(gitDir, ['-1', common]);
    if (!baseCommit || !commonCommit) throw notFound();
    const files = (await diffFiles(gitDir, common, head)).slice(0, mostFiles);
    const page = repositoryPage(state, repository, `/compare/${baseName}...${headName}`);
    return c.json({
      url: repositoryApiUrl(state, repository, `/compare/${baseName}...${headName}`),
      html_url: page,
      permalink_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      base_commit: commitView(state, repository, baseCommit),
      merge_base_commit: commitView(state, repository, commonCommit),
      status: comparisonStatus(ahead.length, behind.length),
      ahead_by: ahead.length,
      behind_by: behind.length,
      total_commits: ahead.length,
      commits: commits.map((commit) => commitView(state, repository, commit)),
      files: files.map((file) => fileView(state, repository, head, file)),
    });
  });

  return routes;
}

function comparisonStatus(ahead: number, behind: number): 'identical' | 'ahead' | 'behind' | 'diverged' {
  if (ahead === 0) return behind === 0 ? 'identical' : 'behind';
  return behind === 0 ? 'ahead' : 'diverged';
}

/** The commit that a ref names, or GitHub's refusals for an empty repository and for an unknown ref. */
export async function requireCommit(repository: Repository, ref: string): Promise<string> {
  const sha = await resolveCommit(repository.gitDir, ref);
  if (sha !== null) return sha;
  if ((await listCommits(repository.gitDir, ['--all', '--max-count=1'])).length === 0) {
    throw new ApiError(409, 'Git Repository is empty.');
  }
  throw new ApiError(422, `No commit found for SHA: ${ref}`);
}

/** One side of a comparison; `owner:branch` names a branch of a fork, whose objects a pull request brings here. */
async function comparable(state: GithubState, repository: Repository, name: string): Promise<string> {
  const colon = name.indexOf(':');
  const owner = colon < 0 ? repository.owner.login : name.slice(0, colon);
  const network = [
    repository,
    ...[...state.repositories.values()].filter((each) => each.forkOf === repository),
  ];
  const side = network.find((each) => each.owner.login.toLowerCase() === owner.toLowerCase());
  const sha = side ? await resolveCommit(side.gitDir, name.slice(colon + 1)) : null;
  const known = sha === null ? null : await resolveCommit(repository.gitDir, sha);
  if (known === null) throw notFound();
  return known;
}
