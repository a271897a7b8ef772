/** What people lose without a permission or an event of app.yml. A test holds the names equal to that file's. */
export const permissionUses: Readonly<Record<string, string>> = {
  metadata: 'names, default branches and who may do what in a repository are unknown',
  contents: 'no commit can be fetched, so no run begins',
  checks: 'no check run shows what a run does, and there are no buttons',
  pull_requests: 'pull requests are not previewed, and no comment is answered',
  issues: 'commands in comments do not arrive',
  deployments: 'deployments are not shown on GitHub',
  merge_queues: 'merge queues wait for checks in vain',
};

export const eventUses: Readonly<Record<string, string>> = {
  push: 'pushes start no runs',
  pull_request: 'pull requests are not previewed',
  issue_comment: 'commands in comments do nothing',
  check_run: 'buttons of check runs do nothing',
  check_suite: '"Re-run all checks" does nothing',
  merge_group: 'merge queues wait for checks in vain',
  repository: 'renames and changes of the default branch are noticed a day late',
};

/**
 * A question that is answered only with the permission, below a private repository. Without an entry there is none
 * that would prove it, and GitHub's word that it is granted has to do. `{ref}`: its default branch.
 */
export const proofs: Readonly<Record<string, string>> = {
  metadata: '',
  contents: '/commits?per_page=1',
  checks: '/commits/{ref}/check-runs?per_page=1',
  pull_requests: '/pulls?per_page=1',
  issues: '/issues?per_page=1',
  deployments: '/deployments?per_page=1',
};
