import { describe, expect, it } from 'vitest';
import { combineApproval } from '../../src/policies/decisions/approval.ts';
import { combineLogin } from '../../src/policies/decisions/login.ts';
import { combineNotification } from '../../src/policies/decisions/notification.ts';
import { combinePlan } from '../../src/policies/decisions/plan.ts';
import { combinePush } from '../../src/policies/decisions/push.ts';
import { combineTrigger } from '../../src/policies/decisions/trigger.ts';
import type { Judgement } from '../../src/policies/judgement.ts';
import { kinds, type RuleType } from '../../src/policies/kinds.ts';
import type { PolicyKind } from '../../src/policies/policy.ts';
import { fc } from '../support/fast-check.ts';
import { judgement } from './judgements.ts';

type Said = Parameters<typeof judgement>[1];

/** Policies a, b, c, ... that say this. */
const said = (kind: PolicyKind, ...all: readonly Said[]): readonly Judgement[] =>
  all.map((one, index) => judgement(kind, one, String.fromCharCode(97 + index)));

describe('plan policies', () => {
  it.each([
    [[], 'passed'],
    [[{ deny: [] }, { warn: [] }], 'passed'],
    [[{ deny: [] }, { warn: ['hm'] }], 'warned'],
    [[{ deny: ['no'] }, { warn: ['hm'] }], 'denied'],
    [[{ deny: ['no'] }, 'timeout'], 'failed'],
    [[{ warn: ['hm'] }, 'builtin'], 'failed'],
  ] satisfies [Said[], string][])('%j: %s', (all, outcome) => {
    expect(combinePlan(said('PLAN', ...all)).outcome).toBe(outcome);
  });

  it('say who says what, by name', () => {
    const all = said('PLAN', { deny: ['one', 'two'] }, { warn: ['hm'] }, 'timeout');
    expect(combinePlan(all.toReversed()).messages).toEqual([
      'a: one',
      'a: two',
      'b: hm',
      'c could not be evaluated: it broke',
    ]);
  });

  it('warn where a denial is overridden, and block still where one failed', () => {
    expect(combinePlan(said('PLAN', { deny: ['no'] }), true).outcome).toBe('warned');
    expect(combinePlan(said('PLAN', { deny: ['no'] }, 'timeout'), true).outcome).toBe('failed');
    expect(combinePlan(said('PLAN', { deny: [] }), true).outcome).toBe('passed');
  });
});

describe('push policies', () => {
  const nothing = {
    ...{ notrigger: false, prioritize: false, allowFork: false, notify: false, fail: false },
    ...{ cancel: [], unlock: [], lock: null, messages: [] },
  };

  it.each([
    [[{}], { outcome: 'ignored' }],
    [[{ track: true }, { propose: true }], { outcome: 'tracked' }],
    [[{ track: true }, { ignore: true }], { outcome: 'ignored' }],
    [[{ track: true }, { ignore_track: true }], { outcome: 'ignored' }],
    [[{ track: true }, { ignore_track: true }, { propose: true }], { outcome: 'proposed' }],
    [[{ track: true }, { notrigger: true }], { outcome: 'tracked', notrigger: true }],
    [[{ propose: true }, { notrigger: true }], { outcome: 'proposed' }],
    [
      [{ propose: true, prioritize: true }, { allow_fork: true }],
      { outcome: 'proposed', prioritize: true, allowFork: true },
    ],
    [
      [{ notify: true }, { fail: true, message: ['no'] }],
      { outcome: 'ignored', notify: true, fail: true, messages: ['b: no'] },
    ],
    [[{ track: true, notify: true, fail: true }], { outcome: 'tracked' }],
    [[{ ignore: true, notify: true }], { outcome: 'ignored', notify: true }],
    [
      [{ propose: true, cancel: ['r2', 'r1'] }, { cancel: ['r2'] }],
      { outcome: 'proposed', cancel: ['r1', 'r2'] },
    ],
    [[{ lock: 'release' }, { lock: 'audit' }], { outcome: 'ignored', lock: 'audit' }],
    [[{ unlock: 'release' }, { unlock: 'audit' }], { outcome: 'ignored', unlock: ['audit', 'release'] }],
    [
      [
        { ignore: true, cancel: ['r1'] },
        { lock: 'release', unlock: 'audit', allow_fork: true },
      ],
      { outcome: 'ignored' },
    ],
  ] satisfies [Said[], Partial<ReturnType<typeof combinePush>>][])('%j: %j', (all, decision) => {
    expect(combinePush(said('PUSH', ...all))).toEqual({ ...nothing, ...decision });
  });

  it('do nothing at all where one failed', () => {
    const all = said('PUSH', { track: true, cancel: ['r1'], lock: 'x', message: ['hello'] }, 'timeout');
    expect(combinePush(all)).toEqual({
      ...nothing,
      outcome: 'failed',
      messages: ['b could not be evaluated: it broke'],
    });
  });
});

describe('approval policies', () => {
  it.each([
    [[{ approve: true }, { approve_with_note: ['fine'] }], 'approved', ['b: fine']],
    [[{ approve: true }, { approve: false }], 'undecided', []],
    [[{ approve: true }, { reject: true }], 'rejected', []],
    [[{ approve: true }, 'timeout'], 'failed', ['b could not be evaluated: it broke']],
    [[{ approve: false }, 'timeout'], 'failed', ['b could not be evaluated: it broke']],
    [[{ reject: true }, 'timeout'], 'rejected', ['b could not be evaluated: it broke']],
  ] satisfies [Said[], string, string[]][])('%j: %s', (all, outcome, messages) => {
    expect(combineApproval(said('APPROVAL', ...all))).toEqual({ outcome, messages });
  });
});

describe('trigger policies', () => {
  it('trigger each stack once, and name the first that wants it', () => {
    const all = said('TRIGGER', { trigger: ['web', 'db'] }, { trigger: ['app', 'db'] }, 'timeout');
    const { triggered, failed } = combineTrigger(all.toReversed());
    expect(triggered.map(({ stackId, policy }) => [stackId, policy.name])).toEqual([
      ['app', 'b'],
      ['db', 'a'],
      ['web', 'a'],
    ]);
    expect(failed.map(({ policy }) => policy.name)).toEqual(['c']);
  });
});

describe('notification policies', () => {
  it('send each message once', () => {
    const inbox = [{ title: 'same' }];
    const webhook = [{ endpoint_id: 'e1', payload: { text: 'hello' } }];
    const all = said(
      'NOTIFICATION',
      { inbox, webhook },
      { inbox, pull_request: [{ body: 'done' }] },
      'timeout',
    );
    const sent = combineNotification(all.toReversed());
    expect(sent.inbox.map(({ message, policy }) => [message, policy.name])).toEqual([
      [{ title: 'same' }, 'a'],
    ]);
    expect(sent.webhook.map(({ message }) => message)).toEqual(webhook);
    expect(sent.pullRequest.map(({ message, policy }) => [message, policy.name])).toEqual([
      [{ body: 'done' }, 'b'],
    ]);
    expect(sent.failed.map(({ policy }) => policy.name)).toEqual(['c']);
  });
});

describe('login policies', () => {
  it.each([
    [[{ allow: false }], 'denied', []],
    [[{ allow: true }], 'allowed', []],
    [[{ allow: true }, { admin: true }], 'admin', []],
    [[{ admin: true }, { deny: true }], 'denied', []],
    [[{ admin: true }, 'timeout'], 'failed', []],
    [
      [{ roles: { acme: ['reader'] } }, { roles: { Acme: ['writer'], other: [] } }],
      'allowed',
      [['acme', ['reader', 'writer']]],
    ],
    [[{ roles: { acme: ['reader'] } }, { deny: true }], 'denied', []],
  ] satisfies [Said[], string, [string, string[]][]][])('%j: %s', (all, outcome, roles) => {
    const decision = combineLogin(said('LOGIN', ...all));
    expect(decision.outcome).toBe(outcome);
    expect([...decision.roles]).toEqual(roles);
  });
});

describe('combining', () => {
  const valueFor: Readonly<Record<RuleType, fc.Arbitrary<unknown>>> = {
    boolean: fc.boolean(),
    messages: fc.uniqueArray(fc.constantFrom('one', 'two', 'three')),
    strings: fc.uniqueArray(fc.constantFrom('one', 'two', 'three')),
    string: fc.constantFrom('one', 'two'),
    objects: fc.constantFrom([], [{ endpoint_id: 'e', payload: 1 }]),
    sets: fc.dictionary(
      fc.constantFrom('acme', 'Acme', 'other'),
      fc.uniqueArray(fc.constantFrom('reader', 'writer')),
    ),
  };
  const saidOf = (kind: PolicyKind): fc.Arbitrary<Said> => {
    const isSendable = (rule: string) => kind !== 'NOTIFICATION' || rule === 'webhook' || rule === 'flag';
    const rules = Object.entries(kinds[kind].rules).filter(([rule]) => isSendable(rule));
    return fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record(Object.fromEntries(rules.map(([rule, type]) => [rule, valueFor[type]])), {
          requiredKeys: [],
        }),
      },
      { weight: 1, arbitrary: fc.constantFrom('timeout' as const, 'wrong_type' as const) },
    );
  };
  /** Some policies, and the same in another order. */
  const shuffled = (kind: PolicyKind) =>
    fc.array(saidOf(kind), { minLength: 1, maxLength: 5 }).chain((all) => {
      const judgements = said(kind, ...all);
      const length = judgements.length;
      return fc.tuple(
        fc.constant(judgements),
        fc.shuffledSubarray([...judgements], { minLength: length, maxLength: length }),
      );
    });

  const combined: readonly (readonly [PolicyKind, (all: readonly Judgement[]) => unknown])[] = [
    ['PLAN', combinePlan],
    ['PUSH', combinePush],
    ['APPROVAL', combineApproval],
    ['TRIGGER', combineTrigger],
    ['NOTIFICATION', combineNotification],
    ['LOGIN', combineLogin],
  ];

  it.each(combined)('%s does not depend on the order', (kind, combine) => {
    fc.assert(
      fc.property(shuffled(kind), ([all, others]) => {
        expect(combine(others)).toEqual(combine(all));
      }),
    );
  });

  const blocks: readonly (readonly [
    PolicyKind,
    (all: readonly Judgement[]) => { outcome: string },
    readonly string[],
  ])[] = [
    ['PLAN', (all) => combinePlan(all, true), ['failed']],
    ['PUSH', combinePush, ['failed']],
    ['APPROVAL', combineApproval, ['failed', 'rejected']],
    ['LOGIN', combineLogin, ['failed']],
  ];

  it.each(blocks)('%s never passes what one policy could not judge', (kind, combine, expected) => {
    fc.assert(
      fc.property(fc.array(saidOf(kind), { maxLength: 4 }), fc.nat(4), (all, place) => {
        const withFailure = all.toSpliced(place, 0, 'timeout');
        expect(expected).toContain(combine(said(kind, ...withFailure)).outcome);
      }),
    );
  });

  it('lets a policy more make a plan never pass more easily', () => {
    const rank = ['passed', 'warned', 'denied', 'failed'];
    fc.assert(
      fc.property(fc.array(saidOf('PLAN'), { maxLength: 4 }), saidOf('PLAN'), (all, one) => {
        const before = combinePlan(said('PLAN', ...all)).outcome;
        const after = combinePlan(said('PLAN', ...all, one)).outcome;
        expect(rank.indexOf(after)).toBeGreaterThanOrEqual(rank.indexOf(before));
      }),
    );
  });
});
