import { describe, expect, it } from 'vitest';
import { aPullRequest, person } from '../../support/builders.ts';
import { type CommentWorld, openCommentWorld, type Said } from './comment-world.ts';

const ofPullRequest = { pullRequest: aPullRequest() };

async function standing(world: CommentWorld, said: Said = {}) {
  const answer = await world.say('/slipway status', { by: 'rita', ...said });
  if (answer.kind !== 'status') throw new Error(`no status: ${answer.kind}`);
  const [only] = answer.stacks;
  return only;
}

describe('status', () => {
  it('says that there is no run yet', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network');

    expect(await standing(world)).toEqual({
      ...{ stack: 'network', run: null, delta: null, waitsFor: null, lock: null, note: null },
    });
  });

  it('says which run is the newest, of which commit, and that it waits for a worker', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.proposed(key);
    const id = await world.proposed(key, 't2');
    const url = `https://slipway.example/runs/${id}`;
    const run = { id, url, type: 'PROPOSED', state: 'READY', commit: 't2' };

    expect(await standing(world)).toMatchObject({
      run: { ...run, isOfHead: false },
      waitsFor: { kind: 'worker' },
    });
    expect(await standing(world, { pullRequest: { headHash: 't2' } })).toMatchObject({
      run: { isOfHead: true },
    });
  });

  it('says what a run in the queue waits for, and its place', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const first = await world.waiting(key, 'm1', { branch: 'main' });
    const hurried = await world.made(key, 'TRACKED', 'm2', { branch: 'main' });
    await world.made(key, 'TRACKED', 'm3', { branch: 'main' });
    const ours = await world.made(key, 'TRACKED', 't1', ofPullRequest);

    const blocker = { kind: 'run', run: { id: first, state: 'UNCONFIRMED' } };
    expect(await standing(world)).toMatchObject({
      ...{
        run: { id: ours, state: 'QUEUED' },
        waitsFor: { kind: 'turn', blocker, queue: { place: 3, of: 3 } },
      },
    });

    await world.database.write((tx) => world.runs.setPriority(tx, ours, 5));
    expect(await standing(world)).toMatchObject({ waitsFor: { queue: { place: 1, of: 3 } } });

    await world.database.write((tx) => world.runs.setPriority(tx, hurried, 9));
    await world.commands.discard(first, { actor: 'ada' });
    await world.scheduler.settled();
    expect(await standing(world)).toMatchObject({
      waitsFor: { blocker: { run: { id: hurried } }, queue: { place: 1, of: 2 } },
    });
  });

  it('says that a lock keeps it back, and whose', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.stacks.lock(await world.stackOf(key), person('olga'), 'release');
    await world.made(key, 'TRACKED', 't1', ofPullRequest);

    expect(await standing(world)).toMatchObject({
      waitsFor: { kind: 'turn', blocker: { kind: 'lock' }, queue: { place: 1, of: 1 } },
      lock: { holder: 'olga', reason: 'release' },
    });
    await world.setPublic(true);
    expect(await standing(world)).toMatchObject({ lock: { holder: null, reason: null } });
  });

  it('says what was planned, and that it waits for people', async () => {
    await using world = await openCommentWorld();
    await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);

    expect(await standing(world)).toMatchObject({
      ...{ waitsFor: { kind: 'confirmation' }, delta: { added: 1, changed: 0, deleted: 0, resources: 1 } },
    });
  });

  it.each([
    [false, 'ended by hand'],
    [true, null],
  ])('says why a run is over; public: %s', async (isPublic, note) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.setPublic(isPublic);
    await world.commands.cancel(await world.proposed(key), { actor: 'ada', note: 'ended by hand' });

    expect(await standing(world)).toMatchObject({ run: { state: 'CANCELED' }, waitsFor: null, note });
  });

  it('of a merged pull request is that of what its merge started', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.proposed(key);
    const id = await world.made(key, 'TRACKED', 'm2', { branch: 'main' });
    const pullRequest = { state: 'merged', mergeCommitHash: 'm2' } as const;

    expect(await standing(world, { pullRequest })).toMatchObject({ run: { id, isOfHead: true } });
  });
});
