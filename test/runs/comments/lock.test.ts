import { describe, expect, it } from 'vitest';
import { person } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

describe('lock', () => {
  it('is held by who wrote the comment, with where it came from', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.brief('/slipway lock')).toBe('locked');

    expect((await world.stackOf(key)).lock).toMatchObject({
      ...{ holder: 'bob', holderKey: 'person:bob', kind: 'person', reason: 'from #7' },
    });
  });

  it.each([
    [false, false, { holder: 'ada', reason: 'release' }],
    [true, true, { holder: 'ada', reason: 'release' }],
    [true, false, { holder: null, reason: null }],
  ])('of somebody else stays; public %s, details %s', async (isPublic, publicDetails, shown) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network', { publicDetails });
    await world.setPublic(isPublic);
    await world.stacks.lock(await world.stackOf(key), person('ada'), 'release');

    expect(await world.act('/slipway lock')).toEqual([
      { stack: 'network', kind: 'refused', refusal: { code: 'locked', ...shown } },
    ]);
    expect((await world.stackOf(key)).lock).toMatchObject({ holder: 'ada' });
  });
});

describe('unlock', () => {
  it.each([
    ['bob', 'unlocked', 'eyes'],
    ['ada', 'lock-not-yours', '-1'],
    ['olga', 'unlocked', 'eyes'],
  ] as const)('by %s of a lock that is held by bob: %s', async (by, outcome, reaction) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.say('/slipway lock');

    expect(await world.brief('/slipway unlock', { by, id: 900 })).toBe(outcome);

    expect((await world.stackOf(key)).lock === null).toBe(outcome === 'unlocked');
    expect(world.reactions.get(900)).toBe(reaction);
  });

  it('lets waiting runs go on', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.say('/slipway lock');
    const id = await world.made(key, 'TRACKED', 't1');
    expect(await world.run(id)).toMatchObject({ state: 'QUEUED' });

    await world.say('/slipway unlock');

    expect(await world.run(id)).toMatchObject({ state: 'READY' });
  });

  it('takes no lock away that came after the comment', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.stacks.lock(await world.stackOf(key), person('bob'), 'wait');

    expect(await world.brief('/slipway unlock', { agoMs: 1000 })).toBe('locked-since');
    expect(await world.brief('/slipway unlock')).toBe('unlocked');
    expect(await world.brief('/slipway unlock')).toBe('not-locked');
  });
});
