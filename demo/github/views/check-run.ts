import type { CheckRun } from '../check-run.ts';
import type { GithubState, Repository } from '../state.ts';
import { nodeId, repositoryApiUrl, repositoryPage } from './address.ts';
import { appView } from './installation.ts';

/** Buttons are write-only: GitHub tells them to nobody. */
export function checkRunView(state: GithubState, run: CheckRun) {
  const url = repositoryApiUrl(state, run.repository, `/check-runs/${run.id}`);
  const page = repositoryPage(state, run.repository, `/runs/${run.id}`);
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: page,
    details_url: run.detailsUrl ?? page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      title: run.output?.title ?? null,
      summary: run.output?.summary ?? null,
      text: run.output?.text ?? null,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: run.suiteId },
    app: appView(state, state.app),
    pull_requests: [],
  };
}

export function checkSuiteView(
  state: GithubState,
  repository: Repository,
  { id, headSha }: { id: number; headSha: string },
) {
  return {
    id,
    node_id: nodeId('CheckSuite', id),
    head_branch: null,
    head_sha: headSha,
    status: 'queued',
    conclusion: null,
    url: repositoryApiUrl(state, repository, `/check-suites/${id}`),
    before: null,
    after: null,
    pull_requests: [],
    app: appView(state, state.app),
  };
}
