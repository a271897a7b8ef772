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
      addRun: (key: string) => world.addRun(key),
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

    test('are listed with the run that was denied', async () => {
      await using world = await opened();
      const [first, second] = [
        world.anOverride('01'),
        world.anOverride('02', { changesDigest: 'cd'.repeat(32) }),
      ];
      await world.insert(second, first);

      expect(await world.overrides.ofRun(world.runId)).toEqual([first, second]);
      const other = await world.addRun(await world.addStack());
      expect(await world.overrides.ofRun(other)).toEqual([]);
    });
  });
}
