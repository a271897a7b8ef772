import { expect, test } from 'vitest';
import { laneOf } from '../../src/github/feedback/outbox-store.ts';
import { sweepChecks } from '../../src/github/feedback/retention.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const dayMs = 24 * 60 * 60 * 1000;

test('checks of commits are forgotten after so many days, however many they are', async () => {
  await using temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const outbox = createOutboxStore(database);
  const exists = async (id: string) => (await outbox.find(id)) !== null;
  const of = { kind: 'check_run', runId: null, repositoryId: 5, lane: laneOf(5, 'check_run') } as const;
  await database.write(async (tx) => {
    for (let number = 0; number < 450; number += 1) {
      await outbox.want(tx, { ...of, id: `unaffected:${number}`, desired: {} }, clock.nowMs());
      if (number !== 7) await outbox.sent(tx, `unaffected:${number}`, 1, number);
    }
  });
  const parts = { outbox, transactions: database, clock, pauseMs: 1 };
  const sweep = (days: number) => sweepChecks({ ...parts, days }, new AbortController().signal);
  clock.advance(40 * dayMs);

  await sweep(0);
  await sweep(41);
  expect(await exists('unaffected:0')).toBe(true);
  await sweep(39);

  expect([await exists('unaffected:0'), await exists('unaffected:449')]).toEqual([false, false]);
  // GitHub does not show it yet.
  expect(await exists('unaffected:7')).toBe(true);
});
