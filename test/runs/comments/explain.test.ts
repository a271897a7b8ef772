import { describe, expect, it } from 'vitest';
import { openCommentWorld } from './comment-world.ts';

describe('explain', () => {
  it('says of every stack of the repository why it is concerned or not', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('dns', { projectRoot: 'dns' });
    await world.addNamed('network', { projectRoot: 'net' });
    await world.addNamed('other', { branch: 'develop' });
    await world.addNamed('whole');

    const answer = await world.say('/slipway explain', {
      by: 'rita',
      content: { changedPaths: ['net/a.ts'], bots: ['renovate[bot]'] },
    });

    const no = { isConcerned: false, isUntrusted: false };
    const yes = { isConcerned: true, isUntrusted: true };
    expect(answer).toMatchObject({
      ...{ kind: 'explained', verb: 'explain', by: 'rita', role: 'reader', changesRepositoryFile: false },
      stacks: [
        { stack: 'dns', ...no, reason: 'no changed path belongs to the stack' },
        { stack: 'network', ...yes, reason: 'net/a.ts is below the project root' },
        {
          ...{ stack: 'other', ...no },
          reason: 'the pull request is for main, the stack follows another branch',
        },
        { stack: 'whole', ...yes, reason: 'the project root is the whole repository' },
      ],
    });
  });

  it('is of the stacks that a glob names, where there is one', async () => {
    await using world = await openCommentWorld();
    for (const id of ['dns', 'network']) await world.addNamed(id);

    expect(await world.say('/slipway explain n*')).toMatchObject({ stacks: [{ stack: 'network' }] });
    expect(await world.say('/slipway explain x')).toMatchObject({ refusal: { code: 'no-match' } });
  });

  it.each([
    [['.github/slipway.yml', 'a'], true],
    [['.github/slipway.yaml', 'a'], false],
    [null, false],
  ])('says that a changed repository file counts after the merge: %j', async (changedPaths, changed) => {
    await using world = await openCommentWorld();
    await world.addNamed('network');

    const answer = await world.say('/slipway explain', { content: { changedPaths } });

    expect(answer).toMatchObject({ changesRepositoryFile: changed });
  });

  it('says that a fork starts nothing', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network');

    expect(await world.say('/slipway explain', { of: { isFork: true } })).toMatchObject({
      stacks: [{ isConcerned: false, reason: 'pull requests of forks start nothing' }],
    });
  });

  it('says that there are no stacks', async () => {
    await using world = await openCommentWorld();

    expect(await world.say('/slipway explain')).toMatchObject({ refusal: { code: 'no-stacks' } });
  });
});
