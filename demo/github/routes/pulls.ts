/** Pull requests, read only: people open and merge them through the in-process API. */
import { Hono } from 'hono';
import { accessRepository } from '../access.ts';
import { notFound } from '../api-error.ts';
import { type Discussions, findIssue, isPull, type PullRequest } from '../discussion.ts';
import { diffFiles } from '../git/diff.ts';
import { isAncestor, mergeBase } from '../git/history.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import { idParam, pageOf } from '../request.ts';
import type { GithubState, Repository } from '../state.ts';
import { fileView } from '../views/file.ts';
import { baseRevision, pullRequestView } from '../views/pull-request.ts';
import { requireCommit } from './commits.ts';

const read = { permission: 'pull_requests', level: 'read' } as const;
/** GitHub's cap, over all pages. */
const mostFiles = 3000;

export function pullRoutes(state: GithubState, discussions: Discussions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const pullsOf = (repository: Repository): PullRequest[] =>
    discussions.issues.filter(isPull).filter((each) => each.repository === repository);
  const views = (pulls: PullRequest[]) => Promise.all(pulls.map((each) => pullRequestView(state, each)));

  routes.get('/repos/:owner/:repo/pulls', async (c) => {
    const { state: wanted = 'open', head, base } = c.req.query();
    const found = pullsOf(accessRepository(state, c, read)).filter(({ state: now, pull }) => {
      if (wanted !== 'all' && now !== wanted) return false;
      if (base !== undefined && pull.base !== base) return false;
      return head === undefined || head === `${pull.headRepository.owner.login}:${pull.headBranch}`;
    });
    return c.json(await views(pageOf(c, found.toReversed())));
  });

  routes.get('/repos/:owner/:repo/pulls/:number', async (c) => {
    return c.json(await pullRequestView(state, requirePull(c)));
  });

  routes.get('/repos/:owner/:repo/pulls/:number/files', async (c) => {
    const issue = requirePull(c);
    const { repository, pull } = issue;
    const common = await mergeBase(repository.gitDir, baseRevision(issue), pull.headSha);
    const files = (await diffFiles(repository.gitDir, common, pull.headSha)).slice(0, mostFiles);
    return c.json(pageOf(c, files).map((file) => fileView(state, repository, pull.headSha, file)));
  });

  routes.get('/repos/:owner/:repo/commits/:ref{.+}/pulls', async (c) => {
    const repository = accessRepository(state, c, read);
    const sha = await requireCommit(repository, c.req.param('ref'));
    const found: PullRequest[] = [];
    for (const each of pullsOf(repository)) {
      if (await isAncestor(repository.gitDir, sha, each.pull.headSha)) found.push(each);
    }
    return c.json(await views(pageOf(c, found)));
  });

  function requirePull(c: ApiContext): PullRequest {
    const issue = findIssue(discussions, accessRepository(state, c, read), idParam(c, 'number'));
    if (!issue || !isPull(issue)) throw notFound();
    return issue;
  }

  return routes;
}
