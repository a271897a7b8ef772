import { describe, expect, test } from 'vitest';
import type { AnsweredComments } from '../../src/runs/comments/answered-comments.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  answered: AnsweredComments;
  transactions: Transactions;
}

/** What every store of answered comments must do. */
export function answeredCommentsContract(name: string, open: () => Promise<Opened>): void {
  describe(`the answered comments on ${name}`, () => {
    test('are known from their own transaction on, and no others', async () => {
      await using opened = await open();
      const { answered, transactions } = opened;

      const inside = await transactions.write(async (tx) => {
        await answered.add(tx, 7, 1000);
        return answered.has(7, tx);
      });

      expect([inside, await answered.has(7), await answered.has(8)]).toEqual([true, true, false]);
    });

    test('take no comment twice: of two answers one fails', async () => {
      await using opened = await open();
      const { answered, transactions } = opened;
      await transactions.write((tx) => answered.add(tx, 7, 1000));

      await expect(transactions.write((tx) => answered.add(tx, 7, 2000))).rejects.toThrow();
    });

    test('are forgotten when they are old', async () => {
      await using opened = await open();
      const { answered, transactions } = opened;
      await transactions.write(async (tx) => {
        await answered.add(tx, 7, 1000);
        await answered.add(tx, 8, 2000);
      });

      await transactions.write((tx) => answered.removeOld(tx, 2000));

      expect([await answered.has(7), await answered.has(8)]).toEqual([false, true]);
    });
  });
}
