import { expect, test } from 'vitest';
import { octokitFor, startGithub } from './stand-in.ts';

const infra = { owner: 'acme', repo: 'infra' };

async function startCommit() {
  const started = await startGithub();
  const repo = await started.github.addRepository({ owner: 'acme', name: 'infra' });
  const head_sha = await started.github.commit(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  const octokit = await octokitFor(started.github.url, started.installation.id);
  return { ...started, repo, head_sha, octokit };
}

test('a check run is made, changed and found again, with every write remembered', async () => {
  await using started = await startCommit();
  const { github, head_sha, octokit } = started;
  const created = await octokit.rest.checks.create({
    ...infra,
    name: 'slipway/net',
    head_sha,
    status: 'in_progress',
    external_id: 'run-1',
    details_url: 'http://127.0.0.1:3000/runs/run-1',
    actions: [{ label: 'Confirm', description: 'Apply the plan', identifier: 'confirm' }],
  });
  expect(created.data).toMatchObject({ status: 'in_progress', conclusion: null, external_id: 'run-1' });
  const changed = await octokit.rest.checks.update({
    ...infra,
    check_run_id: created.data.id,
    conclusion: 'success',
    output: { title: 'Done', summary: 'x'.repeat(65_535) },
    actions: [],
  });
  expect(changed.data).toMatchObject({
    status: 'completed',
    conclusion: 'success',
    output: { title: 'Done' },
  });
  expect(github.checkRuns).toMatchObject([
    { actions: [], history: [{ body: { status: 'in_progress' } }, {}] },
  ]);

  await octokit.rest.checks.create({ ...infra, name: 'slipway/other', head_sha });
  const find = (filter: { check_name?: string; app_id?: number }) =>
    octokit.rest.checks.listForRef({ ...infra, ref: 'main', ...filter });
  expect((await find({})).data.total_count).toBe(2);
  expect((await find({ check_name: 'slipway/net' })).data.check_runs).toMatchObject([
    { id: created.data.id },
  ]);
  expect((await find({ app_id: 2 })).data.total_count).toBe(0);
});

const fine = { title: 'A title', summary: 'A summary' };
const button = { label: 'Confirm', description: 'Apply the plan', identifier: 'confirm' };

test.each([
  ['a summary of 65,536 characters', { output: { ...fine, summary: 'x'.repeat(65_536) } }],
  ['a text of 65,536 characters', { output: { ...fine, text: 'x'.repeat(65_536) } }],
  ['a title without a summary', { output: { title: 'A title' } }],
  ['four buttons', { actions: [button, button, button, button] }],
  ['a label of 21 characters', { actions: [{ ...button, label: 'x'.repeat(21) }] }],
  ['a description of 41 characters', { actions: [{ ...button, description: 'x'.repeat(41) }] }],
  ['an identifier of 21 characters', { actions: [{ ...button, identifier: 'x'.repeat(21) }] }],
  ['a conclusion that does not exist', { conclusion: 'fine' }],
  ['a status that does not exist', { status: 'running' }],
  ['"completed" without a conclusion', { status: 'completed' }],
  ['a commit that does not exist', { head_sha: 'f'.repeat(40) }],
])('a check run with %s is refused', async (_what, part) => {
  await using started = await startCommit();
  const { github, head_sha, octokit } = started;
  // Not `rest.checks.create`: its types refuse most of these before GitHub could.
  const body: object = { ...infra, name: 'slipway/net', head_sha, ...part };
  const answer = octokit.request({ method: 'POST', url: '/repos/{owner}/{repo}/check-runs', ...body });
  await expect(answer).rejects.toMatchObject({ status: 422, response: { data: { status: '422' } } });
  expect(github.checkRuns).toEqual([]);
});

test('characters are counted as people count them, not as UTF-16', async () => {
  await using started = await startCommit();
  const output = { title: 'A title', summary: '🚢'.repeat(65_535) };
  const { head_sha, octokit } = started;
  const created = await octokit.rest.checks.create({ ...infra, name: 'slipway/net', head_sha, output });
  expect(created.status).toBe(201);
});

test('a button that the check run shows can be pressed, and no other', async () => {
  await using started = await startCommit();
  const { github, head_sha, octokit, installation } = started;
  await octokit.rest.checks.create({ ...infra, name: 'slipway/net', head_sha, actions: [button] });
  const [run] = github.checkRuns;
  if (!run) throw new Error('no check run');
  await expect(github.pressButton(run, 'discard')).rejects.toThrow('no button');
  const sent = await github.pressButton(run, 'confirm', 'ada');
  expect(github.deliveries.find((each) => each.guid === sent.deliveryId)).toMatchObject({
    event: 'check_run',
    action: 'requested_action',
    payload: {
      requested_action: { identifier: 'confirm' },
      check_run: { id: run.id, name: 'slipway/net', head_sha },
      sender: { login: 'ada' },
      installation: { id: installation.id },
    },
  });
});

test('all checks of a commit can be asked for again', async () => {
  await using started = await startCommit();
  const { github, head_sha, octokit } = started;
  await octokit.rest.checks.create({ ...infra, name: 'slipway/net', head_sha });
  const [run] = github.checkRuns;
  if (!run) throw new Error('no check run');
  const sent = await github.rerequestAll(run, 'ada');
  expect(github.deliveries.find((each) => each.guid === sent.deliveryId)).toMatchObject({
    ...{ event: 'check_suite', action: 'rerequested' },
    payload: { check_suite: { id: run.suiteId, head_sha, app: { id: 1 } }, sender: { login: 'ada' } },
  });
});

test('comments are written, edited, refused when too long, and acknowledged once', async () => {
  await using started = await startCommit();
  const { github, repo, octokit } = started;
  await github.commit(repo, { branch: 'next', message: 'two', files: { b: 'b' } });
  const { number: issue_number } = await github.openPullRequest(repo, { head: 'next' });
  const { comment } = await github.comment(repo, issue_number, { body: '/slipway preview' });

  const react = () =>
    octokit.rest.reactions.createForIssueComment({ ...infra, comment_id: comment.id, content: 'eyes' });
  expect([(await react()).status, (await react()).status]).toEqual([201, 200]);
  const mine = await octokit.rest.issues.createComment({ ...infra, issue_number, body: 'x'.repeat(65_536) });
  expect(mine.data.user).toMatchObject({ login: 'slipway[bot]', type: 'Bot' });
  await octokit.rest.issues.updateComment({ ...infra, comment_id: mine.data.id, body: 'shorter' });
  const long = octokit.rest.issues.createComment({ ...infra, issue_number, body: 'x'.repeat(65_537) });
  await expect(long).rejects.toThrow('Body is too long');
  const listed = await octokit.rest.issues.listComments({ ...infra, issue_number });
  expect(listed.data.map((each) => each.body)).toEqual(['/slipway preview', 'shorter']);
  expect(comment.reactions).toMatchObject([{ content: 'eyes', account: { login: 'slipway[bot]' } }]);
});

test('the App may write below pull requests but, with these permissions, not below plain issues', async () => {
  await using started = await startCommit();
  const { github, repo, octokit } = started;
  const issue_number = github.openIssue(repo, 'A question');
  expect((await octokit.rest.issues.get({ ...infra, issue_number })).data.pull_request).toBeUndefined();
  const write = octokit.rest.issues.createComment({ ...infra, issue_number, body: 'An answer' });
  await expect(write).rejects.toMatchObject({ status: 403 });
});

test('a deployment waits for every check unless told not to', async () => {
  await using started = await startCommit();
  const { github, head_sha } = started;
  await github.uninstallApp('acme');
  const installation = await github.installApp('acme', {
    permissions: { checks: 'write', deployments: 'write' },
  });
  const octokit = await octokitFor(github.url, installation.id);
  await octokit.rest.checks.create({ ...infra, name: 'slipway/net', head_sha, status: 'in_progress' });
  const deploy = (more = {}) => octokit.rest.repos.createDeployment({ ...infra, ref: head_sha, ...more });
  await expect(deploy()).rejects.toMatchObject({ status: 409 });
  const { data } = await deploy({ required_contexts: [], auto_merge: false, environment: 'prod' });
  if (!('id' in data)) throw new Error('not deployed');
  await octokit.rest.repos.createDeploymentStatus({ ...infra, deployment_id: data.id, state: 'success' });
  expect(github.deployments).toMatchObject([
    { sha: head_sha, request: { environment: 'prod' }, statuses: [{ request: { state: 'success' } }] },
  ]);
});

test('nobody but people comments in a conversation that is locked, and a comment can be deleted', async () => {
  await using started = await startCommit();
  const { github, repo, octokit } = started;
  await github.commit(repo, { branch: 'next', message: 'two', files: { b: 'b' } });
  const { number: issue_number } = await github.openPullRequest(repo, { head: 'next' });
  const write = () => octokit.rest.issues.createComment({ ...infra, issue_number, body: 'Mine' });
  const { data } = await write();
  expect(data.performed_via_github_app).toMatchObject({ id: github.app.id });

  github.setConversationLocked(repo, issue_number, true);
  await expect(write()).rejects.toMatchObject({ status: 403 });
  expect((await octokit.rest.pulls.get({ ...infra, pull_number: issue_number })).data.locked).toBe(true);
  const [mine] = github.comments;
  if (mine) await github.removeComment(mine);

  const change = octokit.rest.issues.updateComment({ ...infra, comment_id: data.id, body: 'Again' });
  await expect(change).rejects.toMatchObject({ status: 404 });
  github.setConversationLocked(repo, issue_number, false);
  expect((await write()).status).toBe(201);
});

test('a deployment that succeeds ends those of its environment that did, but for production', async () => {
  await using started = await startCommit();
  const { github, head_sha } = started;
  await github.uninstallApp('acme');
  const installation = await github.installApp('acme', { permissions: { deployments: 'write' } });
  const octokit = await octokitFor(github.url, installation.id);
  const deploy = async (environment: string, state: 'success' | 'failure') => {
    const how = { ref: head_sha, environment, required_contexts: [] };
    const { data } = await octokit.rest.repos.createDeployment({ ...infra, ...how });
    if (!('id' in data)) throw new Error('not deployed');
    await octokit.rest.repos.createDeploymentStatus({ ...infra, deployment_id: data.id, state });
  };

  for (const state of ['success', 'failure', 'success'] as const) await deploy('staging', state);
  for (const state of ['success', 'success'] as const) await deploy('production', state);

  expect(github.deployments.map(({ statuses }) => statuses.map(({ request }) => request.state))).toEqual([
    ['success', 'inactive'],
    ['failure'],
    ['success'],
    ['success'],
    ['success'],
  ]);
});
