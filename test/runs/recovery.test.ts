import { describe, expect, it } from 'vitest';
import { leaseMs } from '../../src/engine/sqlite-engine.ts';
import type { RunState } from '../../src/runs/run.ts';
import type { Reactor } from '../../src/runs/run-event.ts';
import type { Stack } from '../../src/stacks/stack.ts';
import { aCommit } from '../support/builders.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

/** What the server does when it starts on the database of a life that was cut short. */
async function restart(world: RunWorld): Promise<void> {
  await world.recovery.start();
  await world.scheduler.sweep();
  await world.scheduler.settled();
}

/** A run in the given state of its first half, in the hands of a worker. */
async function working(world: RunWorld, state: 'PREPARING' | 'INITIALIZING' | 'PLANNING') {
  await world.addStack();
  const id = await world.pushed('a1');
  const assignment = await world.claimed();
  if (state !== 'PREPARING') await world.server.prepared(assignment);
  if (state === 'PLANNING') await world.server.initialized(assignment);
  return { id, assignment };
}

/** A run whose worker may have begun to change the world. */
async function changing(world: RunWorld, state: RunState) {
  const stack = await world.addStack();
  const type = state === 'DESTROYING' ? 'DESTROY' : state === 'PERFORMING' ? 'TASK' : 'TRACKED';
  world.commits.set('main', [aCommit()]);
  const operator = { kind: 'operator' } as const;
  const { id } = await world.triggers.manual(stack, { type, command: 'ls' }, operator);
  await world.scheduler.settled();
  if (type === 'TASK') {
    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.initialized(assignment);
    return { id, stack, assignment };
  }
  await world.plan();
  await world.commands.confirm(id, { actor: 'ada', confirmation: 'Network Prod' });
  const assignment = await world.claimed();
  if (state !== 'PREPARING_APPLY') await world.server.prepared(assignment);
  return { id, stack, assignment };
}

describe('after a crash', () => {
  it.each(['PREPARING', 'INITIALIZING', 'PLANNING'] as const)(
    'a run that was %s is PREPARING again, with the next version, for the next worker',
    async (state) => {
      await using world = await openRunWorld();
      const { id, assignment } = await working(world, state);
      const before = await world.states(id);

      await restart(world);

      const version = before.length + 1;
      expect(await world.states(id)).toEqual([...before, `${version} PREPARING`]);
      expect(await world.run(id)).toMatchObject({
        restarts: 1,
        note: `worker lost in ${state}; started again`,
      });
      expect(await world.claimed()).toMatchObject({ half: 'plan', run: { id, stateVersion: version } });
      expect(await world.server.prepared(assignment)).toBe('lost');
    },
  );

  it('a run is started again twice, and the third loss is its end', async () => {
    await using world = await openRunWorld();
    const { id } = await working(world, 'PLANNING');
    await restart(world);
    await world.claimed();
    await restart(world);
    await world.claimed();
    await restart(world);

    expect(await world.run(id)).toMatchObject({
      ...{ state: 'FAILED', outcome: 'worker_lost', restarts: 2, note: 'worker lost in PREPARING 3 times' },
    });
    expect((await world.stackStore.ofRepository(21))[0]?.lock).toBeNull();
    expect(await world.claimed()).toMatchObject({ half: 'finish', run: { id } });
  });

  it.each(['PREPARING_APPLY', 'APPLYING', 'DESTROYING', 'PERFORMING'] as const)(
    'a run that was %s fails, its stack is locked, and nobody executes it again',
    async (state) => {
      await using world = await openRunWorld();
      const { id, stack, assignment } = await changing(world, state);
      expect((await world.run(id)).state).toBe(state);

      await restart(world);

      expect(await world.run(id)).toMatchObject({
        state: 'FAILED',
        outcome: 'worker_lost',
        note: `worker lost while ${state.toLowerCase()}; check the real state`,
      });
      expect((await world.stackStore.findByKey(stack.key))?.lock).toMatchObject({
        ...{ holder: 'slipway', kind: 'system', run: id, sinceMs: world.clock.nowMs() },
      });
      expect(await world.server.applied(assignment)).toBe('lost');
      for (let n = 0; n < 3; n += 1) {
        expect(await world.claimed()).toMatchObject({ half: 'finish', run: { id } });
        await restart(world);
      }
      expect((await world.run(id)).state).toBe('FAILED');
    },
  );

  it('a locked stack holds back its tracked runs until somebody unlocks it', async () => {
    await using world = await openRunWorld();
    const { stack } = await changing(world, 'APPLYING');
    const waiting = await world.pushed('c3');
    const preview = await world.pushed('d4', { branch: 'topic' });
    await restart(world);

    const locked = await world.stackStore.findByKey(stack.key);
    expect((await world.run(waiting)).state).toBe('QUEUED');
    expect((await world.run(preview)).state).toBe('READY');

    await world.stacks.unlock(locked ?? stack);
    await world.scheduler.settled();
    expect((await world.run(waiting)).state).toBe('READY');
  });

  it('a run that waits for a person, for a worker or for its turn waits on', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1');
    await world.plan();
    const second = await world.pushed('b2');
    const ready = await world.pushed('c3', { branch: 'topic' });
    const before = await Promise.all([first, second, ready].map((id) => world.states(id)));

    await restart(world);

    expect(await Promise.all([first, second, ready].map((id) => world.states(id)))).toEqual(before);
    await world.commands.confirm(first, { actor: 'ada' });
    await restart(world);
    expect(await world.claimed()).toMatchObject({ half: 'apply', run: { id: first } });
  });

  it('a run that a person stopped is finished with by the next worker', async () => {
    await using world = await openRunWorld();
    const { id } = await working(world, 'PLANNING');
    await world.commands.stop(id, { actor: 'ada' });

    await restart(world);

    expect(await world.claimed()).toMatchObject({ half: 'finish', run: { id, state: 'STOPPED' } });
    expect((await world.states(id)).at(-1)).toBe('6 STOPPED');
  });

  it('only those runs keep a workspace that somebody opens again', async () => {
    await using world = await openRunWorld();
    const stacks = [await world.addStack(), await world.addStack(), await world.addStack()];
    const start = async (stack: (typeof stacks)[number]) => {
      const { id } = await world.triggers.manual(stack, { type: 'TRACKED' }, { kind: 'operator' });
      await world.scheduler.settled();
      return id;
    };
    world.commits.set('main', [aCommit()]);
    const [first, second, third] = stacks as [Stack, Stack, Stack];
    const confirmed = await start(first);
    await world.plan();
    const unconfirmed = await start(second);
    await world.plan();
    const discarded = await start(third);
    await world.plan();
    await world.commands.confirm(confirmed, { actor: 'ada' });
    await world.commands.discard(discarded, { actor: 'ada' });
    const again = await start(third);
    const queued = await start(third);
    const claimed = [await world.claimed(), await world.claimed()];
    expect(claimed.map(({ run }) => run.id)).toEqual([discarded, confirmed]);
    const lost = confirmed;
    const planning = await world.claimed();
    expect(planning.run.id).toBe(again);

    await restart(world);

    const states = async (...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await world.run(id)).state));
    expect(await states(confirmed, unconfirmed, discarded, again, queued)).toEqual([
      ...['FAILED', 'UNCONFIRMED', 'DISCARDED', 'PREPARING', 'QUEUED'],
    ]);
    expect(await world.recovery.needingWorkspace()).toEqual(new Set([lost, unconfirmed, discarded]));

    await world.database.write((tx) => world.stackStore.remove(tx, third.key));
    expect(await world.recovery.needingWorkspace()).toEqual(new Set([lost, unconfirmed]));
  });

  it('one run that cannot be recovered keeps nobody else', async () => {
    let failing = '';
    const reactor = (_: unknown, { run }: { run: { id: string } }) =>
      run.id === failing ? Promise.reject(new Error('broken')) : Promise.resolve();
    await using world = await openRunWorld({ reactors: [reactor] });
    await world.addStack();
    const first = await world.pushed('a1', { branch: 'one' });
    const second = await world.pushed('b2', { branch: 'two' });
    await world.claimed();
    await world.claimed();
    failing = first;

    await restart(world);
    expect((await world.run(second)).stateVersion).toBe(4);
    expect((await world.run(first)).stateVersion).toBe(3);

    failing = '';
    await world.recovery.sweep();
    await world.recovery.sweep();
    expect((await world.run(first)).stateVersion).toBe(4);
  });
});

describe('while the server lives', () => {
  it('a silent worker is given up at the second look', async () => {
    await using world = await openRunWorld();
    const { id } = await working(world, 'PLANNING');
    world.clock.advance(leaseMs);

    await world.recovery.sweep();
    expect((await world.run(id)).state).toBe('PLANNING');
    await world.recovery.sweep();

    expect(await world.run(id)).toMatchObject({ state: 'PREPARING', restarts: 1 });
  });

  it('an apply is not ended because the clock was set or the machine slept', async () => {
    await using world = await openRunWorld();
    const { id, assignment } = await changing(world, 'APPLYING');
    world.clock.advance(8 * 3_600_000);

    await world.recovery.sweep();
    expect(await world.server.heartbeat(assignment, 1, new AbortController().signal)).toBe('held');
    await world.recovery.sweep();
    await world.recovery.sweep();

    expect((await world.run(id)).state).toBe('APPLYING');
    expect(await world.server.applied(assignment)).toBe('held');
  });

  it('a worker that speaks up while others are given up is spared', async () => {
    let speakUp = () => {};
    // Its turn comes between the two, as it would by chance.
    const reactor: Reactor = (tx, { note }) => {
      if (note?.startsWith('worker lost')) tx.afterCommit(() => speakUp());
      return Promise.resolve();
    };
    await using world = await openRunWorld({ reactors: [reactor] });
    await world.addStack();
    await world.push('a1', { branch: 'one' });
    await world.push('b2', { branch: 'two' });
    const [silent, late] = [await world.claimed(), await world.claimed()];
    world.clock.advance(leaseMs);
    await world.recovery.sweep();
    let beat: Promise<unknown> = Promise.resolve();
    speakUp = () => {
      beat = world.server.heartbeat(late, 1, AbortSignal.abort());
    };
    await world.recovery.sweep();

    expect(await world.run(silent.run.id)).toMatchObject({ restarts: 1 });
    expect(await world.run(late.run.id)).toMatchObject({ restarts: 0, stateVersion: 3 });
    expect(await beat).toBe('held');
  });

  it('a worker that renews in time is never disturbed', async () => {
    await using world = await openRunWorld();
    const { id, assignment } = await working(world, 'INITIALIZING');
    for (let n = 0; n < 20; n += 1) {
      world.clock.advance(5000);
      await world.server.heartbeat(assignment, 1, AbortSignal.abort());
      await world.recovery.sweep();
    }
    expect(await world.run(id)).toMatchObject({ state: 'INITIALIZING', restarts: 0 });
  });

  it('a worker that is silent while it finishes is replaced, and the run stays as it ended', async () => {
    await using world = await openRunWorld();
    const { id, assignment } = await working(world, 'PLANNING');
    await world.server.failed(assignment, { outcome: 'tool_failed', note: 'n' });
    world.clock.advance(leaseMs);

    await world.recovery.sweep();
    await world.recovery.sweep();

    expect(await world.claimed()).toMatchObject({ half: 'finish', run: { id, state: 'FAILED' } });
    await world.server.finished(assignment);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toHaveLength(1);
  });
});
