import { describe, expect, it } from 'vitest';
import { appendLog } from '../support/append-log.ts';
import { aPlan, openRunWorld, undrained } from '../support/run-world.ts';

const never = new AbortController().signal;
/** So long that a test which really waits fails by its own time limit. */
const longMs = 3_600_000;

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
    for (let n = 0; n < 8; n += 1) {
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
    await appendLog(world.logs, id, 'planning', 'x');
    const before = await world.states(id);

    const { server } = world;
    const command = { label: 'l', argv: ['l'], startedAtMs: 0, durationMs: 0, exitCode: 0 };
    expect([
      await server.saveFrozen(lost, lost.frozen),
      await server.prepared(lost),
      await server.initialized(lost),
      await server.planned(lost, aPlan(), undrained),
      await server.applied(lost),
      await server.failed(lost, { outcome: 'tool_failed', note: 'n' }),
      await server.handBack(lost),
      await server.heartbeat(lost, longMs, never),
    ]).toEqual(['lost', 'lost', 'lost', { next: 'lost' }, 'lost', 'lost', 'lost', 'lost']);
    expect(await server.logSize(lost, 'planning')).toBeNull();
    expect(await server.log(lost, 'planning', 1, Buffer.from('from the past'))).toBeNull();
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
    expect(await world.server.planned(assignment, aPlan(), undrained)).toEqual({ next: 'end' });
    expect(await world.claim()).toBeNull();
    await world.server.log(assignment, 'planning', 0, Buffer.from('after_run'));
    await world.finish(assignment);

    expect((await world.run(id)).state).toBe('STOPPED');
    expect((await world.logs.read(id, 'planning', 0, 100)).size).toBe(9);
    // Nobody is left to write it.
    expect(await world.logs.append(id, 'planning', 9, Buffer.from('more'))).toMatchObject({
      reason: 'sealed',
    });
    expect(await world.runs.frozen(id)).toBeNull();
    expect(await world.claim()).toBeNull();
  });

  it('of a run that was deleted with its stack finds nothing to do', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.pushed('a1');
    const assignment = await world.claimed();
    await world.database.write((tx) => world.stackStore.remove(tx, stack.key));

    const command = { label: 'l', argv: ['l'], startedAtMs: 0, durationMs: 0, exitCode: 0 };
    await world.server.command(assignment, { ...command, phase: 'planning' });
    expect(await world.server.prepared(assignment)).toBe('lost');
    expect(await world.server.planned(assignment, aPlan(), undrained)).toEqual({ next: 'lost' });
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

  it('of a failure of ours while applying locks the stack, because nobody knows what was done', async () => {
    await using world = await openRunWorld();
    const { key } = await world.addStack({ autodeploy: true });
    const id = await world.pushed('a1');
    const assignment = await world.plan({ autodeploy: true });

    await world.server.failed(assignment, { outcome: 'internal_error', note: 'Internal error.' });

    expect(await world.run(id)).toMatchObject({ state: 'FAILED', outcome: 'internal_error' });
    expect((await world.stackStore.findByKey(key))?.lock).toMatchObject({ kind: 'system', run: id });
  });

  it('of a failure of the tool while applying does not', async () => {
    await using world = await openRunWorld();
    const { key } = await world.addStack({ autodeploy: true });
    await world.pushed('a1');
    const assignment = await world.plan({ autodeploy: true });

    await world.server.failed(assignment, { outcome: 'tool_failed', note: 'error: no quota' });

    expect((await world.stackStore.findByKey(key))?.lock).toBeNull();
  });

  it('in the wrong state is a bug, and changes nothing', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const assignment = await world.claimed();

    await expect(world.server.applied(assignment)).rejects.toThrow('finish was refused in PREPARING');
    await expect(world.server.planned(assignment, aPlan(), undrained)).rejects.toThrow(
      'refused in PREPARING',
    );

    expect((await world.run(id)).state).toBe('PREPARING');
    expect(await world.runs.plan(id)).toBeNull();
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
    await world.addStack({ autodeploy: true });
    const id = await world.pushed('a1');
    const assignment = await world.plan({ autodeploy: true });
    expect((await world.run(id)).state).toBe('APPLYING');

    await expect(world.server.handBack(assignment)).rejects.toThrow('refused in APPLYING');

    expect((await world.run(id)).state).toBe('APPLYING');
    expect(await world.claim()).toBeNull();
  });
});
