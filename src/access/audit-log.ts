import type { Clock } from '../clock.ts';
import { inPieces, type Transactions, type Tx } from '../tx.ts';
import { type Actor, actorKey, actorName } from './actor.ts';
import type { Origin } from './origin.ts';
import { withoutTokens } from './tokens.ts';

/** Who did what, from where, with what result. Never what was sent along: no body, no secret, no address of a receiver. */
export interface AuditEntry {
  readonly actor: Actor;
  readonly origin: Origin;
  /** `METHOD /template` of the API, or words: `comment deploy`, `login`. */
  readonly operation: string;
  /** Of the template, or what else names the occasion: the comment, the check run. */
  readonly params: Readonly<Record<string, string>>;
  readonly subject: AuditSubject;
}

/** What it was about, as far as that is known. */
export interface AuditSubject {
  /** Its administrators may read of it. */
  readonly repositoryId: number | null;
  readonly account: string | null;
  readonly stack: string | null;
  readonly run: string | null;
}

export const noSubject: AuditSubject = { repositoryId: null, account: null, stack: null, run: null };

export const auditOutcomes = ['unknown', 'done', 'refused', 'failed'] as const;

export interface AuditResult {
  /** `unknown`: it was begun, and the server ended before it did. */
  readonly outcome: (typeof auditOutcomes)[number];
  /** Of HTTP; null for what is no call of the API, and while the outcome is unknown. */
  readonly status: number | null;
  /** Why, in a word or two. */
  readonly note: string | null;
}

export interface AuditRow extends Omit<AuditEntry, 'actor'>, AuditResult {
  readonly seq: number;
  readonly atMs: number;
  readonly actor: { readonly kind: Actor['kind']; readonly key: string; readonly name: string };
}

export interface AuditQuery {
  readonly account: string | null;
  readonly stack: string | null;
  /** A name or a key of an actor; upper and lower case are the same. */
  readonly actor: string | null;
  readonly sinceMs: number | null;
  /** Not included. */
  readonly untilMs: number | null;
  /** Those before that one. */
  readonly before: number | null;
  readonly limit: number;
}

/** Where the log lives. */
export interface AuditStore {
  /** Its number: higher than all before. */
  add(tx: Tx, row: Omit<AuditRow, 'seq'>): Promise<number>;
  /** What the subject does not know yet is added to it. */
  complete(tx: Tx, seq: number, result: AuditResult, subject: AuditSubject): Promise<void>;
  /** Newest first. */
  list(query: AuditQuery): Promise<readonly AuditRow[]>;
  /** At most `limit` of those before that time; how many there were. */
  removeBefore(tx: Tx, beforeMs: number, limit: number): Promise<number>;
}

export interface AuditLog {
  /** Before it is done: its outcome is unknown until `end`. */
  begin(entry: AuditEntry): Promise<number>;
  end(seq: number, result: AuditResult, made?: AuditSubject): Promise<void>;
  /** In the transaction that decides. */
  note(tx: Tx, entry: AuditEntry, result: Omit<AuditResult, 'status'>): Promise<void>;
  list(query: AuditQuery): Promise<readonly AuditRow[]>;
  /** What is older than so many days, in pieces; ends early when `signal` aborts. 0 days: nothing. */
  removeOld(days: number, signal: AbortSignal): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;
const removedAtOnce = 500;
const maxParam = 200;

export function createAuditLog(parts: {
  store: AuditStore;
  transactions: Transactions;
  clock: Clock;
}): AuditLog {
  const { store, transactions, clock } = parts;

  function rowOf({ actor, params, ...entry }: AuditEntry, result: AuditResult): Omit<AuditRow, 'seq'> {
    const short = Object.entries(params).map(([name, value]) => [
      name,
      withoutTokens(value).slice(0, maxParam),
    ]);
    return {
      ...{ ...entry, ...result, atMs: clock.nowMs(), params: Object.fromEntries(short) },
      actor: { kind: actor.kind, key: actorKey(actor), name: actorName(actor) },
    };
  }

  return {
    begin(entry) {
      const row = rowOf(entry, { outcome: 'unknown', status: null, note: null });
      return transactions.write((tx) => store.add(tx, row));
    },
    end: (seq, result, made = noSubject) => transactions.write((tx) => store.complete(tx, seq, result, made)),
    async note(tx, entry, result) {
      await store.add(tx, rowOf(entry, { ...result, status: null }));
    },
    list: (query) => store.list(query),

    async removeOld(days, signal) {
      if (days === 0) return;
      const beforeMs = clock.nowMs() - days * dayMs;
      const pieces = { transactions, atOnce: removedAtOnce };
      await inPieces(pieces, signal, (tx, limit) => store.removeBefore(tx, beforeMs, limit));
    },
  };
}
