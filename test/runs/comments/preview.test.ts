import { describe, expect, it } from 'vitest';
import { aPullRequest } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

const fork = { isFork: true } as const;

describe('preview', () => {
  it('makes a run of the head, which knows the pull request and who asked', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    const [outcome] = await world.act('/slipway preview', { id: 900 });

    const [run] = await world.runsOf(key);
    expect(outcome).toEqual({
      ...{ stack: 'network', kind: 'made', isUntrusted: false },
      run: {
        ...{ id: run?.id, type: 'PROPOSED', state: 'QUEUED' },
        url: `https://slipway.example/runs/${run?.id}`,
      },
    });
    expect(run).toMatchObject({
      ...{ type: 'PROPOSED', branch: 'topic', commit: { hash: 't1' }, pullRequest: aPullRequest() },
      ...{ triggeredBy: 'bob@example.com', startedBy: 'person:bob' },
    });
    expect(run).not.toHaveProperty('isUntrusted');
    expect(world.reactions.get(900)).toBe('eyes');
  });

  it('makes another one of a commit that was previewed, and ends the one under way', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const first = await world.proposed(key);

    const second = await world.brief('/slipway preview');

    expect(second).not.toBe(first);
    expect(await world.run(first)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    expect(await world.run(second)).toMatchObject({ state: 'READY' });
  });

  it('is of a draft, too, and of a stack that the pull request does not concern when that is named', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('dns', { projectRoot: 'dns' });

    expect(await world.say('/slipway preview')).toMatchObject({
      ...{ kind: 'refused', refusal: { code: 'not-concerned', stacks: { names: ['dns'], total: 1 } } },
    });
    expect(await world.act('/slipway preview d*')).toMatchObject([{ stack: 'dns', kind: 'made' }]);
  });

  it.each([
    ['merged', 'pull-request-merged'],
    ['closed', 'pull-request-closed'],
  ] as const)('is refused once the pull request is %s', async (state, code) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.brief('/slipway preview', { pullRequest: { state } })).toBe(code);
    expect(await world.runsOf(key)).toEqual([]);
  });

  it('is for stacks that follow the base of the pull request', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network', { branch: 'develop' });

    expect(await world.act('/slipway preview network')).toEqual([
      {
        ...{ stack: 'network', kind: 'refused' },
        refusal: { code: 'other-branch', base: 'main', branch: 'develop' },
      },
    ]);
  });

  it('of a fork is for stacks that allow it, and has no secrets', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('closed');
    await world.addNamed('open', { allowForks: true });

    const outcomes = await world.act('/slipway preview *', {
      of: fork,
      pullRequest: { branch: 'eve:topic' },
    });

    expect(outcomes).toMatchObject([
      { stack: 'closed', refusal: { code: 'forks-not-allowed' } },
      { stack: 'open', kind: 'made', isUntrusted: true },
    ]);
  });

  it.each([
    ['a bot', ['renovate[bot]'], [], true],
    ['a bot that the stack trusts', ['renovate[bot]'], ['renovate[bot]'], false],
    ['people', [], [], false],
  ])('of what %s wrote', async (_, bots, trustedBots, isUntrusted) => {
    await using world = await openCommentWorld();
    await world.addNamed('network', { trustedBots });

    expect(await world.act('/slipway preview', { content: { bots } })).toMatchObject([{ isUntrusted }]);
  });

  it('gets no secrets by asking, when a bot had pushed the commit', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.made(key, 'PROPOSED', 't1', { isUntrusted: true });

    expect(await world.act('/slipway preview')).toMatchObject([{ kind: 'made', isUntrusted: true }]);
  });

  it('is without secrets when the newest preview of the branch was: what came since did not concern the stack', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.made(key, 'PROPOSED', 't0', { isUntrusted: true });

    expect(await world.act('/slipway preview')).toMatchObject([{ kind: 'made', isUntrusted: true }]);
  });
});
