import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../demo/wait.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const policyJson = z.looseObject({ id: z.string() });
const noticesJson = z.looseObject({
  items: z.array(z.looseObject({ title: z.string(), severity: z.string(), run: z.string().optional() })),
});

async function addPolicy(kind: string, name: string, body: string, attachTo?: string): Promise<void> {
  const made = await scenario.api.expectSuccess('POST', '/api/v1/policies', {
    ...{ kind, name, account: 'acme', body },
  });
  const { id } = policyJson.parse(made.json);
  if (attachTo !== undefined) {
    await scenario.api.expectSuccess('PUT', `/api/v1/stacks/acme/${attachTo}/policies/${id}`);
  }
}

test('a run starts another one, and people and programs are told, as policies want', async () => {
  const { api, receiver } = scenario;
  const base = await scenario.addStack('base', { autodeploy: true });
  const top = await scenario.addStack('top', { autodeploy: true });
  await top
    .push(program(stash('top', '1')), { message: 'Begin' })
    .then(({ id }) => api.waitForState(id, 'FINISHED'));
  await addPolicy(
    'TRIGGER',
    'Chain',
    `package slipway

trigger contains "top" if input.run.state == "FINISHED"

trigger contains "nowhere" if input.run.state == "FINISHED"
`,
    'base',
  );
  await addPolicy(
    'NOTIFICATION',
    'Tell',
    `package slipway

over if input.run_updated.state == "FINISHED"

inbox contains {"title": sprintf("%s is done", [input.run_updated.stack.id])} if over

webhook contains {"endpoint_id": endpoint.id, "payload": {"run": input.run_updated.run.id, "told": "by a policy"}} if {
	over
	some endpoint in input.webhook_endpoints
}
`,
  );

  const first = await base.push(program(stash('base', '1')));
  await api.waitForState(first.id, 'FINISHED');
  const started = await waitFor(
    'the run that follows',
    async () => (await api.runsOf(top.stack)).find(({ triggeredBy }) => triggeredBy === 'policy Chain'),
    { timeoutMs: 20_000 },
  );
  await api.waitForState(started.id, 'FINISHED');

  expect((await api.request('GET', `/api/v1/runs/${started.id}`)).json).toMatchObject({
    cause: { run: first.id, policy: 'Chain' },
  });
  const notices = async () =>
    noticesJson
      .parse((await api.request('GET', '/api/v1/notices?account=acme')).json)
      .items.map(({ severity, title }) => `${severity} ${title}`)
      .toSorted();
  await expect
    .poll(notices, patience)
    .toEqual([
      'ERROR Not all that the policy Chain wants was started',
      'INFO base is done',
      'INFO top is done',
    ]);
  const ofPolicies = () =>
    receiver.received.filter(({ body }) => z.looseObject({ told: z.string() }).safeParse(body).success);
  await expect.poll(() => ofPolicies().map(({ body }) => body), patience).toHaveLength(2);
  expect(ofPolicies().map(({ verified256, body }) => [verified256, body])).toContainEqual([
    true,
    { run: first.id, told: 'by a policy' },
  ]);
  const check = await scenario.waitForCheckRun(started.id, 'success');
  await expect
    .poll(() => check.output?.summary, patience)
    .toContain('The policy `Chain` started this run after [run');
});
