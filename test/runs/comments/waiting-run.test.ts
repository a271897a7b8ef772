import { describe, expect, it } from 'vitest';
import { aPullRequest } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

const ofPullRequest = { pullRequest: aPullRequest() };

describe.each([
  ['confirm', 'CONFIRMED'],
  ['discard', 'DISCARDED'],
] as const)('%s', (verb, state) => {
  const body = `/slipway ${verb}`;

  it('answers the run of the pull request that waits', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const id = await world.waiting(key, 't1', ofPullRequest);

    expect(await world.act(body)).toMatchObject([{ kind: 'moved', run: { id, state } }]);

    const last = (await world.runs.events(id)).at(-1);
    expect(last).toMatchObject({ state, actor: 'bob' });
  });

  it.each([
    ['the head, which a push made', 't1', { state: 'open' }],
    ['the merge, which a push made', 'm2', { state: 'merged', mergeCommitHash: 'm2' }],
  ] as const)('answers a run of %s', async (_, hash, pullRequest) => {
    await using world = await openCommentWorld();
    const id = await world.waiting(await world.addNamed('network'), hash);

    expect(await world.act(body, { pullRequest })).toMatchObject([{ kind: 'moved', run: { id } }]);
  });

  it('leaves a run of something else alone', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const id = await world.waiting(key, 'm1', { pullRequest: aPullRequest({ number: 8 }) });

    expect(await world.act(body)).toMatchObject([{ refusal: { code: 'of-another', run: { id } } }]);
    // What a merge put there is of this one only once it is merged.
    expect(await world.brief(body, { pullRequest: { state: 'open', mergeCommitHash: null } })).toBe(
      'of-another',
    );
    expect(await world.run(id)).toMatchObject({ state: 'UNCONFIRMED' });
  });

  it('is refused when nothing waits, and says what there is instead', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.act(body)).toMatchObject([{ refusal: { code: 'nothing-waits', run: null } }]);
    const id = await world.made(key, 'TRACKED', 't1', ofPullRequest);
    expect(await world.act(body)).toMatchObject([
      { refusal: { code: 'nothing-waits', run: { id, state: 'READY' } } },
    ]);
  });

  it('is refused when the head moved, by a push or by force', async () => {
    await using world = await openCommentWorld();
    const id = await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);

    expect(await world.act(body, { pullRequest: { headHash: 't2' } })).toMatchObject([
      { refusal: { code: 'head-moved', seen: 't1', head: 't2', run: { id } } },
    ]);
    expect(await world.run(id)).toMatchObject({ state: 'UNCONFIRMED' });
  });

  it.each([
    ['the second before', 1000, 'not-seen-yet'],
    ['the same second', 999, 'moved'],
  ])('is refused when the run began to wait after the comment: %s', async (_, agoMs, outcome) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.made(key, 'TRACKED', 't1', ofPullRequest);
    world.clock.advance(10_999);
    await world.plan();

    const [came] = await world.act(body, { agoMs });

    expect(came?.kind === 'refused' ? came.refusal.code : came?.kind).toBe(outcome);
  });

  it('acts on each stack that has one', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('dns');
    await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);

    expect(await world.act(body)).toMatchObject([
      { stack: 'dns', refusal: { code: 'nothing-waits' } },
      { stack: 'network', run: { state } },
    ]);
  });
});

describe('a closed pull request', () => {
  it('has nothing to confirm any more, but its plan can be discarded', async () => {
    await using world = await openCommentWorld();
    await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);
    const closed = { pullRequest: { state: 'closed' } } as const;

    expect(await world.brief('/slipway confirm', closed)).toBe('pull-request-closed');
    expect(await world.act('/slipway discard', closed)).toMatchObject([{ run: { state: 'DISCARDED' } }]);
  });
});

describe('a tear-down', () => {
  it('is never confirmed by a comment, but may be discarded', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const id = await world.waiting(key, 't1', { ...ofPullRequest, type: 'DESTROY' });

    expect(await world.act('/slipway confirm')).toMatchObject([
      { refusal: { code: 'tear-down', run: { id } } },
    ]);
    expect(await world.act('/slipway discard')).toMatchObject([{ run: { id, state: 'DISCARDED' } }]);
  });
});

it.each(['approve', 'reject'])('%s has no policies to answer to', async (verb) => {
  await using world = await openCommentWorld();
  const id = await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);

  expect(await world.brief(`/slipway ${verb}`)).toBe('no-approval-policies');
  expect(await world.run(id)).toMatchObject({ state: 'UNCONFIRMED' });
});
