import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { inPieces, type Transactions, type Tx } from '../tx.ts';
import { type Actor, actorKey } from './actor.ts';

/** An answer that is given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface KeptRequest {
  /** Digest of what was asked. */
  readonly request: string;
  /** Null: it is under way, or nobody knows what came of it. */
  readonly answer: KeptAnswer | null;
}

/** Whose key it is, and which; a digest, as keys may be made of anything. */
export interface KeyPlace {
  readonly actor: string;
  readonly key: string;
}

/** Where requests are kept. What was asked and answered is encrypted at rest: answers tell secrets. */
export interface IdempotencyStore {
  find(tx: Tx, place: KeyPlace): Promise<(KeptRequest & { readonly atMs: number }) | null>;
  /** In the place of whatever is there. */
  put(tx: Tx, place: KeyPlace, kept: KeptRequest, atMs: number): Promise<void>;
  remove(tx: Tx, place: KeyPlace): Promise<void>;
  /** At most `limit` of those from before that time; how many there were. */
  removeBefore(tx: Tx, beforeMs: number, limit: number): Promise<number>;
}

export type Begun =
  | { readonly kind: 'first'; readonly settle: Settle }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  /** The same is being done, or was begun and nobody knows what came of it. */
  | { readonly kind: 'in-use' }
  /** With another request. */
  | { readonly kind: 'reused' };

/** `forget`: nothing was done, so the key may be used again. `unknown`: perhaps something was. */
export type Settle = (result: KeptAnswer | 'forget' | 'unknown') => Promise<void>;

/** Makes one of requests that are sent again because nobody heard the answer. */
export interface Idempotency {
  begin(actor: Actor, key: string, request: RequestParts): Promise<Begun>;
  /** In pieces; ends early when `signal` aborts. */
  removeOld(signal: AbortSignal): Promise<void>;
}

interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const keptMs = 24 * 60 * 60 * 1000;
const removedAtOnce = 500;

export function createIdempotency(parts: {
  store: IdempotencyStore;
  transactions: Transactions;
  clock: Clock;
}): Idempotency {
  const { store, transactions, clock } = parts;

  return {
    begin(actor, key, { method, path, body }) {
      const place = { actor: actorKey(actor), key: digest(key) };
      const request = digest(JSON.stringify([method, path, body]));
      return transactions.write(async (tx): Promise<Begun> => {
        const nowMs = clock.nowMs();
        const found = await store.find(tx, place);
        if (found && nowMs < found.atMs + keptMs) {
          if (found.request !== request) return { kind: 'reused' };
          return found.answer ? { kind: 'answered', answer: found.answer } : { kind: 'in-use' };
        }
        await store.put(tx, place, { request, answer: null }, nowMs);
        return { kind: 'first', settle: (result) => settle(place, request, nowMs, result) };
      });
    },
    async removeOld(signal) {
      const beforeMs = clock.nowMs() - keptMs;
      const pieces = { transactions, atOnce: removedAtOnce };
      await inPieces(pieces, signal, (tx, limit) => store.removeBefore(tx, beforeMs, limit));
    },
  };

  async function settle(
    place: KeyPlace,
    request: string,
    atMs: number,
    result: Parameters<Settle>[0],
  ): Promise<void> {
    if (result === 'unknown') return;
    await transactions.write(async (tx) => {
      if (result === 'forget') await store.remove(tx, place);
      else await store.put(tx, place, { request, answer: result }, atMs);
    });
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
