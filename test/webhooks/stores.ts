import { createIds, type NewId } from '../../src/ids.ts';
import type { RunState, RunType } from '../../src/runs/run.ts';
import type { Database } from '../../src/storage/database.ts';
import { createDeliveryStore } from '../../src/storage/delivery-store.ts';
import { createMissedStore } from '../../src/storage/missed-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { createWebhookStore } from '../../src/storage/webhook-store.ts';
import type { DeliveryStore } from '../../src/webhooks/delivery-store.ts';
import type { MissedStore } from '../../src/webhooks/missed-store.ts';
import type { WebhookStore } from '../../src/webhooks/webhook-store.ts';
import { aCommit, anAccount, aRepository, aStack } from '../support/builders.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

/** A database file of its own with an account, a repository, and whatever stacks and runs a test asks for. */
export interface Stores extends AsyncDisposable {
  readonly path: string;
  atRest(): Buffer;
  readonly database: Database;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly missed: MissedStore;
  readonly clock: ManualClock;
  readonly newId: NewId;
  addStack(key?: string): Promise<string>;
  /** A QUEUED run of the stack. */
  addRun(stackKey: string, change?: { id?: string; type?: RunType }): Promise<string>;
  /** What the run went through, all at one time: `afterMs` from now. */
  addEvents(runId: string, states: readonly RunState[], afterMs?: number): Promise<void>;
}

export async function openStores(): Promise<Stores> {
  const file = tempDatabase();
  const { database } = file;
  const box = createSecretBox(Buffer.alloc(32, 7));
  const clock = manualClock();
  const newId = createIds(clock);
  const repositories = createRepositoryStore(database);
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveRepository(tx, aRepository());
  });
  const stacks = createStackStore(database, box);
  const runs = createRunStore(database, box);
  return {
    path: file.path,
    atRest: () => file.atRest(),
    database,
    clock,
    newId,
    webhooks: createWebhookStore(database, box),
    deliveries: createDeliveryStore(database),
    missed: createMissedStore(database),
    async addStack(key = newId()) {
      const { settings } = aStack();
      const stack = { key, id: key.toLowerCase(), accountId: 11, repositoryId: 21, settings, createdAtMs: 0 };
      await database.write((tx) => stacks.insert(tx, stack));
      return key;
    },
    async addRun(stackKey, { id = newId(), type = 'TRACKED' } = {}) {
      const adas = { triggeredBy: 'ada@example.com', startedBy: 'person:ada' };
      const run = {
        id,
        stackKey,
        type,
        branch: 'main',
        commit: aCommit(),
        createdAtMs: 0,
      } as const;
      await database.write((tx) => runs.insert(tx, { ...run, ...adas, priority: 0, dedupeKey: id }));
      return id;
    },
    async addEvents(runId, states, afterMs = 0) {
      const events = states.map((state, index) => ({
        run_id: runId,
        state_version: index + 1,
        state,
        timestamp_ms: clock.nowMs() + afterMs,
        actor: 'server',
        note: null,
      }));
      await database.write(async (tx) => {
        await database.inside(tx).insertInto('run_event').values(events).execute();
      });
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}
