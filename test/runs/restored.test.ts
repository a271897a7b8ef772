import { describe, expect, it } from 'vitest';
import { actorKey } from '../../src/access/actor.ts';
import { createSqliteEngine } from '../../src/engine/sqlite-engine.ts';
import { createFollowUpJobs } from '../../src/policies/follow-up-jobs.ts';
import { aCommit } from '../support/builders.ts';
import { aPolicy } from '../support/policies.ts';
import { openRunWorld, type ReactorParts, type RunWorld } from '../support/run-world.ts';

const takenAtMs = Date.UTC(2026, 4, 1, 12);
const operator = { kind: 'operator' } as const;

/** The database is the one of a backup now, and a server starts on it. */
async function restore(world: RunWorld): Promise<void> {
  await world.database.write(async (tx) => {
    const db = world.database.inside(tx);
    await db.insertInto('backup').values({ id: 1, taken_at_ms: takenAtMs }).execute();
  });
  await world.restored.settle();
  await world.recovery.start();
  await world.scheduler.sweep();
  await world.scheduler.settled();
}

async function lockOf(world: RunWorld, key: string) {
  return (await world.stackStore.findByKey(key))?.lock ?? null;
}

describe('a start on a database that was restored from a backup', () => {
  it('does not apply what was confirmed: it may have been applied since', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    await world.commands.confirm(id, { actor: 'ada' });

    await restore(world);

    const run = await world.run(id);
    expect(run).toMatchObject({ state: 'FAILED', outcome: 'backup_restored' });
    expect(run.note).toContain('2026-05-01T12:00:00.000Z, when this run was CONFIRMED');
    const assignment = await world.claimed();
    expect([assignment.run.id, assignment.half]).toEqual([id, 'finish']);
    expect(await world.claim()).toBeNull();
    expect(await lockOf(world, stack.key)).toMatchObject({ kind: 'system', holder: 'slipway', run: null });
  });

  it('fails what was being applied, and names it on the lock', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    await world.commands.confirm(id, { actor: 'ada' });
    await world.server.prepared(await world.claimed());

    await restore(world);

    expect(await world.run(id)).toMatchObject({ state: 'FAILED', outcome: 'worker_lost' });
    expect(await lockOf(world, stack.key)).toMatchObject({ kind: 'system', run: id });
  });

  it.each([
    ['READY', 'CANCELED'],
    ['PREPARING', 'STOPPED'],
    ['UNCONFIRMED', 'DISCARDED'],
  ] as const)('ends a tracked run that was %s, and the one behind it', async (was, is) => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    if (was === 'PREPARING') await world.claimed();
    if (was === 'UNCONFIRMED') await world.plan();
    expect((await world.run(id)).state).toBe(was);
    const behind = await world.pushed('a2');

    await restore(world);

    expect((await world.run(id)).state).toBe(is);
    expect((await world.run(behind)).state).toBe('CANCELED');
    expect((await world.claim())?.half ?? 'finish').toBe('finish');
    expect(await world.claim()).toBeNull();
  });

  it('starts nothing after what is over: it may have been started since', async () => {
    const reactors = ({ database, clock, newId }: ReactorParts) => [
      createFollowUpJobs({
        policies: { ofStack: async (_, kind) => (kind === 'PUSH' ? [] : [aPolicy({ kind })]) },
        queue: createSqliteEngine({ database, clock, newId }),
      }),
    ];
    await using world = await openRunWorld({ reactors });
    await world.addStack();
    await world.pushed('a1');
    await world.plan({ hasChanges: false });
    const waiting = await world.pushed('a2');
    await world.plan();

    await restore(world);

    const jobs = world.database.read.selectFrom('job').select('key').where('queue', '=', 'judge');
    const kinds = new Set((await jobs.execute()).map(({ key }) => key.split(':')[0]));
    expect(kinds).toEqual(new Set(['notification']));
    expect((await world.run(waiting)).state).toBe('DISCARDED');
  });

  it('starts no task a second time', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    world.commits.set('main', [aCommit()]);
    const { id } = await world.triggers.manual(stack, { type: 'TASK', command: 'ls' }, operator);
    await world.scheduler.settled();
    await world.server.prepared(await world.claimed());

    await restore(world);

    expect((await world.run(id)).state).toBe('STOPPED');
    expect(await world.claimed()).toMatchObject({ half: 'finish' });
  });

  it('goes on with previews, which change nothing', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.push('a1');
    const id = await world.pushed('b1', { branch: 'topic', first: { newStacks: [] } });

    await restore(world);

    expect((await world.run(id)).state).toBe('READY');
    expect((await world.claimed()).run.id).toBe(id);
  });

  it('locks every stack, and keeps the lock of a person below', async () => {
    await using world = await openRunWorld();
    const [one, two] = [await world.addStack(), await world.addStack()];
    const holderKey = actorKey(operator);
    await world.database.write((tx) =>
      world.stackStore.setLock(tx, two.key, {
        ...{ holder: 'ada', holderKey, kind: 'person', reason: 'mine', run: null, sinceMs: 1 },
      }),
    );

    await restore(world);

    const reason = expect.stringContaining('restored from a backup of 2026-05-01T12:00:00.000Z');
    expect(await lockOf(world, one.key)).toMatchObject({ kind: 'system', reason });
    expect(await lockOf(world, two.key)).toMatchObject({ kind: 'system', covers: { holder: 'ada' } });
    const id = await world.pushed('c1');
    expect((await world.run(id)).state).toBe('QUEUED');
  });

  it('happens once, and only to a backup', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    const id = await world.pushed('a1');
    await world.restored.settle();
    expect((await world.run(id)).state).toBe('READY');
    expect(await lockOf(world, stack.key)).toBeNull();

    await restore(world);
    await world.database.write((tx) => world.stackStore.setLock(tx, stack.key, null));
    await world.restored.settle();

    expect(await lockOf(world, stack.key)).toBeNull();
  });

  it('gives events numbers that no reader has seen', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    const newest = async () => {
      const query = world.database.read.selectFrom('run_event').select('seq').orderBy('seq', 'desc');
      return (await query.executeTakeFirstOrThrow()).seq;
    };
    const before = await newest();
    await restore(world);

    await world.pushed('a2');

    expect(await newest()).toBeGreaterThan(before + 1_000_000);
  });
});
