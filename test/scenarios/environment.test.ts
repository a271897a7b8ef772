import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInDirectory, formsOf } from '../../demo/secret-search.ts';
import { passphrase, patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** Lengths, because the value itself would be hidden. */
const show = (where: string) =>
  `echo "${where}: everywhere $\{#FOR_ALL}, tracked $\{#FOR_TRACKED}, apply $\{#FOR_APPLY}, plain $PLAIN"`;

async function addStackWithVariables(name: string) {
  const added = await scenario.addStack(name, {
    hooks: { beforePlan: [show('planning')], beforeApply: [show('applying')] },
  });
  const { api } = scenario;
  await api.setVariable(added.stack, 'FOR_ALL', { value: 'a'.repeat(11) });
  await api.setVariable(added.stack, 'FOR_TRACKED', { value: 'b'.repeat(12), access: 'tracked' });
  await api.setVariable(added.stack, 'FOR_APPLY', { value: 'c'.repeat(13), access: 'apply' });
  await api.setVariable(added.stack, 'PLAIN', { value: 'visible', secret: false });
  return added;
}

test('a variable for applying is not there while planning, and a preview sees what is for all only', async () => {
  const { api } = scenario;
  const { push } = await addStackWithVariables('halves');
  const tracked = await push(program(stash('one', '1')));
  await api.waitForState(tracked.id, 'UNCONFIRMED');
  await api.act(tracked.id, 'confirm');
  await api.waitForState(tracked.id, 'FINISHED');
  expect(await api.log(tracked.id, 'planning')).toContain(
    'planning: everywhere 11, tracked 12, apply 0, plain visible',
  );
  expect(await api.log(tracked.id, 'applying')).toContain(
    'applying: everywhere 11, tracked 12, apply 13, plain visible',
  );

  const preview = await push(program(stash('one', '2')), { branch: 'feature' });
  expect(preview.type).toBe('PROPOSED');
  await api.waitForState(preview.id, 'FINISHED');
  expect(await api.log(preview.id, 'planning')).toContain(
    'planning: everywhere 11, tracked 0, apply 0, plain visible',
  );
});

test('a secret is in no log, check, webhook or answer, and on the disk only encrypted', async () => {
  const { api, github, receiver, server, dataDir } = scenario;
  const secret = 'S3cr3t/with+signs and ümlauts';
  const hooks = {
    beforePlan: ['echo "said: $API_KEY"', 'printf %s "$API_KEY" | cut -c1-9; printf %s "$API_KEY"'],
    afterPlan: ['echo "$API_KEY" >&2; echo "$API_KEY" > left-behind; exit 1'],
  };
  const { stack, push } = await scenario.addStack('secretive', { hooks });
  await api.setVariable(stack, 'API_KEY', { value: secret });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'FAILED');
  await scenario.waitForCheckRun(id, 'failure');
  await scenario.expectWebhooksToTell(id);
  // The workspace goes with the run; until then the repository's own files are there.
  await expect.poll(async () => (await findInDirectory(dataDir, ['ümlauts'])).length, patience).toBe(0);

  const log = await api.log(id);
  expect(log).toContain('said: ***');
  const answers = await Promise.all(
    ['', '/states', '/commands', '/changes'].map((part) => api.request('GET', `/api/v1/runs/${id}${part}`)),
  );
  const environment = await api.request('GET', `${api.stackPath(stack)}/environment`);
  expect(environment.json).toMatchObject({
    items: [
      { name: 'API_KEY', secret: true, access: 'all' },
      { name: 'PULUMI_CONFIG_PASSPHRASE', secret: true, access: 'all' },
    ],
  });
  const seen = JSON.stringify([
    log,
    [...answers, environment].map(({ text }) => text),
    github.checkRuns.filter(({ externalId }) => externalId === id).map(({ history }) => history),
    github.requests.map(({ body }) => body),
    receiver.of(id),
    await server.log(),
  ]);
  for (const value of [secret, passphrase, receiver.secret, scenario.token]) {
    expect(formsOf(value).filter((form) => seen.includes(form))).toEqual([]);
    expect(await findInDirectory(dataDir, formsOf(value))).toEqual([]);
  }
});
