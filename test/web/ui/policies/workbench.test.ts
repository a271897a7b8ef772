import { expect, test } from 'vitest';
import { aStep } from '../../../policies/inputs.ts';
import { untilUnconfirmed } from '../../installation.ts';
import { savePlan } from '../../save-plan.ts';
import { formFields } from '../settings/settings-world.ts';
import { denying, hostile, openPolicies, plain } from './policies-world.ts';

type World = Awaited<ReturnType<typeof openPolicies>>;

async function opened(change: Record<string, unknown> = {}, who: Parameters<typeof openPolicies>[1] = {}) {
  const all = await openPolicies('admin', who);
  const policy = await all.addPolicy({ labels: ['autoattach:*'], ...change });
  const path = `/policies/${policy.id}/workbench`;
  const press = (act: string, fields: Record<string, string> = {}) =>
    all.submit(path, { act, from: 'input', input: '{"a": 1}', body: denying, regoVersion: '1', ...fields });
  const stored = () => all.installation.policies.web.policies.find(policy.id);
  return {
    ...{ ...all, policy, path, press, stored },
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

async function addPlannedRun({ installation, stack }: World) {
  const run = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
  await savePlan(installation, run, { steps: [aStep('create')] });
  return run;
}

test('the workbench begins with the newest input that was kept', async () => {
  await using all = await opened();
  await all.addDecision(all.policy.id, { sample: true, outcome: 'passed' }, { subject: `first ${hostile}` });
  const { id } = await all.addDecision(all.policy.id, { sample: true, outcome: 'denied' });

  const { text } = await all.visit(all.path);

  expect(formFields(text, all.path)).toMatchObject({ from: [`sample:${id}`], body: [denying], last: ['10'] });
  expect(plain(text)).toMatch(/first .* of acme\/network-prod.*passed by version 1/);
  expect(text).toContain(`href="/api/v1/samples/${id}"`);
  expect(text).not.toContain('<script>alert');
});

test('without any it says how one is kept', async () => {
  await using all = await opened();

  const { text } = await all.visit(all.path);

  expect(plain(text)).toContain('sample := true');
  expect(formFields(text, all.path)).toMatchObject({ from: ['input'] });
});

test('an edited source is tried out on a kept input, and nothing is recorded', async () => {
  await using all = await opened();
  const { id } = await all.addDecision(all.policy.id, { sample: true });
  const body = `deny: ["edited ${hostile.replaceAll('"', '')}"]`;

  const { answer, text } = await all.press('simulate', { from: `sample:${id}`, body });

  expect(answer.status).toBe(200);
  expect(plain(text)).toContain('It says denied');
  expect(plain(text)).toContain('edited');
  expect(text).toContain('\\u{202e}');
  expect(text).not.toContain('<script>alert');
  expect(formFields(text, all.path)).toMatchObject({ from: [`sample:${id}`], body: [body] });
  expect(all.installation.policies.evaluated.at(-1)?.input.toString()).toContain('"a":1');
  expect((await all.stored())?.version).toBe(1);
});

test('input that is typed is judged; what is no JSON is refused beside it', async () => {
  await using all = await opened();

  const judged = await all.press('simulate', { body: 'deny: []' });
  const refused = await all.press('simulate', { input: `{"a": ${hostile}` });

  expect(plain(judged.text)).toContain('It says passed');
  expect(refused.answer.status).toBe(422);
  expect(refused.text).toContain('id="input-wrong"');
  expect(formFields(refused.text, all.path)).toMatchObject({ input: [`{"a": ${hostile}`] });
});

test('a failure is shown with its line', async () => {
  const failure = { code: 'conflict', message: 'two values', line: 2, column: 1 } as const;
  const evaluate = async () => ({ kind: 'failed', failure, durationMs: 4 }) as const;
  await using all = await opened({}, { engine: { evaluate } });

  const { text } = await all.press('simulate');

  expect(plain(text)).toContain('It says could not be judged');
  expect(plain(text)).toContain('line 2, column 1: two values');
  expect(text).toMatch(/2 │ <mark>deny: /);
});

test('what does not compile is shown with its line, and nothing is lost', async () => {
  await using all = await opened();
  for (const act of ['simulate', 'check', 'runs', 'save']) {
    const { answer, text } = await all.press(act, { body: 'deny: []\n!unsafe', last: '3' });

    expect([act, answer.status]).toEqual([act, 422]);
    expect(plain(text)).toContain('line 2, column 1: unsafe');
    expect(formFields(text, all.path)).toMatchObject({ body: ['deny: []\n!unsafe'], last: ['3'] });
  }
  expect((await all.stored())?.version).toBe(1);
});

test('it says what would have happened in the last runs', async () => {
  await using all = await opened();
  const run = await addPlannedRun(all);
  await all.addDecision(all.policy.id, { outcome: 'passed', messages: [] }, { runId: run.id });

  const { text } = await all.press('runs', { last: '5' });
  const same = await all.press('runs', { last: '5', body: 'deny: []' });
  const tooMany = await all.press('runs', { last: '500' });

  expect(plain(text)).toContain('What would have happened: 1 of 1 decisions different');
  expect(text).toContain(`href="/runs/${run.id}"`);
  expect(plain(text)).toMatch(/ passed denied changed /);
  expect(plain(same.text)).toContain('What would have happened: the same decisions');
  expect(tooMany.answer.status).toBe(422);
  expect(tooMany.text).toContain('id="last-wrong"');
});

test('the plan of a run can be judged', async () => {
  await using all = await opened();
  const run = await addPlannedRun(all);
  const link = await all.visit(`${all.path}?run=${run.id}`);
  expect(formFields(link.text, all.path)).toMatchObject({ from: ['run'], run: [run.id] });

  const judged = await all.press('simulate', { from: 'run', run: ` ${run.id} ` });
  const none = await all.press('simulate', {
    from: 'run',
    run: (await all.installation.addRun(all.stack)).id,
  });

  expect(plain(judged.text)).toContain('It says denied');
  expect(none.answer.status).toBe(422);
  expect(none.text).toContain('id="run-wrong"');
});

test('only policies of plans are tried out on runs', async () => {
  await using all = await opened({ kind: 'PUSH', body: 'track: true', labels: [] });

  const { text } = await all.visit(all.path);

  expect(text).not.toContain('name="last"');
  expect(text).not.toContain('name="run"');
});

test('an edited source is saved from here, unless somebody was faster', async () => {
  await using all = await opened();
  const etag = formFields((await all.visit(all.path)).text, all.path)['etag']?.[0] ?? '';

  const saved = await all.press('save', { body: 'deny: ["more"]', etag });
  const outrun = await all.press('save', { body: 'deny: ["mine"]', etag });

  expect([saved.answer.status, saved.location]).toEqual([303, `/policies/${all.policy.id}`]);
  expect(await all.stored()).toMatchObject({ version: 2, body: 'deny: ["more"]', labels: ['autoattach:*'] });
  expect(outrun.answer.status).toBe(412);
  expect(formFields(outrun.text, all.path)).toMatchObject({ body: ['deny: ["mine"]'] });
});
