import { describe, expect, it } from 'vitest';
import { createKnownSecrets } from '../../src/worker/known-secrets.ts';
import { hiddenSteps, withoutSecrets } from '../../src/worker/redaction.ts';
import type { Assignment, PlanReport, ServerApi } from '../../src/worker/server-api.ts';
import { fc } from '../support/fast-check.ts';

function knowing(...values: string[]) {
  const secrets = createKnownSecrets({ variables: [] });
  secrets.learn(values);
  return secrets;
}

/** Of people: secret variables of the stack. */
const given = (...values: string[]) =>
  createKnownSecrets({ variables: values.map((value) => ({ name: 'A', value, secret: true }) as never) });

/** What the server is told of a plan. */
async function told(secrets: ReturnType<typeof knowing>, change: Partial<PlanReport>): Promise<PlanReport> {
  const reports: PlanReport[] = [];
  const server = {
    planned: async (_: Assignment, plan: PlanReport) => {
      reports.push(plan);
      return { next: 'wait' };
    },
  } as Partial<ServerApi> as ServerApi;
  const plan = {
    ...{ hasChanges: true, delta: { added: 0, changed: 0, deleted: 0, resources: 0 }, steps: [] },
    ...{ file: null, autodeploy: false },
  };
  await withoutSecrets(server, secrets).planned(
    {} as Assignment,
    { ...plan, ...change },
    new AbortController().signal,
  );
  return reports[0] as PlanReport;
}

describe('text that is stored beside the output', () => {
  it('holds no secret, as it is or inside JSON', () => {
    const secrets = knowing('corr"ect\nhorse');

    expect(secrets.hide(`echo 'corr"ect\nhorse'`)).toBe("echo '***'");
    expect(secrets.hide(String.raw`{"a": "corr\"ect\nhorse"}`)).toBe('{"a": "***"}');
    expect(knowing().hide('nothing to hide')).toBe('nothing to hide');
  });

  it('hides what is learned later, and nothing shorter than 4 characters', () => {
    const secrets = createKnownSecrets({
      variables: [{ name: 'A', value: 'of people', secret: true } as never],
      toolSecrets: ['of the tool'],
    });
    const text = 'of people, of the tool, learned, no';
    expect(secrets.hide(text)).toBe('***, ***, learned, no');

    secrets.learn(['learned', 'no', 'of the tool']);

    expect(secrets.hide(text)).toBe('***, ***, ***, no');
    expect(secrets.ofTool()).toEqual(['of the tool', 'learned']);
  });

  it('looks for large values as they are, and for the others in base64, too', () => {
    const secrets = knowing('x'.repeat(200_000), 'hunter2-hunter2');

    expect(secrets.hide(Buffer.from('hunter2-hunter2').toString('base64'))).toBe('***');
    expect(secrets.hide(`<${'x'.repeat(200_000)}>`)).toBe('<***>');
  });
});

describe('a plan', () => {
  it('is told without secrets, in texts, keys and numbers', async () => {
    const secrets = given('hunter2', '1234');
    const inputs = { hunter2: ['my hunter2'], port: 12345, size: 3, on: true, none: null };
    const { steps, marks, custom, document } = await told(secrets, {
      steps: [{ op: 'create', urn: 'urn:hunter2', new: { inputs } }],
      marks: [{ urn: 'urn:hunter2', replacedFor: ['hunter2'], isProtected: false }],
      custom: { scanner: { found: 'hunter2' } },
      document: { name: 'tool', content: { a: [{ b: 'hunter2' }] }, words: ['a'] },
    });

    const hidden = { '***': ['my ***'], port: '***5', size: 3, on: true, none: null };
    expect(steps).toEqual([{ op: 'create', urn: 'urn:***', new: { inputs: hidden } }]);
    expect(marks).toEqual([{ urn: 'urn:***', replacedFor: ['***'], isProtected: false }]);
    expect(custom).toEqual({ scanner: { found: '***' } });
    expect(document).toEqual({ name: 'tool', content: { a: [{ b: '***' }] } });
  });

  it('keeps the words that policies go by, whatever somebody has for a password', async () => {
    const secrets = given('delete', 'inputs', 'actions', 'resource_changes', 'test_thing');
    const step = { op: 'delete', urn: 'u', old: { inputs: { a: 'to delete' } } };
    const content = { resource_changes: [{ type: 'test_thing', change: { actions: ['delete'] } }] };
    const words = ['resource_changes', 'actions', 'delete', 'test_thing'];
    const plan = await told(secrets, {
      steps: [step],
      document: { name: 'tool', content: { ...content, note: 'no actions' }, words },
    });

    expect(plan.steps).toEqual([{ ...step, old: { inputs: { a: 'to ***' } } }]);
    expect(plan.document?.content).toEqual({ ...content, note: 'no ***' });
  });

  it('keeps the names that a vendor has left in it, and its masks', async () => {
    const secrets = given('secret');
    secrets.learn(['admin']);
    const content = { address: 'user.admin', password: '[secret]' };
    const plan = await told(secrets, {
      steps: [{ urn: 'user.admin', new: { inputs: { password: '[secret]' } } }],
      document: { name: 'tool', content },
      custom: { scanner: 'the admin' },
    });

    expect(plan.steps).toEqual([{ urn: 'user.admin', new: { inputs: { password: '[secret]' } } }]);
    expect(plan.document?.content).toEqual(content);
    expect(plan.custom).toEqual({ scanner: 'the ***' });
  });

  it('is looked through whole, however large its pieces are', async () => {
    const secret = 'hunter2';
    const { letrec, oneof, array, constantFrom, string, dictionary } = fc;
    const { json } = letrec((tie) => ({
      json: oneof(
        { depthSize: 'small' },
        constantFrom<unknown>(1, null, true, secret, `a ${secret}`, 'x'.repeat(50_000)),
        string(),
        array(tie('json'), { maxLength: 5 }),
        dictionary(oneof(string(), constantFrom(secret)), tie('json'), { maxKeys: 5 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(array(json, { maxLength: 5 }), async (steps) => {
        const expected = JSON.stringify(steps).replaceAll(secret, '***');
        expect(JSON.stringify(await hiddenSteps(given(secret), steps))).toBe(expected);
      }),
    );
  });
});
