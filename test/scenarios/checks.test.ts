import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckRun } from '../../demo/github/check-run.ts';
import type { Repository } from '../../demo/github/state.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const yaml = (value: string) => program(stash('one', value));

/** As GitHub shows it: the newest of a name. */
const shown = (sha: string, name: string): CheckRun | undefined =>
  scenario.github.checkRuns.findLast((each) => each.headSha === sha && each.name === name);

const waitForCheck = async (sha: string, name: string, conclusion: string): Promise<CheckRun> => {
  await expect.poll(() => shown(sha, name)?.conclusion, patience).toBe(conclusion);
  return shown(sha, name) as CheckRun;
};

async function noteOf({ deliveryId }: { deliveryId: string }): Promise<string> {
  const look = async () =>
    (await scenario.api.expectSuccess('GET', `/api/v1/inbox/${deliveryId}`)).json as {
      state: string;
      note?: string;
    };
  await expect.poll(async () => (await look()).state, patience).not.toBe('pending');
  return (await look()).note ?? '';
}

test('a check shows the plan, and what was previewed is deployed by a button', async () => {
  const { api, github } = scenario;
  const { stack, repository, push } = await scenario.addStack('shown', { promotion: true });
  github.setPermission(repository, 'ada', 'write');
  const first = await push(yaml('1'));
  await api.waitForState(first.id, 'UNCONFIRMED');
  const waiting = await scenario.waitForCheckRun(first.id, 'action_required');

  expect(waiting.output?.title).toBe('Waiting for confirmation: +2 ~0 -0');
  expect(waiting.output?.text).toContain(
    '<tr><td>create</td><td><code>one</code></td><td><code>pulumi:index:Stash</code></td></tr>',
  );
  expect(waiting.output?.text).toContain('\n+ input: 1\n');
  await github.pressButton(waiting, 'confirm', 'ada');
  await api.waitForState(first.id, 'FINISHED');

  const preview = await push(yaml('2'), { branch: 'topic' });
  await api.waitForState(preview.id, 'FINISHED');
  const previewed = await scenario.waitForCheckRun(preview.id, 'success');
  expect(previewed.output?.text).toMatch(/\n- input: 1\n\+ input: 2\n/);
  expect(previewed.actions.map(({ identifier }) => identifier)).toEqual(['deploy', 'preview']);
  expect(await noteOf(await github.pressButton(previewed, 'deploy', 'ada'))).toMatch(
    /^ada deployed \w{7} of topic: run /,
  );

  const [deployed] = await api.runsOf(stack);
  expect(deployed).toMatchObject({ type: 'TRACKED', branch: 'topic', commit: { hash: preview.sha } });
  await api.waitForState(deployed?.id ?? '', 'UNCONFIRMED');
  await api.act(deployed?.id ?? '', 'confirm');
  await api.waitForState(deployed?.id ?? '', 'FINISHED');
  await waitForCheck(preview.sha, 'slipway/shown', 'success');
});

test('a commit that does not concern a stack gets a neutral check, if the stack says so', async () => {
  const { github } = scenario;
  const repository = await scenario.addRepository('neutral', { 'README.md': 'hello\n' });
  await scenario.addStackTo(repository, 'neutral-on', { projectRoot: 'on', unaffectedChecks: true });
  await scenario.addStackTo(repository, 'neutral-off', { projectRoot: 'off' });
  const push = (branch: string) =>
    github.commitAndPush(repository, { branch, message: 'Words', files: { 'README.md': branch } });

  const topic = await push('topic');
  const main = await push('main');

  const check = await waitForCheck(topic.sha, 'slipway/neutral-on (preview)', 'neutral');
  expect(check.output?.summary).toContain('no changed path belongs to the stack');
  await waitForCheck(main.sha, 'slipway/neutral-on', 'neutral');
  const names = github.checkRuns.filter((each) => each.repository === repository).map(({ name }) => name);
  expect(names).toEqual(['slipway/neutral-on (preview)', 'slipway/neutral-on']);
});

test('stacks that want it share one check of a commit, and "Re-run" runs again what failed', async () => {
  const { api, github } = scenario;
  const repository = await scenario.addRepository('shared', { 'README.md': 'hello\n' });
  const shared = { checks: 'aggregate', unaffectedChecks: true };
  const good = await scenario.addStackTo(repository, 'shared-good', { ...shared, projectRoot: 'good' });
  const bad = await scenario.addStackTo(repository, 'shared-bad', { ...shared, projectRoot: 'bad' });
  await scenario.addStackTo(repository, 'shared-idle', { ...shared, projectRoot: 'idle' });
  github.setPermission(repository, 'ada', 'write');

  const { sha } = await github.commitAndPush(repository, {
    ...{ branch: 'topic', message: 'Two', pusher: 'ada' },
    files: { 'good/Pulumi.yaml': yaml('1'), 'bad/Pulumi.yaml': 'name: broken\nruntime: none\n' },
  });
  const check = await waitForCheck(sha, 'slipway/preview', 'failure');

  expect(check.output?.title).toBe('1 failed, 1 done, 1 not concerned');
  const { id } = await api.waitForRun(good.stack, sha);
  expect(check.output?.summary).toContain(`| shared-good | Previewed | +2 ~0 -0 | [run](`);
  expect(check.output?.summary).toContain(`/runs/${id}) |`);
  expect(github.checkRuns.filter((each) => each.headSha === sha)).toHaveLength(1);

  const sent = await github.rerequest(check, 'ada');

  expect(await noteOf(sent)).toMatch(/^shared-bad: ada retried run \w+: run \w+$/);
  expect(await api.runsOf(good.stack)).toHaveLength(1);
  await expect.poll(async () => (await api.runsOf(bad.stack)).length, patience).toBe(2);
  const [again] = await api.runsOf(bad.stack);
  await api.waitForState(again?.id ?? '', 'FAILED');
  await waitForCheck(sha, 'slipway/preview', 'failure');
});

test('a merge queue gets an answer for every stack of its branch, however its group is told', async () => {
  const { api, github } = scenario;
  const repository = await scenario.addRepository('queued', { 'README.md': 'hello\n' });
  const infra = await scenario.addStackTo(repository, 'queued-infra', { projectRoot: 'infra' });
  await scenario.addStackTo(repository, 'queued-other', { projectRoot: 'other' });
  await scenario.addStackTo(repository, 'queued-elsewhere', { branch: 'release' });
  const number = await pullRequest(repository, 'topic');

  const group = await github.enqueue(repository, number);
  const { id } = await api.waitForRun(infra.stack, group.sha);
  await api.waitForState(id, 'FINISHED');

  expect(await api.run(id)).toMatchObject({ type: 'PROPOSED', branch: group.branch });
  expect(await api.run(id)).not.toHaveProperty('untrusted');
  await waitForCheck(group.sha, 'slipway/queued-infra (preview)', 'success');
  await waitForCheck(group.sha, 'slipway/queued-other (preview)', 'neutral');
  expect(await noteOf(group.requested)).toContain('queued-infra: there is a run for this commit already');
  const ofGroup = () => github.checkRuns.filter(({ headSha }) => headSha === group.sha);
  expect(ofGroup()).toHaveLength(2);
  expect(shown(group.sha, 'slipway/queued-infra (preview)')?.actions).toEqual([]);
  expect(await noteOf(await github.destroyMergeGroup(group, 'merged'))).toBe(
    'no preview of the group was under way',
  );
});

test('a merge group that is gone ends its previews', async () => {
  const { api, github } = scenario;
  const repository = await scenario.addRepository('dequeued', { 'README.md': 'hello\n' });
  const held = { hooks: { beforeInit: ['echo held; sleep 600'] }, projectRoot: 'infra' };
  const { stack } = await scenario.addStackTo(repository, 'dequeued', held);
  const number = await pullRequest(repository, 'topic');

  const group = await github.enqueue(repository, number, { first: 'merge_group' });
  const { id } = await api.waitForRun(stack, group.sha);
  await api.waitForState(id, 'INITIALIZING');
  const gone = await github.destroyMergeGroup(group, 'dequeued');

  expect(await api.waitForState(id, 'STOPPED')).toMatchObject({
    ...{ outcome: 'merge_group_destroyed', note: 'the merge group is gone: dequeued' },
  });
  expect(await noteOf(gone)).toBe(`dequeued: run ${id} is STOPPED`);
  expect((await api.runsOf(stack)).filter(({ commit }) => commit.hash === group.sha)).toHaveLength(1);
  // The preview of the pull request itself goes on.
  const [own] = (await api.runsOf(stack)).filter(({ commit }) => commit.hash !== group.sha);
  expect(own?.state).toBe('INITIALIZING');
  await api.act(own?.id ?? '', 'stop');
});

test('"Re-run all" runs again what failed of a commit', async () => {
  const { api, github } = scenario;
  const { stack, repository, push } = await scenario.addStack('rerun', { hooks: { beforeInit: ['exit 1'] } });
  github.setPermission(repository, 'ada', 'write');
  const { id } = await push(yaml('1'));
  await api.waitForState(id, 'FAILED');
  const check = await scenario.waitForCheckRun(id, 'failure');

  const sent = await github.rerequestAll(check, 'ada');
  const note = await noteOf(sent);
  await github.redeliver(sent.deliveryId);

  expect(note).toMatch(new RegExp(`^rerun: ada retried run ${id}: run \\w+$`));
  const [again, ...before] = await api.runsOf(stack);
  expect(before.map((run) => run.id)).toEqual([id]);
  await api.waitForState(again?.id ?? '', 'FAILED');
});

/** Of a new branch that changes `infra`. */
async function pullRequest(repository: Repository, branch: string): Promise<number> {
  const { github } = scenario;
  await github.commitAndPush(repository, {
    ...{ branch, message: 'One', pusher: 'ada', files: { 'infra/Pulumi.yaml': yaml('1') } },
  });
  return (await github.openPullRequest(repository, { head: branch, author: 'ada' })).number;
}
