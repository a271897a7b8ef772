import { describe, expect, it } from 'vitest';
import { aCommit, aPullRequest } from '../../support/builders.ts';
import { type CommentWorld, openCommentWorld } from './comment-world.ts';

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

  describe('of a deployment of the pull request', () => {
    async function promoted(world: CommentWorld) {
      const key = await world.addNamed('network');
      const id = await world.made(key, 'TRACKED', 't1', { pullRequest: aPullRequest() });
      await world.commands.cancel(id, { actor: 'ada' });
      return { key, id };
    }

    it('keeps to the rules of deploy', async () => {
      await using world = await openCommentWorld();
      await promoted(world);

      expect(await world.act('/slipway retry')).toMatchObject([{ kind: 'made', run: { type: 'TRACKED' } }]);
    });

    it('undoes nothing that was deployed since', async () => {
      await using world = await openCommentWorld();
      const { key } = await promoted(world);
      world.commits.set('main', [aCommit({ hash: 'm1' }), aCommit({ hash: 'm2' })]);
      const newer = await world.deployed(key, 'm2');

      expect(await world.act('/slipway retry')).toMatchObject([
        { refusal: { code: 'behind', head: 't1', deployed: 'm2', run: { id: newer } } },
      ]);
    });

    it('is refused once the head has moved, and once it is closed without a merge', async () => {
      await using world = await openCommentWorld();
      const { key, id } = await promoted(world);

      expect(await world.act('/slipway retry', { pullRequest: { headHash: 't2' } })).toMatchObject([
        { refusal: { code: 'head-moved', seen: 't1', head: 't2', run: { id } } },
      ]);
      expect(await world.brief('/slipway retry', { pullRequest: { state: 'closed' } })).toBe(
        'pull-request-closed',
      );
      expect(await world.runsOf(key)).toHaveLength(1);
    });
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
