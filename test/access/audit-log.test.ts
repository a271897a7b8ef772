import { expect, test } from 'vitest';
import { createAuditLog, noSubject } from '../../src/access/audit-log.ts';
import { commandLine } from '../../src/access/origin.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { auditRows } from '../support/audit-rows.ts';
import { person } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const dayMs = 86_400_000;
const never = new AbortController().signal;

function opened() {
  const temp = tempDatabase();
  const clock = manualClock();
  const transactions = temp.database;
  const log = createAuditLog({ store: createAuditStore(temp.database), transactions, clock });
  const entry = {
    ...{ actor: person('Ada'), origin: commandLine, operation: 'PUT /x', params: {}, subject: noSubject },
  };
  return { temp, clock, transactions, log, entry, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

test('what is begun has an unknown outcome until it ends', async () => {
  await using world = opened();
  const seq = await world.log.begin(world.entry);

  expect(await auditRows(world.log)).toMatchObject([
    { seq, atMs: world.clock.nowMs(), outcome: 'unknown', actor: { key: 'person:ada', name: 'Ada' } },
  ]);
  await world.log.end(seq, { outcome: 'refused', status: 409, note: null });
  expect(await auditRows(world.log)).toMatchObject([{ seq, outcome: 'refused', status: 409 }]);
});

test('a token among the parameters is not written down', async () => {
  await using world = opened();
  const token = `slipway_${'aB3-_'.repeat(9).slice(0, 43)}`;
  await world.log.begin({ ...world.entry, params: { token, name: `slipway_prod of ${token}` } });
  expect((await auditRows(world.log))[0]?.params).toEqual({
    token: 'slipway_…',
    name: 'slipway_prod of slipway_…',
  });
});

test('parameters are cut', async () => {
  await using world = opened();
  await world.log.begin({ ...world.entry, params: { name: 'x'.repeat(5000) } });
  expect((await auditRows(world.log))[0]?.params).toEqual({ name: 'x'.repeat(200) });
});

test('what decides otherwise takes its row along', async () => {
  await using world = opened();
  const failing = world.transactions.write(async (tx) => {
    await world.log.note(tx, world.entry, { outcome: 'done', note: null });
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await auditRows(world.log)).toEqual([]);
});

test('what is too old goes, all of it; with 0 days nothing does', async () => {
  await using world = opened();
  await world.transactions.write(async (tx) => {
    for (let made = 0; made < 1100; made += 1) {
      await world.log.note(tx, world.entry, { outcome: 'done', note: null });
    }
  });
  world.clock.advance(3 * dayMs);
  const young = await world.log.begin(world.entry);

  await world.log.removeOld(0, never);
  expect(await auditRows(world.log)).toHaveLength(1101);
  await world.log.removeOld(2, AbortSignal.abort());
  expect(await auditRows(world.log)).toHaveLength(1101);
  await world.log.removeOld(2, never);
  expect(await auditRows(world.log)).toMatchObject([{ seq: young }]);
});
