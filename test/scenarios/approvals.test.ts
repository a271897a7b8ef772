import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSlipwayApi, type SlipwayApi } from '../../demo/slipway-api.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { approvalsOfOthers, scenarioPolicies } from '../support/scenario-policies.ts';

let scenario: Scenario;
let policies: ReturnType<typeof scenarioPolicies>;
let writer: SlipwayApi;
beforeAll(async () => {
  scenario = await startScenario();
  policies = scenarioPolicies(scenario.api);
  writer = createSlipwayApi(scenario.server.url, await scenario.createToken('helper', 'writer'));
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** A stack that is judged by the policies with its label, and on whose repository Ada and Bob may write. */
async function addJudged(name: string, settings: Record<string, unknown> = {}) {
  const added = await scenario.addStack(name, { labels: [name], ...settings });
  scenario.github.setPermission(added.repository, 'ada', 'write');
  return added;
}

const review = (runId: string, verb: 'approve' | 'reject', by: SlipwayApi, body: object = {}) =>
  by.expectSuccess('POST', `/api/v1/runs/${runId}/${verb}`, body);

const checkOf = (runId: string) =>
  scenario.github.checkRuns.findLast(({ externalId }) => externalId === runId);

/** Presses the button of the check run as soon as GitHub shows it. */
async function press(runId: string, button: string, login: string): Promise<void> {
  const names = () => checkOf(runId)?.actions.map(({ identifier }) => identifier) ?? [];
  await expect.poll(names, patience).toContain(button);
  const check = checkOf(runId);
  if (check) await scenario.github.pressButton(check, button, login);
}

/** Until the policies have judged it so often. */
const waitForDecisions = (runId: string, outcomes: readonly string[]) =>
  expect
    .poll(async () => (await policies.ofRun(runId)).map(({ outcome }) => outcome), patience)
    .toEqual(outcomes);

const confirm = (runId: string) => scenario.api.request('POST', `/api/v1/runs/${runId}/confirm`, {});

test('a run waits in the line and with its plan for two others, who approve by button and by API', async () => {
  const { api } = scenario;
  const policy = await policies.add('APPROVAL', 'pairs', approvalsOfOthers(2, 'QUEUED', 'UNCONFIRMED'));
  const { push } = await addJudged('pairs');

  const { id } = await push(program(stash('one', '1')));
  await waitForDecisions(id, ['undecided']);
  expect(await api.run(id)).toMatchObject({
    state: 'QUEUED',
    triggeredBy: 'ada@example.com',
    blockedBy: { kind: 'approval' },
  });
  await press(id, 'approve-start', 'ada');
  await waitForDecisions(id, ['undecided', 'undecided']);
  await press(id, 'approve-start', 'bob');
  await waitForDecisions(id, ['undecided', 'undecided', 'undecided']);
  expect((await api.run(id)).state).toBe('QUEUED');
  await review(id, 'approve', writer, { note: 'go on' });
  await api.waitForState(id, 'UNCONFIRMED');

  expect(await confirm(id)).toMatchObject({ status: 409, json: { code: 'approval-required' } });
  const started = ['undecided', 'undecided', 'undecided', 'approved', 'undecided'];
  await waitForDecisions(id, started);
  await press(id, 'approve', 'bob');
  await waitForDecisions(id, [...started, 'undecided']);
  // Of one person only the newest counts.
  await press(id, 'approve', 'bob');
  await waitForDecisions(id, [...started, 'undecided', 'undecided']);
  expect((await confirm(id)).status).toBe(409);
  const lastOf = async () => (await policies.ofRun(id)).at(-1);
  await review(id, 'approve', api);
  await expect.poll(lastOf, patience).toMatchObject({ outcome: 'approved', policy: { version: 1 } });

  // Another policy shuts the gate until it has said so itself.
  await policies.change(policy, approvalsOfOthers(3, 'QUEUED', 'UNCONFIRMED'));
  expect(await confirm(id)).toMatchObject({ status: 409, json: { code: 'approval-required' } });
  await expect.poll(lastOf, patience).toMatchObject({ outcome: 'undecided', policy: { version: 2 } });
  await policies.change(policy, approvalsOfOthers(2, 'QUEUED', 'UNCONFIRMED'));
  await expect.poll(lastOf, patience).toMatchObject({ outcome: 'approved', policy: { version: 3 } });

  await press(id, 'confirm', 'ada');
  await api.waitForState(id, 'FINISHED');
  await scenario.expectWebhooksToTell(id);
  const { json } = await api.expectSuccess('GET', `/api/v1/runs/${id}/reviews`);
  expect(json).toMatchObject({
    items: [
      { verdict: 'approve', reviewer: 'ada', via: 'check', state: 'QUEUED' },
      { verdict: 'approve', reviewer: 'bob', via: 'check', state: 'QUEUED' },
      { verdict: 'approve', reviewer: 'helper', via: 'api', role: 'writer', note: 'go on' },
      { reviewer: 'bob', state: 'UNCONFIRMED' },
      { reviewer: 'bob', state: 'UNCONFIRMED' },
      { reviewer: 'demo', role: 'admin', state: 'UNCONFIRMED' },
    ],
  });
});

test('what is rejected fails, with the word of who did it', async () => {
  const { api } = scenario;
  await policies.add('APPROVAL', 'rejected', approvalsOfOthers(1, 'UNCONFIRMED'));
  const { push } = await addJudged('rejected');
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  await review(id, 'reject', writer, { note: 'not on a Friday' });
  const run = await api.waitForState(id, 'FAILED');
  expect(run).toMatchObject({ outcome: 'approval_rejected' });
  expect(run.note).toMatch(
    /^rejected rejected it, rejected by helper \(rejected: token:\w+: not on a Friday\)$/,
  );
  expect(await scenario.commandLines(id)).not.toContainEqual(expect.stringMatching(/^pulumi up/));
  const check = await scenario.waitForCheckRun(id, 'failure');
  expect(check.output?.summary).toContain('not on a Friday');
  await scenario.expectWebhooksToTell(id);
});

test('an approval is kept for the same changes, and for no others', async () => {
  const { api } = scenario;
  await policies.add('APPROVAL', 'same-again', approvalsOfOthers(1, 'UNCONFIRMED'));
  const { stack, push } = await addJudged('same-again');
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  await review(id, 'approve', writer);
  await api.act(id, 'discard');

  const again = await api.startRun(stack, { type: 'TRACKED' });
  await api.waitForState(again.id, 'UNCONFIRMED');
  await expect.poll(async () => (await confirm(again.id)).status, patience).toBe(200);
  await api.waitForState(again.id, 'FINISHED');

  const other = await push(program(stash('one', '2')));
  await api.waitForState(other.id, 'UNCONFIRMED');
  await waitForDecisions(other.id, ['approved', 'undecided']);
  expect((await confirm(other.id)).status).toBe(409);
  await api.act(other.id, 'discard');
});

test('a preview with warnings waits for a review, and a comment gives it', async () => {
  const { api, github } = scenario;
  await policies.add('APPROVAL', 'reviewed', approvalsOfOthers(1, 'PENDING_REVIEW'));
  await policies.add('PLAN', 'reviewed-plan', 'warn contains "look at it" if true', 'reviewed');
  const { repository, push } = await addJudged('reviewed', { autodeploy: true });
  const { id } = await push(program(stash('one', '1')), { branch: 'topic' });
  const { number } = await github.openPullRequest(repository, { head: 'topic', author: 'ada' });
  const waiting = await api.waitForState(id, 'PENDING_REVIEW');
  expect(waiting.note).toBe('reviewed-plan: look at it');
  await scenario.waitForCheckRun(id, 'action_required');

  const approving = await github.comment(repository, number, { body: '/slipway approve', login: 'bob' });
  const noteOf = async () =>
    (await api.expectSuccess('GET', `/api/v1/inbox/${approving.deliveryId}`)).json as { note?: string };
  await expect.poll(async () => (await noteOf()).note, patience).toContain('approve by bob: reviewed: ');
  await api.waitForState(id, 'FINISHED');
  expect((await scenario.passedStates(id)).slice(-2)).toEqual(['PENDING_REVIEW', 'FINISHED']);
  await scenario.waitForCheckRun(id, 'success');

  const second = await push(program(stash('one', '2')), { branch: 'topic' });
  await api.waitForState(second.id, 'PENDING_REVIEW');
  await github.comment(repository, number, { body: '/slipway reject', login: 'bob' });
  expect(await api.waitForState(second.id, 'FAILED')).toMatchObject({ outcome: 'approval_rejected' });
});

test('a run whose approval cannot be judged waits until the policy is mended', async () => {
  const { api } = scenario;
  const policy = await policies.add('APPROVAL', 'broken', 'approve if to_number(input.stack.id) > 1');
  const { push } = await addJudged('broken', { autodeploy: true });
  const { id } = await push(program(stash('one', '1')));
  await waitForDecisions(id, ['failed']);
  const waiting = await api.run(id);
  expect(waiting).toMatchObject({ state: 'QUEUED', blockedBy: { kind: 'approval' } });
  expect(JSON.stringify(waiting.blockedBy)).toContain('broken could not be evaluated');

  await policies.change(policy, 'approve if input.stack.id == "broken"');
  await api.waitForState(id, 'FINISHED');
  await waitForDecisions(id, ['failed', 'approved']);
});
