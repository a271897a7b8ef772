import { describe, expect, it } from 'vitest';
import { aPullRequest } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

const ofPullRequest = { pullRequest: aPullRequest() };

describe.each(['approve', 'reject'] as const)('%s', (verb) => {
  const body = `/slipway ${verb}`;

  it('reviews the run of the pull request that waits', async () => {
    await using world = await openCommentWorld();
    const id = await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);
    world.guards.push('p1 1');

    const outcomes = await world.act(body);

    expect(outcomes).toMatchObject([{ kind: 'reviewed', verdict: verb, run: { id, state: 'UNCONFIRMED' } }]);
    expect(await world.reviews.ofRun(id)).toMatchObject([
      { verdict: verb, reviewer: { key: 'person:bob', name: 'bob' }, role: 'writer', via: 'comment' },
    ]);
  });

  it('reviews one that waits to begin', async () => {
    await using world = await openCommentWorld();
    world.guards.push('p1 1');
    const id = await world.proposed(await world.addNamed('network'));
    expect(await world.act(body)).toMatchObject([{ kind: 'reviewed', run: { id, state: 'QUEUED' } }]);
  });

  it('is not for what nobody can have seen, nor for readers', async () => {
    await using world = await openCommentWorld();
    const id = await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);
    world.guards.push('p1 1');

    expect(await world.brief(body, { agoMs: 5000 })).toBe('not-seen-yet');
    expect(await world.brief(body, { pullRequest: { headHash: 't2' } })).toBe('head-moved');
    expect(await world.say(body, { by: 'rita' })).toMatchObject({ kind: 'forbidden', needs: 'writer' });
    expect(await world.reviews.ofRun(id)).toEqual([]);
  });
});

it('a run that waits for approval is not confirmed, and its status says so', async () => {
  await using world = await openCommentWorld();
  await world.waiting(await world.addNamed('network'), 't1', ofPullRequest);
  world.guards.push('p1 1');

  expect(await world.act('/slipway confirm')).toMatchObject([
    { refusal: { code: 'approval-required', reason: expect.stringContaining('waits for approval') } },
  ]);
  const status = await world.say('/slipway status');
  expect(status).toMatchObject({ stacks: [{ waitsFor: { kind: 'approval' } }] });
});
