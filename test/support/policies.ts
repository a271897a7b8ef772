import type { Judgement } from '../../src/policies/judgement.ts';
import type { Notice } from '../../src/policies/notice-store.ts';
import { digestOf, type Policy } from '../../src/policies/policy.ts';

const body = 'package slipway\n\ndeny contains "never" if false\n';

/** A PLAN policy of the account of the other builders. */
export function aPolicy(change: Partial<Policy> = {}): Policy {
  const source = { body: change.body ?? body, regoVersion: change.regoVersion ?? 1 };
  return {
    id: '01JPOLICY00000000000000000',
    account: { id: 11, login: 'acme' },
    name: 'no deletes',
    description: '',
    kind: 'PLAN',
    labels: [],
    rules: ['deny'],
    version: 1,
    ...source,
    digest: digestOf(source),
    createdAtMs: 1_795_000_000_000,
    updatedAtMs: 1_795_000_000_000,
    updatedBy: 'ada@example.com',
    ...change,
  };
}

export function aJudgement(change: Partial<Judgement> = {}): Judgement {
  return {
    policy: aPolicy(),
    outcome: 'denied',
    messages: ['nobody deletes the network'],
    values: { deny: ['nobody deletes the network'] },
    failure: null,
    sample: false,
    flags: { add: [], reset: [] },
    inputDigest: 'd1'.repeat(32),
    durationMs: 12,
    engine: 'opa 1.22.0',
    ...change,
  };
}

/** Of account 11, about nothing in particular. */
export function aNotice(change: Partial<Notice> = {}): Notice {
  return {
    id: '01JNOTICE0000000000000000A',
    accountId: 11,
    stackKey: null,
    runId: null,
    policyId: aPolicy().id,
    severity: 'INFO',
    title: 'Deployed',
    body: '<b>all</b> of it',
    atMs: 1_795_000_000_000,
    ...change,
  };
}
