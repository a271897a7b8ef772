import { describe, expect, test } from 'vitest';
import type { IdempotencyStore, KeptRequest, KeyPlace } from '../../src/access/idempotency.ts';
import type { Transactions } from '../../src/tx.ts';

export interface OpenedIdempotencyStore extends AsyncDisposable {
  readonly idempotency: IdempotencyStore;
  readonly transactions: Transactions;
  /** Everything that lies on the disk. */
  atRest(): Buffer;
}

const mine: KeyPlace = { actor: 'token:1', key: 'k1' };
const others: readonly KeyPlace[] = [
  { actor: 'token:2', key: 'k1' },
  { actor: 'token:1', key: 'k2' },
];
const answer = { status: 201, headers: { location: '/x' }, body: 'the secret of the answer' };

/** What every store of kept requests must do. */
export function idempotencyStoreContract(
  name: string,
  open: () => OpenedIdempotencyStore | Promise<OpenedIdempotencyStore>,
): void {
  async function opened() {
    const world = await open();
    const { idempotency, transactions } = world;
    const put = (place: KeyPlace, kept: KeptRequest, atMs = 5) =>
      transactions.write((tx) => idempotency.put(tx, place, kept, atMs));
    const find = (place: KeyPlace) => transactions.write((tx) => idempotency.find(tx, place));
    return { ...world, put, find, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  describe(`kept requests on ${name}`, () => {
    test('are found by actor and key, as they were put last', async () => {
      await using world = await opened();
      await world.put(mine, { request: 'r', answer: null });
      expect(await world.find(mine)).toEqual({ request: 'r', answer: null, atMs: 5 });

      await world.put(mine, { request: 'r', answer }, 6);
      expect(await world.find(mine)).toEqual({ request: 'r', answer, atMs: 6 });
      for (const place of others) expect(await world.find(place)).toBeNull();
    });

    test('cannot be read on the disk', async () => {
      await using world = await opened();
      await world.put(mine, { request: 'digest-of-the-request', answer });
      expect(world.atRest().includes('token:1')).toBe(true);
      expect(world.atRest().includes('secret of the answer')).toBe(false);
      expect(world.atRest().includes('digest-of-the-request')).toBe(false);
    });

    test('are removed one by one, and in pieces when they are old', async () => {
      await using world = await opened();
      const { idempotency, transactions } = world;
      const [second, third] = others as [KeyPlace, KeyPlace];
      await world.put(mine, { request: 'r', answer });
      await world.put(second, { request: 'r', answer }, 10);
      await world.put(third, { request: 'r', answer }, 11);

      await transactions.write((tx) => idempotency.remove(tx, mine));
      expect(await world.find(mine)).toBeNull();
      const removeOld = (limit: number) =>
        transactions.write((tx) => idempotency.removeBefore(tx, 11, limit));
      expect([await removeOld(1), await removeOld(1)]).toEqual([1, 0]);
      expect([await world.find(second), (await world.find(third))?.atMs]).toEqual([null, 11]);
    });
  });
}
