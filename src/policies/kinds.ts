import type { PolicyKind } from './policy.ts';

/** The type that the value of a rule must have; anything else is the failure `wrong_type` and blocks. */
export type RuleType =
  | 'boolean'
  /** A set of strings, or of objects with a string `msg`. */
  | 'messages'
  /** A set of strings. */
  | 'strings'
  | 'string'
  /** A set of objects. */
  | 'objects'
  /** An object whose values are sets of strings. */
  | 'sets';

interface KindFacts {
  /** The rules that are read. A policy declares at least one of them. */
  readonly rules: Readonly<Record<string, RuleType>>;
  /** Of one evaluation, start of the engine included. */
  readonly timeLimitMs: number;
}

const flags = { sample: 'boolean', flag: 'strings', reset_flag: 'strings' } as const;
const second = 1000;

/** Kinds of policies: what each may say. The one table that checks, decisions, documents and pages go by. */
export const kinds: Readonly<Record<PolicyKind, KindFacts>> = {
  PLAN: { rules: { deny: 'messages', warn: 'messages', ...flags }, timeLimitMs: 45 * second },
  PUSH: {
    rules: {
      ...{ track: 'boolean', propose: 'boolean', ignore: 'boolean', ignore_track: 'boolean' },
      ...{ notrigger: 'boolean', notify: 'boolean', prioritize: 'boolean', fail: 'boolean' },
      ...{ allow_fork: 'boolean', message: 'messages', cancel: 'strings', lock: 'string', unlock: 'string' },
      ...flags,
    },
    timeLimitMs: 10 * second,
  },
  APPROVAL: {
    rules: {
      ...{ approve: 'boolean', reject: 'boolean' },
      ...{ approve_with_note: 'messages', reject_with_note: 'messages', ...flags },
    },
    timeLimitMs: 5 * second,
  },
  TRIGGER: { rules: { trigger: 'strings', ...flags }, timeLimitMs: 5 * second },
  NOTIFICATION: {
    rules: { inbox: 'objects', webhook: 'objects', pull_request: 'objects', ...flags },
    timeLimitMs: 10 * second,
  },
  LOGIN: {
    rules: { allow: 'boolean', admin: 'boolean', deny: 'boolean', roles: 'sets', sample: 'boolean' },
    timeLimitMs: 5 * second,
  },
};

/** All policies of one event together, from spacelift's default: a later one fails with `timeout`. */
export const combinedTimeLimitMs = 5 * 60 * second;
