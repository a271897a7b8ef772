import { describe, expect, it } from 'vitest';
import type { RunState, RunType } from '../../src/runs/run.ts';
import type { MissedQuery, MissedStore } from '../../src/webhooks/missed-store.ts';
import { everyEvent } from '../../src/webhooks/webhook.ts';

export interface MissedStoreWorld extends AsyncDisposable {
  readonly missed: MissedStore;
  addStack(): Promise<string>;
  addWebhook(stackKey: string): Promise<string>;
  /** A run that was made at `atMs` and went through these states, a second each. Its id. */
  addRun(stackKey: string, atMs: number, states: readonly RunState[], type?: RunType): Promise<string>;
  /** Gives the webhook a delivery of each state change up to that version. */
  deliver(webhookId: string, runId: string, upTo: number, status: 'delivered' | 'skipped'): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;
const startMs = Date.parse('2026-11-21T10:00:00Z');
const states = ['QUEUED', 'READY', 'PREPARING', 'FAILED'] as const;

/** What every store that tells what webhooks missed must do. */
export function missedStoreContract(name: string, open: () => Promise<MissedStoreWorld>): void {
  async function withWebhook() {
    const world = await open();
    const stackKey = await world.addStack();
    const webhookId = await world.addWebhook(stackKey);
    const query: MissedQuery = { webhookId, stackKey, filter: everyEvent, sinceMs: startMs, limit: 1000 };
    return {
      ...world,
      stackKey,
      webhookId,
      count: (change: Partial<MissedQuery> = {}) => world.missed.missed({ ...query, ...change }),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  describe(`what webhooks missed, on ${name},`, () => {
    it('is the state changes of the stack from a time on', async () => {
      await using world = await withWebhook();
      const other = await world.addStack();
      await world.addRun(world.stackKey, startMs - 1000, states);
      await world.addRun(world.stackKey, startMs + dayMs, states, 'PROPOSED');
      await world.addRun(other, startMs, states);

      expect(await world.count()).toBe(7);
      expect(await world.count({ sinceMs: startMs + 2000 })).toBe(5);
      expect(await world.count({ sinceMs: startMs + 2 * dayMs })).toBe(0);
    });

    it('is what was not delivered, whatever else became of it', async () => {
      await using world = await withWebhook();
      const other = await world.addWebhook(world.stackKey);
      const one = await world.addRun(world.stackKey, startMs, states);
      const two = await world.addRun(world.stackKey, startMs + 1, states);
      await world.deliver(world.webhookId, one, 3, 'delivered');
      await world.deliver(world.webhookId, two, 2, 'skipped');
      await world.deliver(other, two, 4, 'delivered');

      expect(await world.count()).toBe(5);
      expect(await world.count({ webhookId: other })).toBe(4);
    });

    it('is what the webhook wants only', async () => {
      await using world = await withWebhook();
      await world.addRun(world.stackKey, startMs, states);
      await world.addRun(world.stackKey, startMs + 1, states, 'PROPOSED');
      const filter = (change: Partial<MissedQuery['filter']>) => ({ filter: { ...everyEvent, ...change } });

      expect(await world.count(filter({ states: ['QUEUED', 'FAILED'] }))).toBe(4);
      expect(await world.count(filter({ runTypes: ['PROPOSED'] }))).toBe(4);
      expect(await world.count(filter({ states: ['FAILED'], runTypes: ['TASK', 'TRACKED'] }))).toBe(1);
      expect(await world.count(filter({ states: ['APPLYING'] }))).toBe(0);
    });

    it('is counted no further than asked', async () => {
      await using world = await withWebhook();
      await world.addRun(world.stackKey, startMs, states);
      expect(await world.count({ limit: 3 })).toBe(3);
      expect(await world.count({ limit: 4 })).toBe(4);
    });
  });
}
