import { describe, expect, it } from 'vitest';
import { aCommit, aPullRequest } from '../../support/builders.ts';
import { type CommentWorld, openCommentWorld } from './comment-world.ts';

const lineOf = (...hashes: string[]) => hashes.map((hash) => aCommit({ hash }));

/** A stack whose commit `m1` is applied, and a preview of the head. */
async function previewedStack(world: CommentWorld) {
  const key = await world.addNamed('network');
  await world.deployed(key, 'm1');
  const preview = await world.lookedAt(key);
  return { key, preview };
}

describe.each([
  ['deploy', '/slipway deploy', 'TRACKED', undefined],
  ['task', '/slipway task -- pulumi stack ls', 'TASK', 'pulumi stack ls'],
] as const)('%s of an open pull request', (_, body, type, command) => {
  it('runs the commit that was previewed before the comment', async () => {
    await using world = await openCommentWorld();
    await previewedStack(world);

    const run = await world.run(await world.brief(body));

    expect(run).toMatchObject({ type, branch: 'topic', commit: { hash: 't1' }, pullRequest: aPullRequest() });
    expect(run).toMatchObject({ startedBy: 'person:bob', state: 'READY' });
    expect(run.command).toBe(command);
    expect(run).not.toHaveProperty('isUntrusted');
  });

  it('is refused without promotion', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network', { promotion: false });
    await world.lookedAt(key);

    expect(await world.act(body)).toMatchObject([{ refusal: { code: 'promotion-off', branch: 'main' } }]);
    expect(await world.runsOf(key)).toHaveLength(1);
  });

  it('is refused for a fork, whatever the stack allows', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network', { allowForks: true });
    await world.lookedAt(key);

    expect(await world.brief(body, { of: { isFork: true } })).toBe('of-a-fork');
  });

  it('is refused without a preview, and with one of another pull request only', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    expect(await world.brief(body)).toBe('not-previewed');
    await world.lookedAt(key, 't1', 8);
    expect(await world.brief(body)).toBe('not-previewed');
  });

  it.each([
    ['the second before', 1000, 'not-previewed'],
    // GitHub's times are whole seconds.
    ['the same second', 999, 'made'],
  ])('knows no preview that was made after the comment: %s', async (_title, agoMs, outcome) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    world.clock.advance(999);
    await world.lookedAt(key);

    const [came] = await world.act(body, { agoMs });

    expect(came?.kind === 'refused' ? came.refusal.code : came?.kind).toBe(outcome);
  });

  it('is refused while the preview is under way, and when it was done after the comment', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    const id = await world.proposed(key);

    expect(await world.act(body)).toMatchObject([{ refusal: { code: 'preview-not-seen', run: { id } } }]);
    world.clock.advance(5000);
    await world.plan();
    expect(await world.brief(body, { agoMs: 2000 })).toBe('preview-not-seen');
    expect(await world.act(body)).toMatchObject([{ kind: 'made' }]);
  });

  it('is refused when the head was pushed or forced to something else, seen or not', async () => {
    await using world = await openCommentWorld();
    const { key, preview } = await previewedStack(world);
    world.clock.advance(5000);
    await world.lookedAt(key, 't2');

    const late = { agoMs: 3000, pullRequest: { headHash: 't2' } };
    expect(await world.act(body, late)).toMatchObject([
      { refusal: { code: 'head-moved', seen: 't1', head: 't2', run: { id: preview } } },
    ]);
    // Forced back to what was looked at.
    expect(await world.act(body, { agoMs: 3000 })).toMatchObject([{ kind: 'made' }]);
  });

  it('is refused when the stack has got something that the head does not contain', async () => {
    await using world = await openCommentWorld();
    const { key } = await previewedStack(world);
    world.commits.set('main', lineOf('m1', 'm2'));
    const newer = await world.deployed(key, 'm2');

    expect(await world.act(body)).toMatchObject([
      { refusal: { code: 'behind', head: 't1', deployed: 'm2', run: { id: newer } } },
    ]);
    world.commits.set('topic', lineOf('m1', 'm2', 't1'));
    expect(await world.act(body)).toMatchObject([{ kind: 'made' }]);
  });

  it('is refused while what the head does not contain is still on its way', async () => {
    await using world = await openCommentWorld();
    const { key } = await previewedStack(world);
    world.commits.set('main', lineOf('m1', 'm2'));
    const coming = await world.made(key, 'TRACKED', 'm2', { branch: 'main' });

    expect(await world.act(body)).toMatchObject([
      { refusal: { code: 'behind', head: 't1', deployed: 'm2', run: { id: coming } } },
    ]);
    await world.commands.cancel(coming, { actor: 'ada' });
    expect(await world.act(body)).toMatchObject([{ kind: 'made' }]);
  });

  it('is refused when the applied commit is nowhere any more', async () => {
    await using world = await openCommentWorld();
    const { key } = await previewedStack(world);
    await world.deployed(key, 'gone');

    expect(await world.brief(body)).toBe('behind');
  });

  it('may be of the very commit that is applied', async () => {
    await using world = await openCommentWorld();
    const { key } = await previewedStack(world);
    await world.deployed(key, 't1', 'topic');

    expect(await world.act(body)).toMatchObject([{ kind: 'made' }]);
  });

  it('is refused once it is closed', async () => {
    await using world = await openCommentWorld();
    await previewedStack(world);

    expect(await world.brief(body, { pullRequest: { state: 'closed' } })).toBe('pull-request-closed');
  });

  it('is for stacks that follow its base', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network', { branch: 'develop' });
    await world.lookedAt(key);

    expect(await world.brief(body.replace(/(deploy|task)/, '$1 network'))).toBe('other-branch');
  });
});

it('a preview that came to no plan is enough for a task, not for a deployment', async () => {
  await using world = await openCommentWorld();
  const key = await world.addNamed('network');
  const id = await world.proposed(key);
  await world.commands.cancel(id, { actor: 'ada' });

  expect(await world.brief('/slipway deploy')).toBe('preview-not-seen');
  expect(await world.act('/slipway task -- pulumi cancel')).toMatchObject([{ kind: 'made' }]);
});

describe('deploy of a merged pull request', () => {
  const merged = { pullRequest: { state: 'merged', mergeCommitHash: 'm2' } } as const;

  it('runs the head of the branch that the stack follows, with or without promotion', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network', { promotion: false });
    world.commits.set('main', lineOf('m1', 'm2', 'm3'));

    const run = await world.run(await world.brief('/slipway deploy', merged));

    expect(run).toMatchObject({ type: 'TRACKED', branch: 'main', commit: { hash: 'm3' } });
    expect(run).toMatchObject({ pullRequest: { number: 7 } });
  });

  it('is no matter of forks any more, nor of previews', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network');

    const [outcome] = await world.act('/slipway deploy', { ...merged, of: { isFork: true } });

    expect(outcome).toMatchObject({ kind: 'made', isUntrusted: false });
    // It can be done again, though the stack previews no forks.
    const id = outcome?.kind === 'made' ? outcome.run.id : '';
    await world.commands.cancel(id, { actor: 'ada' });
    const again = await world.act('/slipway retry', { ...merged, of: { isFork: true } });
    expect(again).toMatchObject([{ kind: 'made', run: { type: 'TRACKED' } }]);
  });

  it('is refused when that branch is gone', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network');
    world.commits.delete('main');

    expect(await world.act('/slipway deploy', merged)).toMatchObject([
      { refusal: { code: 'branch-not-found', branch: 'main' } },
    ]);
  });

  it('is refused for a stack that follows another branch', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network', { branch: 'develop' });
    world.commits.set('develop', lineOf('d1'));

    expect(await world.brief('/slipway deploy network', merged)).toBe('other-branch');
  });
});

describe('task', () => {
  it('is for one stack, unless a glob names more', async () => {
    await using world = await openCommentWorld();
    for (const id of ['dns', 'network']) await world.lookedAt(await world.addNamed(id));

    expect(await world.say('/slipway task -- ls')).toMatchObject({
      ...{ kind: 'refused', refusal: { code: 'one-stack-only', stacks: { names: ['dns', 'network'] } } },
    });
    expect(await world.act('/slipway task net* -- ls')).toMatchObject([{ stack: 'network', kind: 'made' }]);
    expect(await world.act('/slipway task * -- ls')).toMatchObject([{ stack: 'dns' }, { stack: 'network' }]);
  });
});

it('asks GitHub once about a commit that many stacks have', async () => {
  await using world = await openCommentWorld();
  for (const id of ['a', 'b', 'c']) {
    const key = await world.addNamed(id);
    await world.deployed(key, 'm1');
    await world.lookedAt(key);
  }
  let asked = 0;
  const { compare } = world.source;
  world.source.compare = (...question) => {
    asked += 1;
    return compare(...question);
  };

  expect(await world.act('/slipway deploy')).toHaveLength(3);
  expect(asked).toBe(1);
});
