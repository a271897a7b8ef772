import { describe, expect, it } from 'vitest';
import type { EvaluationFailure } from '../../src/policies/engine.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';
import { untilUnconfirmed } from './installation.ts';
import { aPlanPolicy, policiesPath, withPolicies } from './policy-world.ts';
import { savePlan } from './save-plan.ts';

const state = {
  custom: true,
  id: 'i',
  inputs: {},
  outputs: {},
  parent: '',
  provider: 'p',
  type: 't',
  urn: 'u',
};
const step = { op: 'create', provider: 'p', type: 't', urn: 'u', new: state, old: null };

/** A run of the stack with a plan, that the policy has judged. */
async function withPlan(engine: Parameters<typeof withPolicies>[0] = {}) {
  const fixture = await withPolicies(engine);
  const { installation, stack, admin } = fixture;
  const made = await admin('POST', policiesPath, { ...aPlanPolicy, labels: ['autoattach:*'] });
  const policy = await installation.policies.web.policies.find(made.body.id);
  if (!policy) throw new Error('the policy is gone');
  const run = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
  await savePlan(installation, run, { steps: [step] });
  const about = { accountId: 11, stackKey: stack.key, runId: run.id, subject: 'the plan' };
  const input = JSON.stringify({ pulumi: { steps: [] }, n: 1 });
  const { stores } = installation.policies;
  const judgement = aJudgement({
    policy,
    outcome: 'passed',
    messages: [],
    values: { deny: [] },
    sample: true,
  });
  const packed = await stores.decisions.packSample(Buffer.from(input));
  const sample = await installation.database.write((tx) =>
    stores.decisions.record(tx, judgement, about, packed),
  );
  return { ...fixture, policy, run, sample, input, path: `${policiesPath}/${policy.id}` };
}

const lastInput = (installation: Awaited<ReturnType<typeof withPlan>>['installation']) => {
  const last = installation.policies.evaluated.at(-1);
  return JSON.parse(Buffer.from(last?.input ?? '').toString()) as Record<string, unknown>;
};

describe('the workbench', () => {
  it('says what a policy says of an input, saved or edited, and records nothing', async () => {
    await using fixture = await withPlan();
    const { admin, path, installation } = fixture;
    const saved = await admin('POST', `${path}/simulate`, { input: { a: 1 } });
    expect(saved.body).toEqual({
      outcome: 'denied',
      messages: ['no'],
      result: { deny: ['no'] },
      durationMs: 3,
    });
    expect(lastInput(installation)).toEqual({ a: 1 });
    const body = 'warn: ["careful"]\nsample: true\nflag: ["x"]';
    const edited = await admin('POST', `${path}/simulate`, { input: {}, body, regoVersion: 0 });
    expect(edited.body).toMatchObject({ outcome: 'warned', messages: ['careful'] });
    expect(installation.policies.evaluated.at(-1)?.source).toEqual({ body, regoVersion: 0 });

    expect((await admin('GET', `${path}/decisions`)).body.items).toHaveLength(1);
    expect((await admin('GET', `${path}/samples`)).body.items).toHaveLength(1);
    expect((await admin('GET', path)).body).toMatchObject({ version: 1 });
  });

  it('takes a kept input, or the plan of a run', async () => {
    await using fixture = await withPlan();
    const { admin, path, installation, sample, run, input } = fixture;
    const ofSample = await admin('POST', `${path}/simulate`, { sample: sample.id });
    expect(ofSample.status).toBe(200);
    expect(lastInput(installation)).toEqual(JSON.parse(input));
    const ofRun = await admin('POST', `${path}/simulate`, { run: run.id });
    expect(ofRun.status).toBe(200);
    expect(lastInput(installation)).toMatchObject({
      pulumi: { steps: [step] },
      slipway: { run: { id: run.id, state: 'PLANNING' } },
    });
  });

  it.each([
    ['nothing to judge', {}],
    ['two inputs', { input: {}, sample: 'x' }],
    ['an input that is no object', { input: [] }],
  ])('refuses %s', async (_what, body) => {
    await using fixture = await withPlan();
    const answer = await fixture.admin('POST', `${fixture.path}/simulate`, body);
    expect(answer.body).toMatchObject({ status: 422, code: 'invalid-input' });
  });

  it('knows no input of another account or kind, nor a run without a plan', async () => {
    await using fixture = await withPlan();
    const { admin, instance, path, sample, run, installation, stack } = fixture;
    const foreign = await installation.addStack('Other', 'globex/infra');
    const foreignRun = await installation.addRun(foreign);
    const bare = await installation.addRun(stack, 'PROPOSED');
    const push = { name: 'push', kind: 'PUSH', account: 'acme', body: 'track: true' };
    const pushPath = `${policiesPath}/${(await admin('POST', policiesPath, push)).body.id}`;
    const globex = { ...aPlanPolicy, account: 'globex' };
    const globexPath = `${policiesPath}/${(await instance('POST', policiesPath, globex)).body.id}`;

    const simulated = async (who: typeof admin, at: string, body: object) => {
      const answer = await who('POST', `${at}/simulate`, body);
      return answer.status;
    };
    expect(await simulated(admin, path, { sample: 'nothing' })).toBe(404);
    expect(await simulated(admin, pushPath, { sample: sample.id })).toBe(404);
    expect(await simulated(instance, globexPath, { sample: sample.id })).toBe(404);
    expect(await simulated(instance, globexPath, { run: run.id })).toBe(404);
    expect(await simulated(instance, path, { run: foreignRun.id })).toBe(404);
    expect(await simulated(admin, path, { run: 'nothing' })).toBe(404);
    expect(await simulated(admin, path, { run: bare.id })).toBe(422);
    expect(await simulated(admin, pushPath, { run: run.id })).toBe(422);
    expect((await admin('POST', `${pushPath}/simulate-runs`, {})).status).toBe(422);
  });

  it.each(['builtin', 'conflict', 'timeout', 'memory', 'output', 'unavailable', 'engine'] as const)(
    'shows the failure %s',
    async (code: EvaluationFailure['code']) => {
      const failure = { code, message: 'it went wrong', line: 4, column: 2 };
      await using fixture = await withPlan({
        evaluate: async () => ({ kind: 'failed', failure, durationMs: 9 }),
      });
      const answer = await fixture.admin('POST', `${fixture.path}/simulate`, { input: {} });
      expect(answer.body).toEqual({ outcome: 'failed', messages: [], result: {}, failure, durationMs: 9 });
    },
  );

  it.each([
    ['wrong_type', { deny: true }],
    ['undefined', {}],
  ])('shows the failure %s', async (code, values) => {
    await using fixture = await withPlan({
      evaluate: async () => ({ kind: 'evaluated', values, durationMs: 9 }),
    });
    const answer = await fixture.admin('POST', `${fixture.path}/simulate`, { input: {} });
    expect(answer.body).toMatchObject({ outcome: 'failed', result: {}, failure: { code } });
  });

  it('says what would have happened to the newest plans', async () => {
    await using fixture = await withPlan();
    const { admin, path, installation, run, stack } = fixture;
    await installation.move(run, { kind: 'discard' });
    const second = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
    await savePlan(installation, second, { steps: [] });
    await installation.addRun(stack, 'PROPOSED');

    const answer = await admin('POST', `${path}/simulate-runs`, { last: 2, body: 'warn: ["look"]' });
    const judged = { outcome: 'warned', messages: ['look'], stack: { account: 'acme', id: 'network-prod' } };
    expect(answer.body.items).toMatchObject([
      { ...judged, run: second.id, recorded: null },
      { ...judged, run: run.id, recorded: 'passed' },
    ]);
    expect((await admin('POST', `${path}/simulate-runs`, { last: 1 })).body.items).toHaveLength(1);
    for (const last of [0, 51, 1.5]) {
      expect((await admin('POST', `${path}/simulate-runs`, { last })).status).toBe(422);
    }
    await admin('PUT', path, { labels: [] });
    expect((await admin('POST', `${path}/simulate-runs`, {})).body).toEqual({ items: [] });
  });

  it('is for those who manage policies', async () => {
    await using fixture = await withPlan();
    const { path, sample, installation, person } = fixture;
    installation.roles.set('ann', 'admin');
    for (const [method, url, body] of [
      ['POST', `${path}/simulate`, { input: {} }],
      ['POST', `${path}/simulate-runs`, {}],
      ['GET', `${path}/samples`, undefined],
      ['GET', `${path}/decisions`, undefined],
      ['GET', `/api/v1/samples/${sample.id}`, undefined],
    ] as const) {
      expect([url, (await fixture.reader(method, url, body)).status]).toEqual([url, 403]);
      expect([url, (await person('ann', method, url, body)).status]).toEqual([url, 403]);
      expect([url, (await person('eve', method, url, body)).status]).toEqual([url, 404]);
    }
  });
});

describe('what policies said', () => {
  it('is shown on the run to its readers, without the input', async () => {
    await using fixture = await withPlan();
    const { reader, run, policy } = fixture;
    const { items } = (await reader('GET', `/api/v1/runs/${run.id}/policies`)).body;
    expect(items).toEqual([
      {
        ...{ id: expect.any(String), at: expect.any(Number), subject: 'the plan', run: run.id },
        policy: { id: policy.id, name: policy.name, version: 1, digest: policy.digest, kind: 'PLAN' },
        stack: { account: 'acme', id: 'network-prod' },
        ...{ outcome: 'passed', messages: [], result: { deny: [] }, durationMs: 12 },
        ...{ inputDigest: 'd1'.repeat(32), engine: 'opa 1.22.0' },
      },
    ]);
  });

  it('stays when the policy is gone', async () => {
    await using fixture = await withPlan();
    const { admin, reader, run, path, sample } = fixture;
    await admin('DELETE', path);
    const { items } = (await reader('GET', `/api/v1/runs/${run.id}/policies`)).body;
    expect(items).toMatchObject([{ policy: { name: aPlanPolicy.name } }]);
    expect((await admin('GET', `/api/v1/samples/${sample.id}`)).status).toBe(404);
  });

  it('is listed with a failure, page by page', async () => {
    await using fixture = await withPlan();
    const { admin, path, installation, policy } = fixture;
    const failure = { code: 'conflict', message: 'two values', line: 3 } as const;
    const about = { accountId: 11, stackKey: null, runId: null, subject: 'another' };
    const { decisions } = installation.policies.stores;
    const failed = aJudgement({ policy: aPolicy({ ...policy }), outcome: 'failed', failure, values: {} });
    await installation.database.write((tx) => decisions.record(tx, failed, about, null));
    const first = (await admin('GET', `${path}/decisions?limit=1`)).body;
    expect(first.items).toMatchObject([{ subject: 'another', failure }]);
    expect(first.items[0]).not.toHaveProperty('run');
    const second = (await admin('GET', `${path}/decisions?limit=1&cursor=${first.nextCursor}`)).body;
    expect([second.items[0].subject, second.nextCursor]).toEqual(['the plan', null]);
  });

  it('is kept with its input where the policy asked for it', async () => {
    await using fixture = await withPlan();
    const { admin, sample, input, policy } = fixture;
    const shown = (await admin('GET', `/api/v1/samples/${sample.id}`)).body;
    expect(shown).toMatchObject({ policy: policy.id, outcome: 'passed', input: JSON.parse(input) });
    const { input: _, ...without } = shown;
    expect((await admin('GET', `${policiesPath}/${policy.id}/samples`)).body.items).toEqual([without]);
  });
});
