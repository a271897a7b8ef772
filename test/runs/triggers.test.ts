import { describe, expect, it } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import { aCommit } from '../support/builders.ts';
import { openRunWorld } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

const ada: Actor = { kind: 'person', login: 'ada', email: 'ada@example.com' };

describe('a push to the tracked branch', () => {
  it('makes a tracked run that is ready at once, with a version for each state', async () => {
    await using world = await openRunWorld();
    await world.addStack();

    const id = await world.pushed('a1');

    expect(await world.states(id)).toEqual(['1 QUEUED', '2 READY']);
    expect(await world.run(id)).toMatchObject({
      type: 'TRACKED',
      state: 'READY',
      stateVersion: 2,
      branch: 'main',
      commit: { hash: 'a1' },
      triggeredBy: 'ada@example.com',
    });
    expect(await world.runs.events(id)).toMatchObject([{ actor: 'ada' }, { actor: 'server' }]);
  });

  it('waits for the run before it, and is ready when that is over', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1');
    const second = await world.pushed('b2');
    const third = await world.pushed('c3');
    expect(await world.states(second)).toEqual(['1 QUEUED']);

    await world.commands.cancel(first, { actor: 'ada' });
    await world.scheduler.settled();

    expect(await world.states(second)).toEqual(['1 QUEUED', '2 READY']);
    expect(await world.states(third)).toEqual(['1 QUEUED']);
  });

  it('keeps its place while the run before it waits for a person', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1');
    await world.plan();
    const second = await world.pushed('b2');

    expect((await world.run(first)).state).toBe('UNCONFIRMED');
    expect((await world.run(second)).state).toBe('QUEUED');

    await world.commands.discard(first, { actor: 'ada' });
    await world.scheduler.settled();
    expect((await world.run(second)).state).toBe('READY');
  });

  it('starts with the newest commit when it is the first of a stack, and once', async () => {
    await using world = await openRunWorld();
    const { key, id } = await world.addStack();
    const first = { newStacks: [id], headNow: aCommit({ hash: 'b2' }) };

    await world.pushed('a1', { first });
    expect(await world.push('b2')).toEqual([expect.stringContaining('already')]);
    await world.push('a1', { isLate: true, first: { ...first, newStacks: [] } });

    const runs = await runsOfStack(world.database, key);
    expect(runs.at(-1)?.commit.hash).toBe('b2');
    expect(runs.filter(({ commit }) => commit.hash === 'b2')).toHaveLength(1);
  });

  it('makes a run again when it rolls back to an older commit, but none for the commit of the newest', async () => {
    await using world = await openRunWorld();
    await world.addStack();

    const made = [await world.push('a1'), await world.push('b2'), await world.push('a1')].flat();
    const again = await world.push('a1');

    expect(made).toEqual([1, 2, 3].map(() => expect.stringMatching(/TRACKED run /)));
    expect(again).toEqual([expect.stringContaining('already')]);
  });

  it('makes one run, however often and however concurrently its delivery is handled', async () => {
    await using world = await openRunWorld();
    const { key } = await world.addStack();

    const deliveries = ['one', 'one', 'two'].map((delivery) => world.push('a1', { delivery }));
    await Promise.all(deliveries);
    await world.push('b2');
    await world.push('a1', { delivery: 'one' });

    const runs = await runsOfStack(world.database, key);
    expect(runs.map(({ commit }) => commit.hash)).toEqual(['b2', 'a1']);
  });

  it('is no reason to end an older tracked run', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1');
    await world.claimed();
    await world.pushed('b2');

    expect((await world.run(first)).state).toBe('PREPARING');
  });
});

describe('a push to another branch', () => {
  const topic = { branch: 'topic' };

  it('makes a preview that waits for nothing', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    await world.claimed();

    const preview = await world.pushed('b2', topic);

    expect(await world.run(preview)).toMatchObject({ type: 'PROPOSED', state: 'READY', branch: 'topic' });
  });

  it('ends older previews of the branch: canceled while they wait, stopped while they work', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const working = await world.pushed('a1', topic);
    await world.claimed();
    const waiting = await world.pushed('b2', topic);
    expect((await world.run(working)).state).toBe('STOPPED');
    const elsewhere = await world.pushed('d4', { branch: 'other' });

    const newest = await world.pushed('c3', topic);

    expect(await world.run(waiting)).toMatchObject({
      state: 'CANCELED',
      note: `superseded by run ${newest}`,
    });
    expect((await world.run(elsewhere)).state).toBe('READY');
    expect((await world.run(newest)).state).toBe('READY');
  });

  it('ends no tracked run, and no preview is ended by one', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const preview = await world.pushed('a1', topic);
    const tracked = await world.pushed('b2');
    await world.pushed('c3', topic);

    expect((await world.run(tracked)).state).toBe('READY');
    expect((await world.run(preview)).state).toBe('CANCELED');
  });

  it('makes one preview of a commit, whichever event tells of it', async () => {
    await using world = await openRunWorld();
    const { key } = await world.addStack();
    await Promise.all([
      world.push('a1', { ...topic, delivery: 'one' }),
      world.push('a1', { ...topic, delivery: 'two' }),
    ]);
    expect(await runsOfStack(world.database, key)).toHaveLength(1);
  });

  it('is not ended by a person who looks at an older commit again', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.push('a1', topic);
    const head = await world.pushed('b2', topic);

    const look = await world.triggers.manual(stack, { type: 'PROPOSED', branch: 'topic', sha: 'a1' }, ada);
    await world.scheduler.settled();

    expect(look.commit.hash).toBe('a1');
    expect((await world.run(head)).state).toBe('READY');
  });
});

it('says for each stack of the repository why a push started nothing', async () => {
  await using world = await openRunWorld();
  expect(await world.push('a1')).toEqual(['no stack belongs to the repository']);
  const network = await world.addStack({ projectRoot: 'network' });
  const all = await world.addStack();

  const notes = await world.push('b2');

  expect(notes).toEqual([
    `${network.id}: no changed path belongs to the stack`,
    expect.stringMatching(`${all.id}: TRACKED run `),
  ]);
});

it('names every stack that a push does not start, however many, by the reason', async () => {
  await using world = await openRunWorld();
  const ids: string[] = [];
  for (let number = 1; number <= 12; number += 1) {
    ids.push((await world.addStack({ projectRoot: `net-${number}` })).id);
  }
  const all = await world.addStack();

  const notes = await world.push('b2');

  expect(notes).toEqual([
    `12 stacks: no changed path belongs to the stack (${ids.join(', ')})`,
    expect.stringMatching(`^${all.id}: TRACKED run `),
  ]);
});

describe('a push that comes after a newer one', () => {
  const late = { isLate: true, before: 'zero' } as const;

  it.each(['main', 'topic'])('to %s starts nothing when its commit is an older one', async (branch) => {
    await using world = await openRunWorld();
    await world.addStack();
    world.commits.set(branch, [aCommit({ hash: 'a1' })]);
    const newer = await world.pushed('b2', { branch, before: 'a1' });

    const notes = await world.push('a1', { branch, ...late });

    expect(notes).toEqual([expect.stringContaining(`a1 is older than the commit of run ${newer}`)]);
    expect((await world.run(newer)).state).toBe('READY');
  });

  it('starts its run when its commit only is on another line that the branch has not left', async () => {
    await using world = await openRunWorld();
    await world.addStack({ promotion: true });
    world.commits.set('topic', [aCommit({ hash: 'c3' })]);
    const [stack] = await world.stackStore.ofRepository(21);
    if (!stack) throw new Error('no stack');
    await world.triggers.manual(stack, { type: 'TRACKED', branch: 'topic' }, ada);

    expect(await world.push('a1')).toEqual([expect.stringMatching(/TRACKED run /)]);
  });

  it('starts nothing when the branch was moved away from its commit', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('b2', { isForced: true });

    const notes = await world.push('a1', { ...late, isForced: true });

    expect(notes).toEqual([expect.stringContaining('a1 is not on main any more')]);
  });

  it('starts nothing when the branch went back to the commit that runs already', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    await world.push('a1', { before: 'b2', isForced: true });

    const notes = await world.push('b2', { isLate: true, before: 'a1' });

    expect(notes).toEqual([expect.stringContaining('b2 is not on main any more')]);
  });

  it('starts nothing when GitHub knows nothing of its commit any more', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('b2');
    world.commits.clear();

    expect(await world.push('a1', late)).toEqual([expect.stringContaining('a1 is not on main any more')]);
  });

  it('ends no preview when it is told again', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const topic = { branch: 'topic' };
    await world.pushed('a1', topic);
    await world.pushed('b2', { ...topic, delivery: 'told-twice' });
    const present = await world.pushed('a1', { ...topic, isForced: true });

    await world.push('b2', { ...topic, delivery: 'told-twice', before: 'a1' });

    expect((await world.run(present)).state).toBe('READY');
  });

  it('is tried again later while GitHub cannot be asked', async () => {
    await using world = await openRunWorld({ sourceFails: true });
    await world.addStack();
    await world.pushed('b2');
    await expect(world.push('a1', late)).rejects.toThrow('GitHub does not answer');
  });
});

describe('a preview of a commit', () => {
  const topic = { branch: 'topic' };

  it('is made again when the branch goes back to a commit whose preview was superseded', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1', topic);
    const second = await world.pushed('b2', topic);

    const again = await world.pushed('a1', { ...topic, isForced: true });

    expect(await world.run(first)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    expect(await world.run(second)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    expect((await world.run(again)).state).toBe('READY');
  });

  it('is not made again when it was stopped by a person, or is done', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const first = await world.pushed('a1', topic);
    await world.commands.cancel(first, { actor: 'ada' });
    const second = await world.pushed('b2', topic);

    const notes = await world.push('a1', { ...topic, isForced: true });

    expect(notes).toEqual([expect.stringContaining('already')]);
    expect(await world.run(second)).toMatchObject({ state: 'CANCELED', note: `superseded by run ${first}` });
  });
});

describe('a run by hand', () => {
  async function withCommits() {
    const world = await openRunWorld();
    const stack = await world.addStack();
    world.commits.set('main', [aCommit({ hash: 'a1' }), aCommit({ hash: 'b2' })]);
    world.commits.set('topic', [aCommit({ hash: 'c3' })]);
    return { world, stack, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  it('takes the head of the tracked branch, and any number of them of one commit', async () => {
    await using opened = await withCommits();
    const { world, stack } = opened;

    const [one, two] = [
      await world.triggers.manual(stack, { type: 'TRACKED' }, ada),
      await world.triggers.manual(stack, { type: 'TRACKED' }, ada),
    ];

    expect(one).toMatchObject({ commit: { hash: 'b2' }, branch: 'main', triggeredBy: 'ada@example.com' });
    expect(two.id).not.toBe(one.id);
    expect(one.startedBy).toBe('person:ada');
  });

  it('takes a commit that can be reached from its branch', async () => {
    await using opened = await withCommits();
    const { world, stack } = opened;
    const run = await world.triggers.manual(stack, { type: 'DESTROY', sha: 'a1' }, ada);
    expect(run).toMatchObject({ type: 'DESTROY', commit: { hash: 'a1' } });
  });

  it.each([
    [{ type: 'TRACKED', sha: 'c3' }, 'commit-not-found', 'sha'],
    [{ type: 'PROPOSED', branch: 'gone' }, 'commit-not-found', 'branch'],
    [{ type: 'TRACKED', branch: 'topic' }, 'commit-not-tracked', 'branch'],
    [{ type: 'DESTROY', branch: 'topic' }, 'commit-not-tracked', 'branch'],
    [{ type: 'TASK', branch: 'topic', command: 'ls' }, 'commit-not-tracked', 'branch'],
    [{ type: 'TASK' }, 'command-required', 'command'],
    [{ type: 'TASK', command: '  ' }, 'command-required', 'command'],
    [{ type: 'TASK', command: 'ls\0' }, 'command-required', 'command'],
  ] as const)('%o is refused with %s', async (request, code, path) => {
    await using opened = await withCommits();
    const { world, stack } = opened;

    const refused = world.triggers.manual(stack, request, ada);

    await expect(refused).rejects.toMatchObject({ code, issues: [{ path }] });
    expect(await runsOfStack(world.database, stack.key)).toEqual([]);
  });

  it('takes another branch where promotion is on, and for a preview anyway', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack({ promotion: true });
    world.commits.set('topic', [aCommit({ hash: 'c3' })]);
    const request = { branch: 'topic' } as const;

    expect(await world.triggers.manual(stack, { type: 'TRACKED', ...request }, ada)).toMatchObject({
      branch: 'topic',
    });
    expect(await world.triggers.manual(stack, { type: 'PROPOSED', ...request }, ada)).toMatchObject({
      branch: 'topic',
    });
  });

  it('keeps a command for tasks only, and names a token by its name', async () => {
    await using opened = await withCommits();
    const { world, stack } = opened;
    const token = { kind: 'token', id: 't', name: 'ci', role: 'writer', account: null } as const;

    const task = await world.triggers.manual(stack, { type: 'TASK', command: 'ls' }, token);
    const preview = await world.triggers.manual(stack, { type: 'PROPOSED', command: 'ls' }, token);

    expect(task).toMatchObject({ command: 'ls', triggeredBy: 'ci' });
    expect(preview.command).toBeUndefined();
  });
});
