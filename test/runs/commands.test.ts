import { describe, expect, it } from 'vitest';
import type { RunType } from '../../src/runs/run.ts';
import { aCommit, person } from '../support/builders.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const by = (actor: string) => ({ actor });

async function unconfirmed(world: RunWorld, type: RunType = 'TRACKED') {
  const stack = await world.addStack();
  const run = await world.commands.create({
    ...{ stackKey: stack.key, type, branch: 'main', commit: aCommit(), by: person('ada') },
    dedupeKey: null,
  });
  if (run === 'duplicate') throw new Error('cannot be');
  await world.scheduler.settled();
  await world.plan();
  return { stack, id: run.id };
}

describe('of two people who act at once', () => {
  it('one confirms, and the other is told that it was done', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world);

    const answers = await Promise.all([
      world.commands.confirm(id, by('ada')),
      world.commands.confirm(id, by('bob')),
    ]);

    const run = await world.run(id);
    expect(run).toMatchObject({ state: 'CONFIRMED', stateVersion: 7 });
    expect(answers.toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
      { kind: 'conflict', state: 'CONFIRMED', stateVersion: 7 },
      { kind: 'done', run },
    ]);
  });

  it('one confirms or discards, and the other is told which', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world);

    const [confirmed, discarded] = await Promise.all([
      world.commands.confirm(id, by('ada')),
      world.commands.discard(id, by('bob')),
    ]);

    expect([confirmed.kind, discarded.kind].toSorted()).toEqual(['conflict', 'done']);
    const { state } = await world.run(id);
    expect(state).toBe(confirmed.kind === 'done' ? 'CONFIRMED' : 'DISCARDED');
    expect((await world.states(id)).at(-1)).toBe(`7 ${state}`);
  });

  it('the one who looked at an older state is told of the present one', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world);

    expect(await world.commands.confirm(id, { actor: 'ada', stateVersion: 5 })).toEqual({
      kind: 'conflict',
      state: 'UNCONFIRMED',
      stateVersion: 6,
    });
    expect(await world.commands.confirm(id, { actor: 'ada', stateVersion: 6 })).toMatchObject({
      kind: 'done',
    });
  });
});

describe('a command', () => {
  it('is written down with who gave it and why', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world);
    world.clock.advance(60_000);

    await world.commands.discard(id, { actor: 'bob', note: 'wrong region' });

    expect((await world.runs.events(id)).at(-1)).toEqual({
      ...{ state: 'DISCARDED', stateVersion: 7, actor: 'bob', note: 'wrong region' },
      timestampMs: world.clock.nowMs(),
    });
    expect((await world.run(id)).note).toBe('wrong region');
  });

  it.each(['confirm', 'discard', 'stop'] as const)('%s is refused while the run waits', async (what) => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');

    expect(await world.commands[what](id, by('ada'))).toEqual({
      kind: 'conflict',
      state: 'READY',
      stateVersion: 2,
    });
    expect(await world.states(id)).toHaveLength(2);
  });

  it.each(['confirm', 'discard', 'stop', 'cancel'] as const)(
    '%s is refused once the run is over',
    async (what) => {
      await using world = await openRunWorld();
      await world.addStack();
      const id = await world.pushed('a1');
      await world.commands.cancel(id, by('ada'));

      expect(await world.commands[what](id, by('bob'))).toMatchObject({
        kind: 'conflict',
        state: 'CANCELED',
      });
    },
  );

  it.each(['confirm', 'discard', 'stop', 'cancel', 'retry'] as const)(
    '%s of a run that is not there is refused',
    async (what) => {
      await using world = await openRunWorld();
      const answer = world.commands[what]('nobody', { actor: 'ada', by: person('ada') });
      await expect(answer).rejects.toMatchObject({ code: 'not-found' });
    },
  );

  it('creates nothing for a stack that was deleted', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.database.write((tx) => world.stackStore.remove(tx, stack.key));
    const create = world.commands.create({
      ...{ stackKey: stack.key, type: 'TRACKED', branch: 'main', commit: aCommit(), by: person('ada') },
      dedupeKey: null,
    });
    await expect(create).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('the confirmation of a tear-down', () => {
  it.each([undefined, '', 'network-prod', 'network prod'])('is not %o', async (confirmation) => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world, 'DESTROY');

    const answer = world.commands.confirm(id, {
      actor: 'ada',
      ...(confirmation === undefined ? {} : { confirmation }),
    });

    await expect(answer).rejects.toMatchObject({ code: 'confirmation-required' });
    expect((await world.run(id)).state).toBe('UNCONFIRMED');
  });

  it('is the name of the stack', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world, 'DESTROY');
    const answer = await world.commands.confirm(id, { actor: 'ada', confirmation: 'Network Prod' });
    expect(answer).toMatchObject({ kind: 'done', run: { state: 'CONFIRMED' } });
  });

  it('does not hide that the run is elsewhere by now', async () => {
    await using world = await openRunWorld();
    const { id } = await unconfirmed(world, 'DESTROY');
    await world.commands.discard(id, by('bob'));
    expect(await world.commands.confirm(id, by('ada'))).toMatchObject({
      kind: 'conflict',
      state: 'DISCARDED',
    });
  });
});

describe('a retry', () => {
  it('is a new run of the same type, branch, commit and command', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    const task = await world.commands.create({
      ...{ stackKey: stack.key, type: 'TASK', branch: 'main', commit: aCommit(), by: person('ada') },
      ...{ dedupeKey: null, command: 'ls -l' },
    });
    if (task === 'duplicate') throw new Error('cannot be');
    await world.scheduler.settled();
    await world.commands.cancel(task.id, by('ada'));

    const again = await world.commands.retry(task.id, { by: person('bob') });
    if (again === 'duplicate') throw new Error('no run was made');

    const { id, stateVersion, triggeredBy, startedBy, ...same } = again;
    expect(id).not.toBe(task.id);
    expect([stateVersion, triggeredBy, startedBy]).toEqual([1, 'bob@example.com', 'person:bob']);
    expect(task).toMatchObject(same);
  });

  it('is refused while the run is under way', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const answer = world.commands.retry(id, { by: person('ada') });
    await expect(answer).rejects.toMatchObject({ code: 'run-not-over' });
  });

  it.each(['TRACKED', 'DESTROY'] as const)(
    'of a %s run is refused when the stack tracks another branch by now',
    async (type) => {
      await using world = await openRunWorld();
      const { id, stack } = await unconfirmed(world, type);
      await world.commands.discard(id, by('ada'));
      const settings = { ...stack.settings, branch: 'release' };
      await world.database.write((tx) => world.stackStore.updateSettings(tx, stack.key, settings));

      const answer = world.commands.retry(id, { by: person('ada') });

      await expect(answer).rejects.toMatchObject({ code: 'commit-not-tracked' });
    },
  );

  it('ends no other preview', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const old = await world.pushed('a1', { branch: 'topic' });
    await world.commands.cancel(old, by('ada'));
    const head = await world.pushed('b2', { branch: 'topic' });

    await world.commands.retry(old, { by: person('ada') });
    await world.scheduler.settled();

    expect((await world.run(head)).state).toBe('READY');
  });
});

describe('a run that is prioritized', () => {
  async function threeWaiting(world: RunWorld) {
    const stack = await world.addStack();
    const ids: string[] = [];
    for (const hash of ['a', 'b', 'c', 'd']) {
      const run = await world.commands.create({
        ...{ stackKey: stack.key, type: 'TRACKED', branch: 'main', by: person('ada'), dedupeKey: null },
        commit: aCommit({ hash: hash.repeat(40) }),
      });
      if (run === 'duplicate') throw new Error('cannot be');
      ids.push(run.id);
    }
    await world.scheduler.settled();
    return ids as [string, string, string, string];
  }

  it('goes next, and of two the later wish', async () => {
    await using world = await openRunWorld();
    const [first, , third, fourth] = await threeWaiting(world);

    await world.commands.prioritize(third, {});
    await world.commands.prioritize(fourth, {});
    await world.commands.prioritize(fourth, {});
    await world.commands.cancel(first, by('ada'));
    await world.scheduler.settled();

    expect(await world.run(fourth)).toMatchObject({ state: 'READY', priority: 2 });
    expect(await world.run(third)).toMatchObject({ state: 'QUEUED', priority: 1, stateVersion: 1 });
  });

  it('must wait itself, in the version that was looked at', async () => {
    await using world = await openRunWorld();
    const [first, second] = await threeWaiting(world);

    expect(await world.commands.prioritize(first, {})).toMatchObject({ kind: 'conflict', state: 'READY' });
    expect(await world.commands.prioritize(second, { stateVersion: 2 })).toMatchObject({
      ...{ kind: 'conflict', state: 'QUEUED', stateVersion: 1 },
    });
    expect((await world.run(second)).priority).toBe(0);
  });
});
