import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { maxQueuedShown } from '../../src/runs/stack-summary.ts';
import { createRetentionStore } from '../../src/storage/retention-store.ts';
import { summaryInsert } from '../../src/storage/stack-summary.ts';
import { aCommit } from '../support/builders.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';
import { tempDatabase } from '../support/temp-database.ts';

async function withStack() {
  const world = await openRunWorld();
  const { key } = await world.addStack();
  return { world, key, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const create = ({ commands }: RunWorld, stackKey: string, message = 'One line') =>
  commands.create({
    ...{ stackKey, type: 'TRACKED', branch: 'main', commit: aCommit({ message }), dedupeKey: null },
    by: { kind: 'server' },
  });

test('a stack without runs, or with previews only, has none', async () => {
  await using opened = await withStack();
  const { world, key } = opened;
  expect(await world.runs.summary(key)).toBeNull();

  await world.push('topic-head', { branch: 'topic' });

  expect(await runsOfStack(world.database, key)).toHaveLength(1);
  expect(await world.runs.summary(key)).toBeNull();
});

test.each([
  ['Widen it\n\nBecause.', 'Widen it'],
  ['', ''],
  ['x'.repeat(201), 'x'.repeat(200)],
])('of a message it has the first line, cut', async (message, subject) => {
  await using opened = await withStack();

  await create(opened.world, opened.key, message);

  expect((await opened.world.runs.summary(opened.key))?.commit.subject).toBe(subject);
});

test('it counts the runs that wait, up to a bound', async () => {
  await using opened = await withStack();
  const { world, key } = opened;
  for (let n = 0; n < maxQueuedShown + 2; n += 1) await create(world, key);

  await world.scheduler.settled();

  expect((await world.runs.summary(key))?.queued).toBe(maxQueuedShown);
});

test('it goes with the run that it shows', async () => {
  await using opened = await withStack();
  const { world, key } = opened;
  const run = await create(world, key);
  if (run === 'duplicate') throw new Error('cannot be');
  await world.scheduler.settled();
  await world.commands.cancel(run.id, { actor: 'ada' });
  expect(await world.runs.summary(key)).toMatchObject({ runId: run.id, state: 'CANCELED' });

  await world.database.write((tx) => createRetentionStore(world.database).removeRuns(tx, [run.id]));

  expect(await world.runs.summary(key)).toBeNull();
});

test('it is made without reading what the stack ever ran', async () => {
  await using temp = tempDatabase();
  const connection = new BetterSqlite3(temp.path, { readonly: true });
  const plan = connection.prepare(`explain query plan ${summaryInsert}`).all({ key: 'a' });
  connection.close();

  const steps = (plan as { detail: string }[]).map(({ detail }) => detail);
  expect(steps.filter((step) => /^SCAN (run|waiting|run_event)/.test(step))).toEqual([]);
  expect(steps).toContain('SEARCH run USING COVERING INDEX run_of_type (stack_key=? AND type=?)');
  expect(steps).toContain('SEARCH run USING INDEX run_one_blocking (stack_key=?)');
});
