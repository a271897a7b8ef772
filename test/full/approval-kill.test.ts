import { expect, test } from 'vitest';
import { patience, program, startScenario, stash } from '../support/scenario.ts';
import { approvalsOfOthers, scenarioPolicies } from '../support/scenario-policies.ts';

test('a server that is killed while runs wait for approval goes on with them', async () => {
  await using scenario = await startScenario();
  const { api, server } = scenario;
  const approve = (runId: string) => api.expectSuccess('POST', `/api/v1/runs/${runId}/approve`, {});
  const its = scenarioPolicies(api);
  await its.add('APPROVAL', 'killed', approvalsOfOthers(1, 'QUEUED', 'UNCONFIRMED'));
  const { push } = await scenario.addStack('killed', { labels: ['killed'] });
  const { id } = await push(program(stash('one', '1')));
  const outcomes = async () => (await its.ofRun(id)).map(({ outcome }) => outcome);
  await expect.poll(outcomes, patience).toEqual(['undecided']);
  await server.kill9();
  await server.start();
  expect(await api.run(id)).toMatchObject({ state: 'QUEUED', blockedBy: { kind: 'approval' } });
  // Killed between the answer and what follows from it.
  await approve(id);
  await server.kill9();
  await server.start();

  await api.waitForState(id, 'UNCONFIRMED');
  await expect.poll(async () => (await outcomes()).at(-1), patience).toBe('undecided');
  await server.kill9();
  await server.start();
  expect((await api.request('POST', `/api/v1/runs/${id}/confirm`, {})).status).toBe(409);
  await approve(id);
  await expect.poll(async () => (await outcomes()).at(-1), patience).toBe('approved');
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');
  await scenario.expectWebhooksToTell(id, { mayRepeat: true });
});
