import { describe, expect, it } from 'vitest';
import { stackSettings } from '../support/builders.ts';
import { aPlan, openRunWorld, type RunWorld } from '../support/run-world.ts';

const never = new AbortController().signal;
/** So long that a test which really waits fails by its own time limit. */
const longMs = 3_600_000;

async function autodeploying(world: RunWorld) {
  await world.addStack({ autodeploy: true });
  return world.pushed('a1');
}

describe('the way of a run through its worker', () => {
  it('waits for a person with a job for nobody, and is taken up again by the confirmation', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');

    const first = await world.plan();
    expect(first).toMatchObject({ half: 'plan', run: { id, state: 'PREPARING', hadWorker: true } });
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
    expect(await world.claim()).toBeNull();

    await world.commands.confirm(id, { actor: 'ada' });
    const second = await world.claimed();
    expect(second).toMatchObject({ half: 'apply', run: { id, state: 'PREPARING_APPLY' } });
    expect(await world.server.prepared(second)).toBe('held');
    expect(await world.server.applied(second)).toBe('held');
    await world.finish(second);

    expect(await world.states(id)).toEqual([
      '1 QUEUED',
      '2 READY',
      '3 PREPARING',
      '4 INITIALIZING',
      '5 PLANNING',
      '6 UNCONFIRMED',
      '7 CONFIRMED',
      '8 PREPARING_APPLY',
      '9 APPLYING',
      '10 FINISHED',
    ]);
    expect(await world.claim()).toBeNull();
  });

  it('goes on to apply with the same worker where the stack deploys by itself', async () => {
    await using world = await openRunWorld();
    const id = await autodeploying(world);

    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.initialized(assignment);
    expect(await world.server.planned(assignment, aPlan({ autodeploy: true }))).toEqual({ next: 'apply' });

    expect(Buffer.from((await world.server.planFile(assignment)) ?? [])).toEqual(Buffer.from('the plan'));
    expect(await world.claim()).toBeNull();
    expect(await world.server.applied(assignment)).toBe('held');
    expect((await world.run(id)).state).toBe('FINISHED');
  });

  it('ends where there is nothing to change, and its worker clears up', async () => {
    await using world = await openRunWorld();
    const id = await autodeploying(world);
    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.initialized(assignment);

    const plan = aPlan({ hasChanges: false, autodeploy: true });
    expect(await world.server.planned(assignment, plan)).toEqual({ next: 'end' });

    expect(await world.run(id)).toMatchObject({ state: 'FINISHED', note: 'nothing to change' });
    expect(await world.claim()).toBeNull();
    await world.finish(assignment);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('goes by what was frozen, whatever the stack says by then', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.database.write((tx) =>
      world.stackStore.putVariable(tx, stack.key, {
        ...{ name: 'REGION', value: 'eu', secret: false, access: 'all' },
      }),
    );
    const id = await world.pushed('a1');
    const { frozen } = await world.plan();
    expect(frozen).toEqual({
      settings: stackSettings(),
      variables: [{ name: 'REGION', value: 'eu', secret: false, access: 'all' }],
      exports: {},
    });
    await world.stacks.update(stack, { name: 'Renamed', autodeploy: true });
    await world.database.write((tx) => world.stackStore.removeVariable(tx, stack.key, 'REGION'));

    await world.commands.confirm(id, { actor: 'ada' });

    expect((await world.claimed()).frozen).toEqual(frozen);
  });

  it('carries exports of hooks over the confirmation, but not into a fresh start', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const first = await world.claimed();
    await world.server.saveFrozen(first, { ...first.frozen, exports: { VENV: '/workspace/.venv' } });
    await world.server.handBack(first);

    const second = await world.plan();
    expect(second.frozen.exports).toEqual({});
    // The worker saves what the hooks of this attempt exported before it reports the plan.
    expect((await world.runs.frozen(id))?.exports).toEqual({});
  });

  it('skips the job of a stack that was deleted, and goes on with the next', async () => {
    await using world = await openRunWorld();
    const gone = await world.addStack();
    await world.pushed('a1');
    await world.stacks.remove(gone);
    await world.addStack();
    const id = await world.pushed('b2');

    expect((await world.claimed()).run.id).toBe(id);
    expect(await world.claim()).toBeNull();
  });

  it('takes blocking runs before previews', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1', { branch: 'topic' });
    const tracked = await world.pushed('b2');

    expect((await world.claimed()).run.id).toBe(tracked);
  });
});

describe('a worker that waits for work', () => {
  it('gets it as soon as there is some', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const waiting = world.server.claim(longMs, never);

    const id = await world.pushed('a1');

    expect((await waiting)?.run.id).toBe(id);
  });

  it('goes home with nothing when it is told to stop', async () => {
    await using world = await openRunWorld();
    const stop = new AbortController();
    const waiting = world.server.claim(longMs, stop.signal);
    stop.abort();
    expect(await waiting).toBeNull();
  });

  it('never shares an assignment with another', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    for (const hash of ['a1', 'b2', 'c3']) await world.push(hash, { branch: hash });

    const claims = await Promise.all([1, 2, 3, 4, 5].map(() => world.claim()));

    const ids = claims.flatMap((assignment) => (assignment ? [assignment.run.id] : []));
    expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
  });
});

describe('a heartbeat', () => {
  it('answers at once when the run is stopped under the worker', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const assignment = await world.claimed();
    const beat = world.server.heartbeat(assignment, longMs, never);

    await world.commands.stop(id, { actor: 'ada' });

    expect(await beat).toBe('ended');
    expect(await world.server.heartbeat(assignment, longMs, never)).toBe('ended');
  });

  it('misses no stop that comes while it looks', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    for (let n = 0; n < 30; n += 1) {
      await world.pushed(`commit-${n}`, { branch: `topic-${n}` });
      const assignment = await world.claimed();
      const beat = world.server.heartbeat(assignment, longMs, never);
      // Each round a little later, so that every step of the look meets the stop once.
      for (let turn = 0; turn < n; turn += 1) await Promise.resolve();
      await world.commands.stop(assignment.run.id, { actor: 'ada' });
      expect(await beat).toBe('ended');
      await world.finish(assignment);
    }
  });

  it('answers at once when the run was taken away', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    const assignment = await world.claimed();
    const beat = world.server.heartbeat(assignment, longMs, never);
    await world.recovery.start();
    expect(await beat).toBe('lost');
  });

  it('keeps the lease, and answers when it is told to', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    const assignment = await world.claimed();
    for (let n = 0; n < 4; n += 1) {
      world.clock.advance(20_000);
      expect(await world.server.heartbeat(assignment, 1, never)).toBe('held');
      await world.recovery.sweep();
    }
    expect(await world.server.heartbeat(assignment, longMs, AbortSignal.abort())).toBe('held');
    expect(await world.server.prepared(assignment)).toBe('held');
  });
});

describe('a report', () => {
  it('of a worker that lost its lease is refused and changes nothing', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const lost = await world.claimed();
    await world.recovery.start();
    const next = await world.claimed();
    await world.logs.append(id, 'planning', Buffer.from('x'));
    const before = await world.states(id);

    const { server } = world;
    const command = { label: 'l', argv: ['l'], startedAtMs: 0, durationMs: 0, exitCode: 0 };
    expect([
      await server.saveFrozen(lost, lost.frozen),
      await server.prepared(lost),
      await server.initialized(lost),
      await server.planned(lost, aPlan()),
      await server.applied(lost),
      await server.failed(lost, { outcome: 'tool_failed', note: 'n' }),
      await server.handBack(lost),
      await server.heartbeat(lost, longMs, never),
    ]).toEqual(['lost', 'lost', 'lost', { next: 'lost' }, 'lost', 'lost', 'lost', 'lost']);
    await server.log(lost, 'planning', Buffer.from('from the past'));
    await server.command(lost, { ...command, phase: 'planning' });
    await server.finished(lost);

    expect(await world.states(id)).toEqual(before);
    expect(await world.runs.frozen(id)).toBeNull();
    expect((await world.logs.read(id, 'planning', 0, 100)).size).toBe(1);
    expect(await world.runs.commands(id)).toEqual([]);
    expect(await server.prepared(next)).toBe('held');
  });

  it('after a stop says that the run is over, and the worker may finish', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const assignment = await world.claimed();
    await world.server.saveFrozen(assignment, assignment.frozen);
    await world.commands.stop(id, { actor: 'ada' });

    expect(await world.server.prepared(assignment)).toBe('ended');
    expect(await world.server.planned(assignment, aPlan())).toEqual({ next: 'end' });
    expect(await world.claim()).toBeNull();
    await world.server.log(assignment, 'planning', Buffer.from('after_run'));
    await world.finish(assignment);

    expect((await world.run(id)).state).toBe('STOPPED');
    expect((await world.logs.read(id, 'planning', 0, 100)).size).toBe(9);
    expect(await world.runs.frozen(id)).toBeNull();
    expect(await world.claim()).toBeNull();
  });

  it('of a run that was deleted with its stack finds nothing to do', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.pushed('a1');
    const assignment = await world.claimed();
    await world.stacks.remove(stack);

    const command = { label: 'l', argv: ['l'], startedAtMs: 0, durationMs: 0, exitCode: 0 };
    await world.server.command(assignment, { ...command, phase: 'planning' });
    expect(await world.server.prepared(assignment)).toBe('lost');
    expect(await world.server.planned(assignment, aPlan())).toEqual({ next: 'lost' });
    expect(await world.server.heartbeat(assignment, 1, never)).toBe('ended');
    await world.finish(assignment);
    expect(await world.claim()).toBeNull();
  });

  it('of a failure ends the run with its outcome', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const assignment = await world.claimed();

    await world.server.failed(assignment, { outcome: 'hook_failed', note: 'npm ci failed' });

    expect(await world.run(id)).toMatchObject({
      ...{ state: 'FAILED', outcome: 'hook_failed', note: 'npm ci failed' },
    });
  });

  it('in the wrong state is a bug, and changes nothing', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const assignment = await world.claimed();

    await expect(world.server.applied(assignment)).rejects.toThrow('finish was refused in PREPARING');
    await expect(world.server.planned(assignment, aPlan())).rejects.toThrow('refused in PREPARING');

    expect((await world.run(id)).state).toBe('PREPARING');
    expect(await world.runs.plan(id)).toBeNull();
  });
});

describe('what is left of a run that ended without a worker', () => {
  it('is done by the next one', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    expect(await world.runs.frozen(id)).not.toBeNull();

    await world.commands.discard(id, { actor: 'ada' });
    const assignment = await world.claimed();

    expect(assignment).toMatchObject({ half: 'finish', run: { id, state: 'DISCARDED' } });
    await world.finish(assignment);
    expect([await world.runs.frozen(id), await world.runs.planFile(id)]).toEqual([null, null]);
    expect(await world.claim()).toBeNull();
  });

  it('is nothing when no worker ever had it', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.commands.cancel(id, { actor: 'ada' });
    expect(await world.claim()).toBeNull();
  });
});

describe('a worker that stops cleanly', () => {
  it('hands its run back as often as it likes, and no loss is counted', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    for (let n = 0; n < 5; n += 1) {
      const assignment = await world.claimed();
      await world.server.prepared(assignment);
      expect(await world.server.handBack(assignment)).toBe('held');
      expect(await world.run(id)).toMatchObject({ state: 'PREPARING', restarts: 0 });
    }
    expect(await world.claimed()).toMatchObject({ half: 'plan', lease: { attempt: 6 } });
  });

  it('cannot hand back what may have changed the world', async () => {
    await using world = await openRunWorld();
    const id = await autodeploying(world);
    const assignment = await world.plan({ autodeploy: true });
    expect((await world.run(id)).state).toBe('APPLYING');

    await expect(world.server.handBack(assignment)).rejects.toThrow('refused in APPLYING');

    expect((await world.run(id)).state).toBe('APPLYING');
    expect(await world.claim()).toBeNull();
  });
});

describe('the plan that is applied', () => {
  it('is the one with the digest that was confirmed, or none', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    await world.commands.confirm(id, { actor: 'ada' });
    const assignment = await world.claimed();
    expect(Buffer.from((await world.server.planFile(assignment)) ?? [])).toEqual(Buffer.from('the plan'));

    await world.database.write((tx) =>
      world.runs.savePlan(tx, id, { hasChanges: true, steps: [], file: Buffer.from('another plan') }),
    );

    expect(await world.server.planFile(assignment)).toBeNull();
  });

  it('is none where the tool saved none', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    const assignment = await world.plan({ file: null });

    expect(await world.server.planFile(assignment)).toBeNull();
    expect((await world.run(assignment.run.id)).planDigest).toBeUndefined();
  });
});
