import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/runs/run-event.ts';
import { openRunWorld } from '../support/run-world.ts';

describe('a change of state', () => {
  it('is told to every reactor in order, inside its transaction, with the state it led to', async () => {
    const told: string[] = [];
    const note =
      (name: string) =>
      (_: unknown, { run, actor }: RunEvent) => {
        told.push(`${name}: ${run.stateVersion} ${run.state} by ${actor}`);
        return Promise.resolve();
      };
    await using world = await openRunWorld({ reactors: [note('one'), note('two')] });
    await world.addStack();

    await world.push('a1');

    expect(told).toEqual([
      'one: 1 QUEUED by ada',
      'two: 1 QUEUED by ada',
      'one: 2 READY by server',
      'two: 2 READY by server',
    ]);
  });

  it('does not happen when a reactor cannot do its part: no state, no event, no job', async () => {
    let broken = false;
    const reactor = () => (broken ? Promise.reject(new Error('disk full')) : Promise.resolve());
    await using world = await openRunWorld({ reactors: [reactor] });
    await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    const before = { run: await world.run(id), states: await world.states(id) };
    broken = true;

    await expect(world.commands.confirm(id, { actor: 'ada' })).rejects.toThrow('disk full');
    await expect(world.push('b2')).rejects.toThrow('disk full');

    expect({ run: await world.run(id), states: await world.states(id) }).toEqual(before);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
    expect(await world.runs.unfinished(before.run.stackKey)).toHaveLength(1);
    broken = false;
    expect(await world.commands.confirm(id, { actor: 'ada' })).toMatchObject({ kind: 'done' });
  });

  it('wakes nobody when it was rolled back', async () => {
    const rung: string[] = [];
    let broken = false;
    await using world = await openRunWorld({
      reactors: [
        (tx, { run }) => {
          tx.afterCommit(() => rung.push(run.state));
          return broken ? Promise.reject(new Error('broken')) : Promise.resolve();
        },
      ],
    });
    await world.addStack();
    const id = await world.pushed('a1');
    broken = true;
    await expect(world.commands.cancel(id, { actor: 'ada' })).rejects.toThrow('broken');

    expect(rung).toEqual(['QUEUED', 'READY']);
  });

  it('is refused to whoever has an old view of the run', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const old = await world.run(id);
    await world.claimed();

    const late = world.database.write((tx) =>
      world.transitions.move(tx, old, { kind: 'cancel' }, { actor: 'ada', note: null }),
    );

    expect(await late).toEqual({ kind: 'refused', state: 'PREPARING', stateVersion: 3 });
    expect(await world.states(id)).toHaveLength(3);
  });

  it('says so when another run of the stack is in the way', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1');
    const second = await world.run(await world.pushed('b2'));

    const forced = world.database.write((tx) =>
      world.transitions.move(tx, second, { kind: 'make-ready' }, { actor: 'server', note: null }),
    );

    expect(await forced).toEqual({ kind: 'blocked' });
    expect(await world.states(second.id)).toHaveLength(1);
    expect((await world.run(first)).state).toBe('READY');
  });
});
