import { describe, expect, test } from 'vitest';
import type { TokenRecord, TokenStore } from '../../src/access/token-store.ts';
import type { Transactions } from '../../src/tx.ts';

export interface OpenedTokenStore extends AsyncDisposable {
  readonly tokens: TokenStore;
  readonly transactions: Transactions;
}

/** What every store of tokens must do. */
export function tokenStoreContract(
  name: string,
  open: () => OpenedTokenStore | Promise<OpenedTokenStore>,
): void {
  async function opened() {
    const world = await open();
    const { tokens, transactions } = world;
    const insert = (token: TokenRecord, hash: string) =>
      transactions.write((tx) => tokens.insert(tx, { ...token, hash }));
    const remove = (id: string) => transactions.write((tx) => tokens.remove(tx, id));
    const list = (after: string | null = null, limit = 10) => tokens.list({ after, limit });
    return { ...world, insert, remove, list, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  describe(`the token store on ${name}`, () => {
    test('finds a token by its digest, without giving the digest away', async () => {
      await using world = await opened();
      await world.insert(aToken(), 'hash-1');

      expect(await world.tokens.findByHash('hash-1')).toEqual(aToken());
      expect(await world.tokens.findByHash('hash-2')).toBeNull();
      expect(await world.tokens.findByHash('HASH-1')).toBeNull();
    });

    test('takes no digest twice', async () => {
      await using world = await opened();
      await world.insert(aToken(), 'hash-1');
      await expect(world.insert(aToken({ id: 'token-2' }), 'hash-1')).rejects.toThrow();
      expect(await world.list()).toEqual([aToken()]);
    });

    test('lists tokens, oldest first', async () => {
      await using world = await opened();
      const second = aToken({ id: 'token-2', account: 'acme', role: 'reader' });
      await world.insert(second, 'hash-2');
      await world.insert(aToken(), 'hash-1');

      expect(await world.list()).toEqual([aToken(), second]);
      expect(await world.list(null, 1)).toEqual([aToken()]);
      expect(await world.list('token-1')).toEqual([second]);
    });

    test('keeps who made it, its expiry and its last use', async () => {
      await using world = await opened();
      await world.insert(aToken({ expiresAtMs: 900, createdBy: 'ada' }), 'hash-1');
      await world.insert(aToken({ id: 'token-2' }), 'hash-2');

      await world.transactions.write((tx) => world.tokens.setUsed(tx, 'token-1', 70));

      const first = aToken({ expiresAtMs: 900, createdBy: 'ada', lastUsedAtMs: 70 });
      expect(await world.list()).toEqual([first, aToken({ id: 'token-2' })]);
    });

    test('removes a token, once, and it is found no more', async () => {
      await using world = await opened();
      await world.insert(aToken(), 'hash-1');

      expect([await world.remove('token-1'), await world.remove('token-1')]).toEqual([true, false]);
      expect(await world.tokens.findByHash('hash-1')).toBeNull();
      expect(await world.list()).toEqual([]);
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using world = await opened();
      const failing = world.transactions.write(async (tx) => {
        await world.tokens.insert(tx, { ...aToken(), hash: 'hash-1' });
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      expect(await world.list()).toEqual([]);
    });
  });
}

const later = { createdBy: 'operator', expiresAtMs: null, lastUsedAtMs: null };

function aToken(change: Partial<TokenRecord> = {}): TokenRecord {
  return { id: 'token-1', name: 'ci', role: 'writer', account: null, createdAtMs: 5, ...later, ...change };
}
