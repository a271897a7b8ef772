import { createSqliteEngine, leaseMs } from '../../src/engine/sqlite-engine.ts';
import { createIds } from '../../src/ids.ts';
import { jobQueueContract } from '../contracts/job-queue.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

jobQueueContract('SQLite', () => {
  const temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const another = () => createSqliteEngine({ database, clock, newId: createIds(clock) });
  return {
    ...{ queue: another(), another, transactions: database, clock, leaseMs },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
});
