import { afterAll, beforeAll, expect, test } from 'vitest';
import { passphrase, patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const planned = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING'];
const yaml = (value: string) => ({ 'Pulumi.yaml': program(stash('one', value)) });
/** Keeps a run in its first half until somebody ends it; nobody has to wait for its end. */
const holding = { hooks: { beforeInit: ['echo held; sleep 600'] } };

/** The inbox's word on the newest delivery of a pull request. */
async function noteOfLatest(): Promise<string> {
  const sent = scenario.github.deliveries.findLast(({ event }) => event === 'pull_request');
  const { json } = await scenario.api.expectSuccess('GET', `/api/v1/inbox/${sent?.guid}`);
  const { state, note } = json as { state: string; note?: string };
  return `${state}: ${note ?? ''}`;
}

test('a pull request is previewed: one run of push and event, a check on its head, and everybody is told', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('previewed');
  const { sha } = await github.commitAndPush(repository, {
    ...{ branch: 'topic', message: 'Add one', files: yaml('1'), pusher: 'ada' },
  });
  const { number } = await github.openPullRequest(repository, {
    ...{ head: 'topic', title: 'Add one', author: 'bob' },
  });
  const { id } = await api.waitForRun(stack, sha);

  const run = await api.waitForState(id, 'FINISHED');

  await expect
    .poll(() => api.run(id), patience)
    .toMatchObject({
      ...{ type: 'PROPOSED', branch: 'topic', commit: { hash: sha }, triggeredBy: 'ada@example.com' },
      pullRequest: { number, base: 'main', title: 'Add one', author: 'bob', isFork: false },
    });
  expect(run.delta).toEqual({ added: 2, changed: 0, deleted: 0, resources: 2 });
  expect(await scenario.passedStates(id)).toEqual([...planned, 'FINISHED']);
  expect(await api.runsOf(stack)).toHaveLength(1);
  expect(await scenario.waitForCheckRun(id, 'success')).toMatchObject({
    ...{ name: 'slipway/previewed (preview)', headSha: sha },
  });
  await scenario.expectWebhooksToTell(id);
  expect(scenario.receiver.of(id).at(-1)?.body).toMatchObject({
    ...{ state: 'FINISHED', run: { id, type: 'PROPOSED', commit: { hash: sha } } },
  });
});

test('a pull request of a branch that was pushed before the stack was made is previewed by its event alone', async () => {
  const { api, github } = scenario;
  const repository = await scenario.addRepository('earlier', { 'README.md': 'hello\n' });
  const sha = await github.commit(repository, { branch: 'topic', message: 'One', files: yaml('1') });
  const { stack } = await scenario.addStackTo(repository, 'earlier');

  await github.openPullRequest(repository, { head: 'topic', author: 'bob' });
  const { id } = await api.waitForRun(stack, sha);
  await api.waitForState(id, 'FINISHED');

  expect(await api.run(id)).toMatchObject({
    ...{ pullRequest: { author: 'bob' }, triggeredBy: expect.stringMatching(/\+bob@users\.noreply/) },
  });
});

test('a second push, forced or not, ends the preview that is under way; closing ends the last', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('superseded', holding);
  const push = (value: string) => ({ branch: 'topic', message: value, files: yaml(value) });
  const first = await github.commitAndPush(repository, push('1'));
  const { number } = await github.openPullRequest(repository, { head: 'topic' });
  const one = await api.waitForRun(stack, first.sha);
  await api.waitForState(one.id, 'INITIALIZING');

  const second = await github.commitAndPush(repository, push('2'));
  const two = await api.waitForRun(stack, second.sha);
  await api.waitForState(two.id, 'INITIALIZING');
  const { branch, ...commit } = push('3');
  await github.forcePush(repository, { branch, onto: 'main', commits: [commit] });
  const three = await api.waitForRun(stack, await headOf('topic'));
  await api.waitForState(three.id, 'INITIALIZING');
  await github.closePullRequest(repository, number, 'ada');
  const closed = await api.waitForState(three.id, 'STOPPED');

  expect(await api.run(one.id)).toMatchObject({
    ...{ state: 'STOPPED', outcome: 'superseded', note: `superseded by run ${two.id}` },
  });
  expect(await api.run(two.id)).toMatchObject({ state: 'STOPPED', outcome: 'superseded' });
  expect(closed).toMatchObject({
    ...{ outcome: 'pull_request_closed', note: `pull request #${number} was closed` },
  });
  await scenario.waitForCheckRun(three.id, 'cancelled');
  await scenario.expectWebhooksToTell(three.id);
  await expect.poll(noteOfLatest, patience).toBe(`done: superseded: run ${three.id} is STOPPED`);

  async function headOf(name: string): Promise<string> {
    const pushes = github.deliveries.filter(({ event }) => event === 'push');
    const latest = pushes.findLast(({ payload }) => payload['ref'] === `refs/heads/${name}`);
    return String(latest?.payload['after']);
  }
});

test('a draft is previewed when it becomes ready, and again when it is reopened', async () => {
  const { api, github } = scenario;
  const repository = await scenario.addRepository('draft', { 'README.md': 'hello\n' });
  const sha = await github.commit(repository, { branch: 'topic', message: 'One', files: yaml('1') });
  const { stack } = await scenario.addStackTo(repository, 'draft', holding);

  const { number } = await github.openPullRequest(repository, { head: 'topic', draft: true });
  await expect.poll(noteOfLatest, patience).toBe('done: draft: a draft starts nothing');
  expect(await api.runsOf(stack)).toEqual([]);

  await github.readyForReview(repository, number);
  const first = await api.waitForRun(stack, sha);
  await github.closePullRequest(repository, number);
  const ended = await api.waitForState(first.id, ['CANCELED', 'STOPPED']);
  await github.reopenPullRequest(repository, number);
  await expect.poll(async () => (await api.runsOf(stack)).length, patience).toBe(2);

  expect(ended.outcome).toBe('pull_request_closed');
  const [again] = await api.runsOf(stack);
  await api.waitForState(again?.id ?? '', 'INITIALIZING');
  await api.act(again?.id ?? '', 'stop');
});

test('a fork starts nothing unless the stack allows it, and then it sees no secret', async () => {
  const { api, github } = scenario;
  const hooks = { beforeInit: ['env | sort', 'ls'] };
  const { stack, repository, push } = await scenario.addStack('forked', { hooks });
  await api.setVariable(stack, 'CLOUD_KEY', { value: 'a secret of the cloud' });
  // Not a secret any more: the preview of a fork has to do with what everybody may know.
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase, secret: false });
  const ours = await push(program(stash('one', '1')), { branch: 'ours' });
  github.addUser({ login: 'mallory', name: 'Mallory', email: 'mallory@example.com' });
  const fork = await github.addRepository({ owner: 'mallory', name: 'forked', forkOf: repository });
  const sha = await github.commit(fork, {
    ...{ branch: 'main', message: 'Evil', files: { ...yaml('1'), 'of-a-fork.txt': '' } },
  });
  const opening = { head: 'main', headRepository: fork, author: 'mallory' };

  const { number } = await github.openPullRequest(repository, opening);
  await expect.poll(noteOfLatest, patience).toBe('done: forked: pull requests of forks start nothing');
  await api.changeStack(stack, { allowForks: true });
  await github.closePullRequest(repository, number);
  await github.reopenPullRequest(repository, number, 'mallory');
  const { id } = await api.waitForRun(stack, sha);
  await api.waitForState(id, 'FINISHED');
  await api.waitForState(ours.id, 'FINISHED');

  expect(await api.run(id)).toMatchObject({
    ...{ untrusted: true, trust: 'untrusted', branch: 'mallory:main', pullRequest: { number, isFork: true } },
  });
  const log = await api.log(id);
  expect(log).toContain('of-a-fork.txt');
  expect(log).toContain(`PULUMI_CONFIG_PASSPHRASE=${passphrase}`);
  expect(log).not.toMatch(/CLOUD_KEY|secret of the cloud/);
  // What is trusted has it, hidden.
  expect(await api.log(ours.id)).toMatch(/^CLOUD_KEY=\*\*\*$/m);
  const check = await scenario.waitForCheckRun(id, 'success');
  expect(check).toMatchObject({ name: 'slipway/forked (preview)', headSha: sha });
  expect(check.output?.summary).toContain('without secrets');
});

test('what a bot brings is previewed without secrets until the stack trusts it', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('of-bots', { hooks: { beforeInit: ['env'] } });
  await api.setVariable(stack, 'CLOUD_KEY', { value: 'a secret of the cloud' });
  const bot = github.addBot('renovate[bot]').login;
  const push = (value: string) =>
    github.commitAndPush(repository, {
      branch: 'renovate/x',
      message: value,
      files: yaml(value),
      pusher: bot,
    });

  const first = await api.waitForRun(stack, (await push('1')).sha);
  // Without the passphrase the tool fails, and nothing worse happens.
  await api.waitForState(first.id, 'FAILED');
  await api.changeStack(stack, { trustedBots: ['renovate[bot]'] });
  const second = await api.waitForRun(stack, (await push('2')).sha);
  await api.waitForState(second.id, 'FINISHED');

  expect(await api.run(first.id)).toMatchObject({ untrusted: true });
  expect(await api.log(first.id)).not.toContain('CLOUD_KEY');
  expect(await api.run(second.id)).toMatchObject({ trust: 'branch' });
  expect(await api.run(second.id)).not.toHaveProperty('untrusted');
  expect(await api.log(second.id)).toContain('CLOUD_KEY=***');
});

test('a new branch concerns only the stacks that it changes, also beyond what GitHub lists', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('rooted-branch', {
    ...{ projectRoot: 'infra', hooks: { beforeInit: ['exit 1'] } },
  });
  const docs = Object.fromEntries(Array.from({ length: 350 }, (_, at) => [`docs/${at}.md`, `${at}`]));
  const push = (branch: string, files: Record<string, string>) =>
    github.commitAndPush(repository, { branch, message: 'More', files });

  const beside = await push('docs', docs);
  const within = await push('both', { ...docs, 'infra/Pulumi.yaml': program() });

  const { id } = await api.waitForRun(stack, within.sha);
  await api.waitForState(id, 'FAILED');
  // Deliveries of one repository are handled in order: the first had its turn.
  expect((await api.runsOf(stack)).map(({ commit }) => commit.hash)).toEqual([within.sha]);
  const { json } = await api.expectSuccess('GET', `/api/v1/inbox/${beside.deliveryId}`);
  expect(json).toMatchObject({ note: 'rooted-branch: no changed path belongs to the stack' });
});
