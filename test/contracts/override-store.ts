import { describe, expect, test } from 'vitest';
import type { Override, OverrideStore } from '../../src/policies/override-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface World extends AsyncDisposable {
  readonly overrides: OverrideStore;
  readonly transactions: Transactions;
  addStack(): Promise<string>;
  addRun(stackKey: string): Promise<string>;
}

/** What every store of overrides must do. */
export function overrideStoreContract(name: string, open: () => Promise<World>): void {
  async function opened() {
    const world = await open();
    const stackKey = await world.addStack();
    const runId = await world.addRun(stackKey);
    const anOverride = (id: string, change: Partial<Override> = {}): Override => ({
      ...{ id, stackKey, runId, changesDigest: 'ab'.repeat(32), atMs: 1000 },
      ...{ actorKey: 'person:ada', actorName: 'ada', reason: 'the freeze is over' },
      ...change,
    });
    const insert = (...overrides: readonly Override[]) =>
      world.transactions.write(async (tx) => {
        for (const override of overrides) await world.overrides.insert(tx, override);
      });
    return {
      ...{ overrides: world.overrides, stackKey, runId, anOverride, insert },
      addStack: () => world.addStack(),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  describe(`overrides in ${name}`, () => {
    test('are found by what they let pass, the newest of the stack', async () => {
      await using world = await opened();
      const { overrides, stackKey } = world;
      const [first, second] = [world.anOverride('01'), world.anOverride('02', { actorName: 'bob' })];
      await world.insert(second, first);

      expect(await overrides.find(stackKey, first.changesDigest)).toEqual(second);
      expect(await overrides.find(stackKey, 'cd'.repeat(32))).toBeNull();
      expect(await overrides.find(await world.addStack(), first.changesDigest)).toBeNull();
    });

    test('are listed by what they let pass, the oldest first', async () => {
      await using world = await opened();
      const { overrides, stackKey } = world;
      const [first, second] = [world.anOverride('01'), world.anOverride('02')];
      await world.insert(second, world.anOverride('03', { changesDigest: 'cd'.repeat(32) }), first);

      expect(await overrides.ofChanges(stackKey, first.changesDigest)).toEqual([first, second]);
      expect(await overrides.ofChanges(await world.addStack(), first.changesDigest)).toEqual([]);
    });
  });
}
