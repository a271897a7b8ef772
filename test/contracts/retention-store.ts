import { describe, expect, test } from 'vitest';
import type { RetentionStore } from '../../src/runs/retention.ts';
import type { RunState, RunType } from '../../src/runs/run.ts';
import type { RunStore } from '../../src/runs/run-store.ts';
import type { Transactions } from '../../src/tx.ts';
import type { DeliveryStore } from '../../src/webhooks/delivery-store.ts';
import { aCommit } from '../support/builders.ts';

export interface OpenedRetentionStore extends AsyncDisposable {
  readonly retention: RetentionStore;
  readonly runs: RunStore;
  readonly deliveries: DeliveryStore;
  readonly transactions: Transactions;
  /** Make one, give its key or id. */
  addStack(): Promise<string>;
  addWebhook(stackKey: string): Promise<string>;
}

interface Made {
  readonly type?: RunType;
  readonly endedAtMs?: number;
  readonly states?: readonly RunState[];
  readonly hadWorker?: boolean;
  readonly stackKey?: string;
}

/** What every store must do that lets go of what is old. Ids are in the order of making, as all ids are. */
export function retentionStoreContract(name: string, open: () => Promise<OpenedRetentionStore>): void {
  async function opened() {
    const world = await open();
    const { runs, deliveries, retention } = world;
    const write = world.transactions.write.bind(world.transactions);
    const firstStack = await world.addStack();
    let made = 0;

    /** A run, PROPOSED unless told otherwise, made a moment before it ended, with an event and a payload for each of its states. */
    async function add({ states = ['FINISHED'], hadWorker = true, ...rest }: Made = {}): Promise<string> {
      const { endedAtMs = 1000, stackKey = firstStack, type = 'PROPOSED' } = rest;
      made += 1;
      const id = `run-${String(made).padStart(4, '0')}`;
      const timestampMs = endedAtMs;
      await write(async (tx) => {
        await runs.insert(tx, {
          ...{ id, stackKey, type, branch: 'topic', commit: aCommit(), dedupeKey: id },
          ...{ createdAtMs: endedAtMs, triggeredBy: 'ada', startedBy: 'person:ada', priority: 0 },
        });
        let stateVersion = 1;
        await runs.insertEvent(tx, id, {
          state: 'QUEUED',
          stateVersion,
          timestampMs,
          actor: 'a',
          note: null,
        });
        for (const state of states) {
          const change = { state, note: null, ...(hadWorker ? { hadWorker } : {}) };
          await runs.change(tx, id, stateVersion, change);
          stateVersion += 1;
          await runs.insertEvent(tx, id, { state, stateVersion, timestampMs, actor: 'a', note: null });
          await deliveries.insertPayload(tx, id, stateVersion, Buffer.from('{}'));
        }
      });
      return id;
    }
    const page = { after: null as string | null, limit: 100, keepNewest: 1 };
    const expired = (endedBeforeMs: number, change: Partial<typeof page> = {}) =>
      retention.expiredRuns({ ...page, ...change, endedBeforeMs });
    const close = () => world[Symbol.asyncDispose]();
    return { ...world, write, add, expired, [Symbol.asyncDispose]: close };
  }

  describe(`the retention store on ${name}`, () => {
    test('names runs that are over for long enough, and no other', async () => {
      await using world = await opened();
      const old = await world.add({ endedAtMs: 1000 });
      await world.add({ states: ['READY', 'PREPARING'] });
      const canceled = await world.add({ states: ['CANCELED'], hadWorker: false });
      await world.add({ endedAtMs: 2000 });
      await world.add({ endedAtMs: 3000 });

      expect(await world.expired(2000)).toEqual({ ids: [old, canceled], next: null });
      expect((await world.expired(1000)).ids).toEqual([]);
    });

    test('names none of the newest of each stack, over or not', async () => {
      await using world = await opened();
      const other = await world.addStack();
      const runs = [await world.add(), await world.add(), await world.add()];
      const others = [await world.add({ stackKey: other }), await world.add({ stackKey: other })];
      await world.add({ states: ['READY'] });

      expect((await world.expired(2000, { keepNewest: 1 })).ids).toEqual([...runs, others[0]]);
      expect((await world.expired(2000, { keepNewest: 2 })).ids).toEqual(runs.slice(0, 2));
      expect((await world.expired(2000, { keepNewest: 4 })).ids).toEqual([]);
    });

    test('names not the newest of each type, so that it stays known whether there was one', async () => {
      await using world = await opened();
      const other = await world.addStack();
      const first = await world.add({ type: 'TRACKED' });
      await world.add({ type: 'TRACKED' });
      await world.add({ type: 'TASK' });
      const previews = [await world.add(), await world.add()];
      await world.add({ type: 'TASK', stackKey: other });
      await world.add();

      expect((await world.expired(2000)).ids).toEqual([first, ...previews]);
    });

    test('gives page after page, whatever is removed meanwhile, and ends with what is too young', async () => {
      await using world = await opened();
      const ids = [];
      for (let n = 0; n < 7; n += 1) ids.push(await world.add());
      for (let n = 0; n < 5; n += 1) await world.add({ endedAtMs: 5000 });

      const seen = [];
      let after: string | null = null;
      let pages = 0;
      do {
        const found: { ids: readonly string[]; next: string | null } = await world.expired(2000, {
          limit: 3,
          after,
        });
        seen.push(...found.ids);
        await world.write((tx) => world.retention.removeRuns(tx, found.ids));
        after = found.next;
        pages += 1;
      } while (after !== null);

      expect(seen).toEqual(ids);
      expect(pages).toBe(3);
    });

    test('names none of which a webhook is still to be told', async () => {
      await using world = await opened();
      const stackKey = await world.addStack();
      const webhookId = await world.addWebhook(stackKey);
      const id = await world.add({ stackKey });
      await world.add({ stackKey });
      const delivery = { id: 'delivery-1', webhookId, runId: id, stateVersion: 2, createdAtMs: 1 };
      await world.write((tx) => world.deliveries.insert(tx, delivery));

      expect((await world.expired(2000)).ids).toEqual([]);
      await world.write((tx) => world.deliveries.stopPending(tx, webhookId));
      expect((await world.expired(2000)).ids).toEqual([id]);
    });

    test('removes a run with all that hangs on it, and nothing of another', async () => {
      await using world = await opened();
      const stackKey = await world.addStack();
      const webhookId = await world.addWebhook(stackKey);
      const [gone, kept] = [await world.add({ stackKey }), await world.add({ stackKey })];
      for (const runId of [gone, kept]) {
        const delivery = { id: `delivery of ${runId}`, webhookId, runId, stateVersion: 2, createdAtMs: 1 };
        await world.write((tx) => world.deliveries.insert(tx, delivery));
      }

      await world.write((tx) => world.retention.removeRuns(tx, [gone, 'never there']));
      await world.write((tx) => world.retention.removeRuns(tx, []));

      const left = async (id: string) => [
        (await world.runs.find(id))?.id ?? null,
        (await world.runs.events(id)).length,
        await world.deliveries.payload(id, 2),
        (await world.deliveries.find(`delivery of ${id}`))?.runId ?? null,
      ];
      expect(await left(gone)).toEqual([null, 0, null, null]);
      expect(await left(kept)).toEqual([kept, 2, Buffer.from('{}'), kept]);
      expect((await world.deliveries.listOfWebhook(webhookId, { before: null, limit: 9 })).length).toBe(1);
    });

    test('removes none that is not over', async () => {
      await using world = await opened();
      const id = await world.add({ states: ['READY', 'PREPARING'] });

      await world.write((tx) => world.retention.removeRuns(tx, [id]));

      expect((await world.runs.find(id))?.state).toBe('PREPARING');
    });

    test('names the old runs that have a log, until it is marked as removed', async () => {
      await using world = await opened();
      const old = await world.add();
      await world.add({ states: ['CANCELED'], hadWorker: false });
      await world.add({ states: ['READY', 'PREPARING'] });
      const second = await world.add();
      const young = await world.add({ endedAtMs: 5000 });
      const find = (after: string | null, limit = 100) =>
        world.retention.expiredLogs({ endedBeforeMs: 2000, after, limit });

      expect(await find(null)).toEqual({ ids: [old, second], next: null });
      expect(await find(null, 1)).toEqual({ ids: [old], next: old });
      expect((await find(old)).ids).toEqual([second]);
      await world.write((tx) => world.retention.markLogsRemoved(tx, [old]));
      await world.write((tx) => world.retention.markLogsRemoved(tx, []));

      expect((await find(null)).ids).toEqual([second]);
      expect((await world.runs.find(old))?.logRemoved).toBe(true);
      expect(await world.runs.find(young)).not.toHaveProperty('logRemoved');
    });
  });
}
