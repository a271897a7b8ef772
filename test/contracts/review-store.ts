import { describe, expect, test } from 'vitest';
import type { GateStore } from '../../src/runs/approvals/gate-store.ts';
import type { Review } from '../../src/runs/approvals/review.ts';
import type { ReviewStore } from '../../src/runs/approvals/review-store.ts';
import type { Transactions } from '../../src/tx.ts';
import { aReview } from '../support/reviews.ts';

interface Opened extends AsyncDisposable {
  reviews: ReviewStore;
  gates: GateStore;
  transactions: Transactions;
  /** Two runs of one stack and one of another, in the order in which they were made. */
  runs: readonly { readonly id: string; readonly stackKey: string }[];
}

/** What every store of reviews must do, and of what policies made of them. */
export function reviewStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the reviews on ${name}`, () => {
    async function opened() {
      const parts = await open();
      const [first, second, foreign] = parts.runs;
      if (!first || !second || !foreign) throw new Error('three runs are wanted');
      const of = ({ id: runId, stackKey }: typeof first, id: string, change: Partial<Review> = {}) =>
        aReview({ id, runId, stackKey, ...change });
      const insert = (...all: Review[]) =>
        parts.transactions.write(async (tx) => {
          for (const review of all) await parts.reviews.insert(tx, review);
        });
      return { ...parts, first, second, foreign, of, insert };
    }

    test('come back as they were, oldest first', async () => {
      await using world = await opened();
      const { first, second, of } = world;
      const all = [
        of(first, '1', { note: 'fine', via: 'comment', role: 'admin' }),
        of(first, '2', { verdict: 'reject', state: 'QUEUED', stateVersion: 1, changesDigest: null }),
      ];
      await world.insert(...all.toReversed(), of(second, '3'));

      expect(await world.reviews.ofRun(first.id)).toEqual(all);
      const inside = await world.transactions.write((tx) => world.reviews.ofRun(second.id, tx));
      expect(inside.map(({ id }) => id)).toEqual(['3']);
    });

    test('of earlier runs of the stack are found by the same changes', async () => {
      await using world = await opened();
      const { first, second, foreign, of } = world;
      const other = { changesDigest: 'c2' };
      await world.insert(of(first, '1'), of(first, '2', other), of(foreign, '3'), of(second, '4'));

      const found = async (run: typeof first, change: { changesDigest?: string }) =>
        (await world.reviews.ofSameChanges({ ...run, ...change })).map(({ id }) => id);
      expect(await found(second, { changesDigest: 'c1' })).toEqual(['1']);
      expect(await found(second, other)).toEqual(['2']);
      expect(await found(second, {})).toEqual([]);
      expect(await found(first, { changesDigest: 'c1' })).toEqual([]);
    });

    test('what policies said last takes the place of what they said before', async () => {
      await using world = await opened();
      const { gates, transactions, first, second } = world;
      const gate = {
        runId: first.id,
        stateVersion: 1,
        outcome: 'failed',
        judged: 'j',
        note: 'n',
        atMs: 5,
      } as const;
      const now = {
        ...gate,
        stateVersion: 2,
        outcome: 'approved',
        judged: 'k',
        note: null,
        atMs: 6,
      } as const;
      const inside = await transactions.write(async (tx) => {
        await gates.save(tx, gate);
        await gates.save(tx, now);
        return gates.find(first.id, tx);
      });
      expect([inside, await gates.find(first.id), await gates.find(second.id)]).toEqual([now, now, null]);

      await transactions.write((tx) => gates.clear(tx, first.id));
      expect(await gates.find(first.id)).toBeNull();
    });
  });
}
