import { createGateStore } from '../../src/storage/gate-store.ts';
import { createReviewStore } from '../../src/storage/review-store.ts';
import { reviewStoreContract } from '../contracts/review-store.ts';
import { aCommit, person } from '../support/builders.ts';
import { openRunWorld } from '../support/run-world.ts';

reviewStoreContract('SQLite', async () => {
  const world = await openRunWorld();
  const [stack, other] = [await world.addStack(), await world.addStack()];
  const runs = [];
  for (const { key: stackKey } of [stack, stack, other]) {
    const what = { stackKey, type: 'TRACKED', branch: 'main', commit: aCommit(), dedupeKey: null } as const;
    const run = await world.commands.create({ ...what, by: person('ada') });
    if (run === 'duplicate') throw new Error('a duplicate without a key');
    runs.push(run);
  }
  return {
    ...{ runs, transactions: world.database },
    reviews: createReviewStore(world.database),
    gates: createGateStore(world.database),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
});
