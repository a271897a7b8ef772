import { copyFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createSlipwayApi } from '../../demo/slipway-api.ts';
import { pathOfTool } from '../support/real-opa.ts';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { scenarioPolicies } from '../support/scenario-policies.ts';
import { tempDirectory } from '../support/temp-database.ts';

let scenario: Scenario;
let policies: ReturnType<typeof scenarioPolicies>;
beforeAll(async () => {
  scenario = await startScenario();
  policies = scenarioPolicies(scenario.api);
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const up = 'pulumi up --refresh --diff --show-replacement-steps';
const urn = (name: string) => `urn:pulumi:dev::scenario::pulumi:index:Stash::${name}`;

const denyDeletesWarnOfUpdates = `
deny contains sprintf("%s would be deleted", [step.urn]) if {
	some step in input.pulumi.steps
	step.op == "delete"
}

warn contains sprintf("%s would change", [step.urn]) if {
	some step in input.pulumi.steps
	step.op == "update"
}`;

/** A stack that is judged by the policies with its label. */
const addJudged = (name: string, settings: Record<string, unknown> = {}) =>
  scenario.addStack(name, { labels: [name], ...settings });

const denied = async (runId: string) => {
  const run = await scenario.api.waitForState(runId, 'FAILED');
  expect(run).toMatchObject({ outcome: 'policy_denied' });
  expect((await scenario.passedStates(runId)).slice(-2)).toEqual(['PLANNING', 'FAILED']);
  expect(await scenario.commandLines(runId)).not.toContain(up);
  return run;
};

/** Who tried it, the newest first. */
async function auditOf(runId: string, verb: string) {
  const { json } = await scenario.api.expectSuccess('GET', '/api/v1/audit?limit=50');
  const { items } = auditSchema.parse(json);
  return items
    .filter(({ operation, run }) => operation === `POST /api/v1/runs/{run}/${verb}` && run === runId)
    .map(({ actor, outcome, status }) => ({ actor: actor.name, outcome, status }));
}

const auditSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      operation: z.string(),
      run: z.string().optional(),
      actor: z.looseObject({ name: z.string() }),
      outcome: z.string(),
      status: z.number().nullable(),
    }),
  ),
});

test('what a policy denies is not applied, what it warns of waits for a person, and an override lets just that pass', async () => {
  const { api } = scenario;
  const policy = await policies.add('PLAN', 'guarded', denyDeletesWarnOfUpdates);
  const { push } = await addJudged('guarded', { autodeploy: true });
  const override = (runId: string, body: object, by = api) =>
    by.request('POST', `/api/v1/runs/${runId}/override`, body);

  const created = await push(program(stash('one', '1'), stash('two', '2')));
  expect(await api.waitForState(created.id, 'FINISHED')).toMatchObject({ delta: { added: 3 } });
  expect(await policies.ofRun(created.id)).toMatchObject([{ outcome: 'passed', messages: [] }]);
  expect(await override(created.id, { reason: 'for fun' })).toMatchObject({
    status: 409,
    json: { code: 'not-denied' },
  });

  const updated = await push(program(stash('one', 'changed'), stash('two', '2')));
  const warned = await api.waitForState(updated.id, 'UNCONFIRMED');
  expect(warned.note).toBe(`guarded: ${urn('one')} would change`);
  await scenario.waitForCheckRun(updated.id, 'action_required');
  await api.act(updated.id, 'confirm');
  await api.waitForState(updated.id, 'FINISHED');

  const removed = await push(program(stash('one', 'changed')));
  const failure = await denied(removed.id);
  expect(failure.note).toBe(`guarded: ${urn('two')} would be deleted`);
  const check = await scenario.waitForCheckRun(removed.id, 'failure');
  expect(check.output?.summary).toContain(`${urn('two')} would be deleted`);
  expect(check.output?.summary).toContain('guarded');
  await scenario.expectWebhooksToTell(removed.id);
  expect(await api.log(removed.id, 'planning')).toContain('policy guarded, version 1: denied');
  const [decision, ...others] = await policies.ofRun(removed.id);
  expect(others).toEqual([]);
  expect(decision).toMatchObject({
    policy: { id: policy.id, name: 'guarded', version: 1, digest: policy.digest, kind: 'PLAN' },
    subject: 'the plan',
    stack: { account: 'acme', id: 'guarded' },
    outcome: 'denied',
    messages: [`${urn('two')} would be deleted`],
    durationMs: expect.any(Number),
    inputDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    engine: expect.stringMatching(/^opa \d/),
  });
  expect(decision?.durationMs).toBeGreaterThan(0);

  expect((await override(removed.id, {})).status).toBe(422);
  const reason = 'two has moved to another stack';
  const writer = createSlipwayApi(scenario.server.url, await scenario.createToken('writer', 'writer'));
  expect((await override(removed.id, { reason }, writer)).status).toBe(403);
  expect(await override(removed.id, { reason })).toMatchObject({
    status: 200,
    json: { run: removed.id, by: 'demo', reason },
  });
  expect(await auditOf(removed.id, 'override')).toEqual([
    { actor: 'demo', outcome: 'done', status: 200 },
    { actor: 'writer', outcome: 'refused', status: 403 },
    { actor: 'demo', outcome: 'refused', status: 422 },
  ]);
  const retried = await api.act(removed.id, 'retry');
  const passing = await api.waitForState(retried.id, 'UNCONFIRMED');
  expect(passing.note).toBe(
    `demo lets these changes pass although they are denied: ${reason}\nguarded: ${urn('two')} would be deleted`,
  );
  expect(passing['changesDigest']).toBe((await api.run(removed.id))['changesDigest']);
  await api.act(retried.id, 'confirm');
  const applied = await api.waitForState(retried.id, 'FINISHED');
  expect(applied.delta).toEqual({ added: 0, changed: 0, deleted: 1, resources: 2 });

  const grown = await push(program(stash('one', 'changed'), stash('two', '2'), stash('three', '3')));
  await api.waitForState(grown.id, 'FINISHED');
  const more = await api.act(removed.id, 'retry');
  expect((await denied(more.id)).note).toContain(`${urn('three')} would be deleted`);
  expect(await policies.ofRun(more.id)).toMatchObject([{ outcome: 'denied' }]);
});

test('a policy judges what a scanner left behind in a hook', async () => {
  const { api } = scenario;
  await policies.add(
    'PLAN',
    'scanned',
    `deny contains sprintf("%d findings", [high]) if {
	high := input.third_party_metadata.custom.scanner.high
	high > 0
}

deny contains sprintf("%s: %s", [name, finding]) if some name, {"findings": [finding]} in input.third_party_metadata.custom`,
  );
  const { stack, push } = await addJudged('scanned', { autodeploy: true });
  const write = (name: string, json: string) => `echo '${json}' > ${name}.custom.slipway.json`;
  const scan = (beforePlan: string, afterPlan: string) =>
    api.changeStack(stack, { hooks: { beforePlan: [beforePlan], afterPlan: [afterPlan] } });

  await scan(write('scanner', '{"high": 0}'), write('linter', '{"findings": []}'));
  const clean = await push(program(stash('one', '1')));
  await api.waitForState(clean.id, 'FINISHED');

  await scan(write('scanner', '{"high": 2}'), write('linter', '{"findings": ["no owner"]}'));
  const found = await push(program(stash('one', '2')));
  expect((await denied(found.id)).note).toBe('scanned: 2 findings\nscanned: linter: no owner');

  await scan('true', 'echo "{" > scanner.custom.slipway.json');
  const broken = await push(program(stash('one', '3')));
  expect(await api.waitForState(broken.id, 'FAILED')).toMatchObject({
    outcome: 'plan_unreadable',
    note: expect.stringContaining('scanner.custom.slipway.json is not JSON'),
  });
  expect(await scenario.commandLines(broken.id)).not.toContain(up);
  expect(await policies.ofRun(broken.id)).toEqual([]);
});

test('what cannot be judged is not applied, and cannot be overridden', async () => {
  const { api } = scenario;
  const stepsJoined = `
deny contains sprintf("%d", [n]) if {
	some n in numbers.range(1, 40000000)
	n < 0
}`;
  const policy = await policies.add('PLAN', 'unclear', 'deny contains "never" if false');
  const { push } = await addJudged('unclear', { autodeploy: true });
  const failures = [
    [
      'conflict',
      `price := 1 if count(input.pulumi.steps) > 0

price := 2 if count(input.pulumi.steps) > 1

deny contains "too dear" if price > 3`,
      'price',
    ],
    ['builtin', 'deny contains "bad" if to_number("none") > 1', 'to_number'],
    ['memory', stepsJoined, 'memory'],
  ] as const;
  for (const [code, rego, words] of failures) {
    const { version } = await policies.change(policy, rego);
    const { id } = await push(program(stash('one', code)));
    const run = await api.waitForState(id, 'FAILED');
    expect(run).toMatchObject({ outcome: 'policy_failed' });
    expect(run.note).toMatch(/^unclear could not be evaluated: /);
    expect(await policies.ofRun(id)).toMatchObject([
      { outcome: 'failed', policy: { version }, failure: { code } },
    ]);
    expect(run.note).toContain(words);
    expect(await scenario.commandLines(id)).not.toContain(up);
    expect(await api.request('POST', `/api/v1/runs/${id}/override`, { reason: 'anyway' })).toMatchObject({
      status: 409,
      json: { code: 'not-denied' },
    });
    const check = await scenario.waitForCheckRun(id, 'failure');
    expect(check.output?.summary).toContain('could not be evaluated');
  }
});

test('without opa nothing is applied that a policy should have judged, and doctor says what is missing', async () => {
  using folder = tempDirectory();
  const opa = join(folder.path, 'opa');
  copyFileSync(pathOfTool('opa'), opa);
  // Neither a setting nor the cache names another one.
  const settings = {
    OPA_PATH: '',
    PATH: [folder.path, process.env['PATH']].join(delimiter),
    XDG_CACHE_HOME: folder.path,
    PULUMI_PATH: pathOfTool('pulumi'),
  };
  await using fresh = await startScenario({ settings });
  const { api } = fresh;
  const its = scenarioPolicies(api);
  await its.add('PLAN', 'lost', 'deny contains "never" if false');
  const { push } = await fresh.addStack('lost', { autodeploy: true, labels: ['lost'] });
  const unjudged = await fresh.addStack('free', { autodeploy: true });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');

  rmSync(opa);
  const { id } = await push(program(stash('one', '2')));
  const run = await api.waitForState(id, 'FAILED');
  expect(run).toMatchObject({ outcome: 'policy_failed' });
  expect(run.note).toContain('lost could not be evaluated: opa cannot be used');
  expect(await fresh.commandLines(id)).not.toContain(up);
  expect(await its.ofRun(id)).toMatchObject([{ outcome: 'failed', failure: { code: 'unavailable' } }]);
  await api.waitForState((await unjudged.push(program(stash('one', '1')))).id, 'FINISHED');

  const doctor = await fresh.slipway('doctor');
  expect(doctor.stdout).toMatch(
    /^WARN {2}policies .*opa was not found.*\n.*Runs of stacks with policies are blocked/m,
  );
  await fresh.server.restart();
  const again = await api.act(id, 'retry');
  const { note } = await api.waitForState(again.id, 'FAILED');
  expect(note).toContain('lost could not be evaluated: policy engine not installed: opa was not found');
});
