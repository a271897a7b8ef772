import { describe, expect, it } from 'vitest';
import { aPullRequest } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

const merged = { pullRequest: { state: 'merged', mergeCommitHash: 'm2' } } as const;

describe.each([
  ['cancel', 'READY', 'CANCELED'],
  ['stop', 'PREPARING', 'STOPPED'],
] as const)('%s', (verb, from, to) => {
  const body = `/slipway ${verb}`;

  it(`ends the newest run of the pull request in ${from}`, async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const older = await world.proposed(key);
    if (from === 'PREPARING') await world.claimed();
    const id = await world.proposed(key);
    if (from === 'PREPARING') await world.claimed();

    expect(await world.act(body)).toMatchObject([{ kind: 'moved', run: { id, state: to } }]);
    expect(await world.run(older)).toMatchObject({ state: from });
  });

  it('is refused in another state, without one, and for one that came after the comment', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.brief(body)).toBe('no-run');
    const id = await world.proposed(key);
    expect(await world.brief(body, { agoMs: 1000 })).toBe('no-run');
    await world.commands.cancel(id, { actor: 'ada' });
    expect(await world.act(body)).toMatchObject([
      { refusal: { code: 'wrong-state', run: { id, state: 'CANCELED' } } },
    ]);
  });
});

describe('retry', () => {
  it('makes the newest run that is over once more', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const over = await world.proposed(key);
    await world.commands.cancel(over, { actor: 'ada' });
    await world.proposed(key, 't2');

    const again = await world.run(await world.brief('/slipway retry'));

    expect(again).toMatchObject({ type: 'PROPOSED', commit: { hash: 't1' }, startedBy: 'person:bob' });
  });

  it('is refused while none is over', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.brief('/slipway retry')).toBe('no-run-over');
    await world.proposed(key);
    expect(await world.brief('/slipway retry')).toBe('no-run-over');
  });

  it('is refused where the stack does not take such commits any more', async () => {
    await using world = await openCommentWorld();
    const promoted = await world.addNamed('network');
    const ours = await world.made(promoted, 'TRACKED', 't1', { pullRequest: aPullRequest() });
    await world.commands.cancel(ours, { actor: 'ada' });
    const { settings } = await world.stackOf(promoted);
    await world.database.write((tx) =>
      world.stackStore.updateSettings(tx, promoted, { ...settings, promotion: false }),
    );

    expect(await world.act('/slipway retry')).toMatchObject([
      { refusal: { code: 'promotion-off', branch: 'main' } },
    ]);

    const forked = await world.addNamed('forked');
    const isFork = { pullRequest: aPullRequest({ isFork: true }), isUntrusted: true };
    const theirs = await world.made(forked, 'PROPOSED', 't1', isFork);
    await world.commands.cancel(theirs, { actor: 'ada' });
    expect(await world.act('/slipway retry forked')).toMatchObject([
      { refusal: { code: 'forks-not-allowed' } },
    ]);
  });

  it('of a merged pull request is of the run of its merge, when that is the newest', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const preview = await world.proposed(key);
    await world.commands.cancel(preview, { actor: 'ada' });
    const tracked = await world.made(key, 'TRACKED', 'm2', { branch: 'main' });
    const again = () => world.act('/slipway retry', merged);

    expect(await again()).toMatchObject([{ run: { type: 'PROPOSED' } }]);
    await world.commands.cancel(tracked, { actor: 'ada' });
    expect(await again()).toMatchObject([{ run: { type: 'TRACKED' } }]);
  });
});
