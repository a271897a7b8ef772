import { describe, expect, it } from 'vitest';
import { judgedBy } from '../../src/policies/decision.ts';
import { kinds } from '../../src/policies/kinds.ts';
import { type PolicyKind, policyKinds } from '../../src/policies/policy.ts';
import { fc } from '../support/fast-check.ts';
import { evaluated, failedBy } from './judgements.ts';

type Values = Readonly<Record<string, unknown>>;

const read = (kind: PolicyKind, values: Values, rules: readonly string[] = Object.keys(values)) =>
  judgedBy(kind, rules, evaluated(values));

describe('what one policy says', () => {
  type Row = readonly [PolicyKind, Values, outcome: string, messages: readonly string[]];
  const table: readonly Row[] = [
    ['PLAN', { deny: [] }, 'passed', []],
    ['PLAN', { deny: ['no'] }, 'denied', ['no']],
    ['PLAN', { warn: ['hm'] }, 'warned', ['hm']],
    ['PLAN', { deny: ['no'], warn: ['hm'] }, 'denied', ['no', 'warning: hm']],
    ['PLAN', { deny: [{ msg: 'no', urn: 'u' }] }, 'denied', ['no']],
    ['PLAN', { deny: [''] }, 'denied', ['(no message)']],
    ['PLAN', { flag: ['a'] }, 'passed', []],
    ['PUSH', { track: true }, 'tracked', []],
    ['PUSH', { track: true, propose: true }, 'tracked', []],
    ['PUSH', { track: true, ignore_track: true }, 'undecided', []],
    ['PUSH', { track: true, ignore_track: true, propose: true }, 'proposed', []],
    ['PUSH', { propose: true }, 'proposed', []],
    ['PUSH', { track: true, propose: true, ignore: true }, 'ignored', []],
    ['PUSH', { track: false, message: ['not today'] }, 'undecided', ['not today']],
    ['APPROVAL', { approve: true }, 'approved', []],
    ['APPROVAL', { approve_with_note: ['two people'] }, 'approved', ['two people']],
    ['APPROVAL', { approve_with_note: [], approve: false }, 'undecided', []],
    ['APPROVAL', { approve: true, reject: true }, 'rejected', []],
    ['APPROVAL', { approve: true, reject_with_note: ['bob said no'] }, 'rejected', ['bob said no']],
    ['APPROVAL', { reject: false }, 'undecided', []],
    ['TRIGGER', { trigger: [] }, 'nothing', []],
    ['TRIGGER', { trigger: ['app', 'db'] }, 'triggered', ['app', 'db']],
    ['NOTIFICATION', { inbox: [], webhook: [] }, 'nothing', []],
    ['NOTIFICATION', { inbox: [{ title: 'a' }, {}] }, 'notified', ['inbox: 2']],
    ['NOTIFICATION', { webhook: [{ endpoint_id: 'e', payload: null }] }, 'notified', ['webhook: 1']],
    ['NOTIFICATION', { pull_request: [{ id: 7, body: 'b' }] }, 'notified', ['pull_request: 1']],
    ['LOGIN', { allow: true }, 'allowed', []],
    ['LOGIN', { admin: true }, 'admin', []],
    ['LOGIN', { admin: true, allow: true, deny: true }, 'denied', []],
    ['LOGIN', { roles: { acme: ['reader', 'writer'] } }, 'allowed', ['acme: reader', 'acme: writer']],
    ['LOGIN', { roles: { acme: [] } }, 'undecided', []],
    ['LOGIN', { allow: false }, 'undecided', []],
  ];

  it.each(table)('%s %j is %s', (kind, values, outcome, messages) => {
    expect(read(kind, values)).toMatchObject({ outcome, messages, failure: null, values });
  });

  it('passes an evaluation that failed on as it is', () => {
    const failure = { code: 'conflict', message: 'two values', line: 3 } as const;
    expect(judgedBy('PLAN', ['deny'], { kind: 'failed', failure, durationMs: 1 })).toEqual({
      ...{ outcome: 'failed', messages: [], values: {}, failure, sample: false },
      flags: { add: [], reset: [] },
    });
  });

  it('reads flags and the wish for a sample', () => {
    expect(read('PUSH', { sample: true, flag: ['a', 'b'], reset_flag: ['c'] })).toMatchObject({
      outcome: 'undecided',
      sample: true,
      flags: { add: ['a', 'b'], reset: ['c'] },
    });
    expect(read('PUSH', { track: true })).toMatchObject({ sample: false, flags: { add: [], reset: [] } });
  });
});

describe('a value of another type', () => {
  const wrong: readonly (readonly [PolicyKind, Values, message: RegExp])[] = [
    ['PLAN', { deny: 'no' }, /^deny is the string "no", not a set of messages/],
    ['PLAN', { deny: true }, /^deny is the boolean true/],
    ['PLAN', { deny: null }, /^deny is null/],
    ['PLAN', { deny: { 'a message': true } }, /^deny is an object.*write `deny contains \.\.\. if/],
    ['PLAN', { deny: [1] }, /^deny has the number 1 in it/],
    ['PLAN', { warn: ['fine', { message: 'misnamed' }] }, /^warn has an object in it/],
    ['PLAN', { deny: [['nested']] }, /^deny has a set or an array in it/],
    ['PLAN', { deny: [null] }, /^deny has null in it/],
    ['PLAN', { flag: [{ msg: 'a' }] }, /^flag has an object in it/],
    ['PLAN', { sample: 'yes' }, /^sample is the string "yes", not true or false/],
    ['PUSH', { track: 'yes' }, /^track is the string/],
    ['PUSH', { track: ['yes'] }, /^track is a set/],
    ['PUSH', { lock: true }, /^lock is the boolean true, not a string/],
    ['APPROVAL', { approve: 1 }, /^approve is the number 1/],
    ['TRIGGER', { trigger: 'app' }, /^trigger is the string "app", not a set of strings/],
    ['NOTIFICATION', { inbox: ['text'] }, /^inbox has the string "text" in it/],
    ['NOTIFICATION', { webhook: [{ payload: {} }] }, /^webhook\.endpoint_id: /],
    ['NOTIFICATION', { webhook: [{ endpoint_id: 'e', method: 'PUT' }] }, /^webhook\.method: .*POST/],
    ['NOTIFICATION', { pull_request: [{ id: 'seven' }] }, /^pull_request\.id: /],
    ['NOTIFICATION', { inbox: [{ severity: 'LOUD' }] }, /^inbox\.severity: /],
    ['NOTIFICATION', { inbox: [{ titel: 'a' }] }, /^inbox: .*titel/],
    ['LOGIN', { roles: ['reader'] }, /^roles is a set or an array/],
    ['LOGIN', { roles: { acme: 'reader' } }, /^roles\["acme"\] is not a set of strings/],
  ];

  it.each(wrong)('%s %j fails', (kind, values, message) => {
    const reading = read(kind, values);
    expect(reading).toMatchObject({ outcome: 'failed', messages: [], values: {} });
    expect(reading.failure).toEqual({ code: 'wrong_type', message: expect.stringMatching(message) });
  });

  it('fails also in a rule that is not known to be declared', () => {
    expect(read('PLAN', { deny: 'no' }, []).failure?.code).toBe('wrong_type');
  });

  it('is nobody’s business in a rule that the kind does not read', () => {
    expect(read('PLAN', { deny: [], track: 'yes' }).outcome).toBe('passed');
  });
});

describe('a value that says more than is read', () => {
  const texts = (count: number, length = 4) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(length, '-'));

  it.each<[PolicyKind, Values, message: string]>([
    ['PLAN', { flag: texts(1001) }, 'flag has 1001 strings in it; 1000 are the most'],
    [
      'APPROVAL',
      { reset_flag: texts(1, 501) },
      'reset_flag has a string of 501 characters; 500 are the most',
    ],
    ['PUSH', { cancel: texts(1001) }, 'cancel has 1001 strings in it; 1000 are the most'],
    ['PUSH', { lock: 'x'.repeat(501) }, 'lock has a string of 501 characters; 500 are the most'],
    ['TRIGGER', { trigger: texts(1001) }, 'trigger has 1001 strings in it; 1000 are the most'],
  ])('%s fails', (kind, values, message) => {
    expect(read(kind, values)).toMatchObject({
      ...{ outcome: 'failed', values: {}, failure: { code: 'output', message } },
      flags: { add: [], reset: [] },
    });
  });

  it('is not one that says as much', () => {
    expect(read('PLAN', { flag: texts(1000, 500) }).failure).toBeNull();
  });
});

describe('a declared rule without a value', () => {
  const everyRule = policyKinds.flatMap((kind) =>
    Object.entries(kinds[kind].rules).map(([rule, type]) => ({ kind, rule, type })),
  );

  it.each(everyRule)('$kind $rule ($type)', ({ kind, rule, type }) => {
    const { failure } = read(kind, {}, [rule]);
    if (type === 'boolean' || type === 'string') expect(failure).toBeNull();
    else expect(failure).toEqual({ code: 'undefined', message: expect.stringContaining(rule) });
  });

  it('is not one that an object inherits', () => {
    expect(judgedBy('PLAN', ['deny'], evaluated(Object.create({ deny: [] })))).toMatchObject({
      failure: { code: 'undefined' },
    });
  });
});

describe('messages that are shown', () => {
  it('are 200, and how many are left out', () => {
    const deny = Array.from({ length: 257 }, (_, index) => `message ${index}`);
    const { messages, values } = read('PLAN', { deny });
    expect(messages).toEqual([...deny.slice(0, 200), 'and 57 more']);
    expect(values['deny']).toHaveLength(257);
  });

  it('have 2 KB of UTF-8 each, and no half characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.integer({ min: 1, max: 4000 }),
        (unit, times) => {
          const whole = unit.repeat(times).toWellFormed();
          const [shown = ''] = read('PLAN', { deny: [whole] }).messages;
          expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2048);
          if (Buffer.byteLength(whole) > 2048) expect(whole.startsWith(shown.slice(0, -1))).toBe(true);
          else if (whole.trim() !== '') expect(shown).toBe(whole);
        },
      ),
    );
  });
});

describe('any JSON at all', () => {
  it('gives a judgement: a known outcome, or a failure', () => {
    const kind = fc.constantFrom(...policyKinds);
    const values = kind.chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.dictionary(fc.constantFrom(...Object.keys(kinds[name].rules)), fc.jsonValue({ maxDepth: 3 })),
      ),
    );
    fc.assert(
      fc.property(values, ([name, said]) => {
        const reading = read(name, said as Values);
        expect(reading.outcome === 'failed').toBe(reading.failure !== null);
      }),
    );
  });

  it('never passes what failed', () => {
    for (const kind of policyKinds) {
      expect(judgedBy(kind, [], failedBy('timeout'))).toMatchObject({ outcome: 'failed', sample: false });
    }
  });
});
