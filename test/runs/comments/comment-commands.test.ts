import { describe, expect, it } from 'vitest';
import type { PullRequestComment } from '../../../src/runs/comments/comment.ts';
import { createCommentCommands } from '../../../src/runs/comments/comment-commands.ts';
import { chooseStacks } from '../../../src/runs/comments/select-stacks.ts';
import { verbs } from '../../../src/runs/comments/verbs.ts';
import { aPullRequest, aRepository, aStack, person } from '../../support/builders.ts';
import { openCommentWorld } from './comment-world.ts';

const bodyOf = (verb: string) => `/slipway ${verb}${verb === 'task' ? ' -- ls' : ''}`;

/** About which GitHub needs not be asked. */
const aComment: PullRequestComment = {
  ...{ id: 5, createdAtMs: 1_795_000_000_000, actor: person('bob') },
  command: { kind: 'command', verb: 'lock', stacks: '*', task: null },
  pullRequest: {
    ...{ repository: aRepository(), pullRequest: aPullRequest(), state: 'open' },
    ...{ headHash: 't1', branch: 'topic', mergeCommitHash: null },
    read: () => Promise.reject(new Error('nobody has to ask for this')),
  },
};

describe('who may', () => {
  const forReaders = ['help', 'status', 'explain'];
  const forWriters = verbs.filter((verb) => !forReaders.includes(verb));

  it.each(forReaders)('%s: readers', async (verb) => {
    await using world = await openCommentWorld();
    await world.addNamed('network');

    expect(await world.say(bodyOf(verb), { by: 'rita', id: 1 })).not.toMatchObject({ kind: 'forbidden' });
    expect(world.reactions.get(1)).toBe('eyes');
    expect(await world.say(bodyOf(verb), { by: 'mallory', id: 2 })).toMatchObject({
      ...{ kind: 'forbidden', needs: 'reader', role: null, verb },
    });
    expect(world.reactions.get(2)).toBe('-1');
  });

  it.each(forWriters)('%s: writers', async (verb) => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.proposed(key);

    for (const [id, by, role] of [
      [1, 'rita', 'reader'],
      [2, 'mallory', null],
    ] as const) {
      const answer = await world.say(bodyOf(verb), { by, id });
      expect(answer).toMatchObject({ kind: 'forbidden', needs: 'writer', role, verb });
      expect(world.reactions.get(id)).toBe('-1');
    }
    expect(await world.runsOf(key)).toMatchObject([{ state: 'READY' }]);
    expect((await world.stackOf(key)).lock).toBeNull();

    expect(await world.say(bodyOf(verb), { by: 'bob' })).not.toMatchObject({ kind: 'forbidden' });
    expect(await world.say(bodyOf(verb), { by: 'olga' })).not.toMatchObject({ kind: 'forbidden' });
  });

  it('is asked anew for every comment, also for what only reads', async () => {
    await using world = await openCommentWorld();

    await world.say('/slipway help', { by: 'rita' });
    await world.say('/slipway help', { by: 'rita' });

    expect(world.questions()).toBe(2);
  });
});

describe('what is not understood', () => {
  it('is answered with the reason and what may have been meant', async () => {
    await using world = await openCommentWorld();

    expect(await world.say('/slipway deplyo', { by: 'rita', id: 1 })).toEqual({
      ...{ commentId: 1, by: 'rita', verb: null, glob: null },
      ...{ kind: 'misunderstood', reason: '"deplyo" is not a command', didYouMean: 'deploy' },
    });
    expect(world.reactions.get(1)).toBe('eyes');
  });

  it('is no matter of people without a role', async () => {
    await using world = await openCommentWorld();

    expect(await world.say('/slipway deplyo', { by: 'mallory' })).toMatchObject({ kind: 'forbidden' });
  });
});

describe('which stacks', () => {
  it('are named when none is concerned or called so', async () => {
    await using world = await openCommentWorld();
    await world.addNamed('network-dev', { projectRoot: 'net' });
    await world.addNamed('elsewhere', {}, await world.addRepository(22));
    const stacks = { names: ['network-dev'], total: 1 };

    expect(await world.say('/slipway lock')).toMatchObject({
      refusal: { code: 'not-concerned', stacks },
    });
    expect(await world.say('/slipway lock netwrok-dev')).toMatchObject({
      ...{ glob: 'netwrok-dev' },
      refusal: { code: 'no-match', glob: 'netwrok-dev', didYouMean: 'network-dev', stacks },
    });
    expect(await world.say('/slipway lock elsewhere')).toMatchObject({
      refusal: { code: 'no-match', didYouMean: null, stacks },
    });
  });

  it('are not all named when there are many', async () => {
    await using world = await openCommentWorld();
    for (let n = 10; n < 35; n += 1) await world.addNamed(`s${n}`);

    const answer = await world.say('/slipway lock x');

    expect(answer).toMatchObject({ refusal: { stacks: { total: 25 } } });
    expect(JSON.stringify(answer).match(/s\d\d/g)).toHaveLength(20);
  });

  it('are those that a glob names, each with its own outcome', async () => {
    await using world = await openCommentWorld();
    for (const id of ['dns', 'network-dev', 'network-prod']) await world.addNamed(id, { projectRoot: 'x' });
    await world.stacks.lock(await world.stackOf(await keyOf('network-dev')), person('ada'), '');

    expect(await world.act('/slipway lock network-*', { by: 'bob' })).toMatchObject([
      { stack: 'network-dev', kind: 'refused', refusal: { code: 'locked' } },
      { stack: 'network-prod', kind: 'locked' },
    ]);

    async function keyOf(id: string): Promise<string> {
      return (await world.stackStore.find('acme', id))?.key ?? '';
    }
  });

  it('are refused when comparing them would take too long', async () => {
    const stacks = Array.from({ length: 1000 }, (_, n) => aStack({ id: `${'a'.repeat(60)}${n}` }));
    const glob = `${'{*a,*aa}'.repeat(6)}${'a'.repeat(30)}b`;
    const pullRequest = { ...aComment.pullRequest };

    expect(await chooseStacks(stacks, glob, pullRequest)).toEqual({
      ...{ kind: 'refused', refusal: { code: 'glob-too-costly', glob } },
    });
    expect(await chooseStacks(stacks.slice(0, 10), glob, pullRequest)).toMatchObject({
      refusal: { code: 'no-match' },
    });
  });
});

describe('a comment', () => {
  it('acts once, however often it is told', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    await world.tell('/slipway preview', { id: 77 });
    expect(await world.tell('/slipway preview', { id: 77 })).toBe('the comment was answered before');

    expect(await world.runsOf(key)).toHaveLength(1);
    expect(world.answers).toHaveLength(1);
  });

  it('acts once when it is told twice at the same time', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');

    await Promise.all([1, 2, 3].map(() => world.tell('/slipway preview', { id: 77 })));

    expect(await world.runsOf(key)).toHaveLength(1);
    expect(world.answers).toHaveLength(1);
  });

  it('does nothing when its answer cannot be written, and everything the next time', async () => {
    await using world = await openCommentWorld();
    const keys = [await world.addNamed('dns'), await world.addNamed('network')];
    let fails = true;
    const commands = createCommentCommands({
      ...world,
      access: { roleOf: () => Promise.resolve('writer') },
      conversation: {
        ...world.conversation,
        answer: (...told) =>
          fails ? Promise.reject(new Error('the disk is full')) : world.conversation.answer(...told),
      },
      transactions: world.database,
      runUrl: (id) => id,
    });
    await expect(commands.handle(aComment)).rejects.toThrow('the disk is full');
    for (const key of keys) expect((await world.stackOf(key)).lock).toBeNull();
    // Seen, but not answered.
    expect([...world.reactions.values()]).toEqual(['eyes']);

    fails = false;
    expect(await commands.handle(aComment)).toBe('lock by bob: 2 stacks: locked (dns, network)');
    for (const key of keys) expect((await world.stackOf(key)).lock).toMatchObject({ holder: 'bob' });
  });

  it('about many stacks acts in several transactions, and once all the same', async () => {
    await using world = await openCommentWorld();
    for (let n = 10; n < 70; n += 1) await world.addNamed(`s${n}`);
    const body = '/slipway preview *';
    const said = { id: 77 };
    const answering = world.conversation.answer;
    world.conversation.answer = () => Promise.reject(new Error('the disk is full'));

    await expect(world.tell(body, said)).rejects.toThrow('the disk is full');
    world.conversation.answer = answering;
    const outcomes = await world.act(body, said);

    expect(outcomes.map(({ stack }) => stack)).toEqual(Array.from({ length: 60 }, (_, n) => `s${n + 10}`));
    const kinds = outcomes.map((outcome) =>
      outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind,
    );
    expect(kinds).toEqual([...Array(50).fill('done-before'), ...Array(10).fill('made')]);
    const runs = await world.runs.ofPullRequest(21, 7);
    expect(new Set(runs.map(({ stackKey }) => stackKey)).size).toBe(60);
    expect(runs).toHaveLength(60);
    expect(await world.tell(body, said)).toBe('the comment was answered before');
  });

  it('says for the record what came of it', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.addNamed('dns', { allowForks: true });
    const preview = await world.tell('/slipway preview *', { of: { isFork: true } });
    const [run] = await world.runsOf((await world.stackStore.find('acme', 'dns'))?.key ?? '');

    expect(preview).toBe(
      `preview by bob: dns: PROPOSED run ${run?.id} without secrets; network: refused: forks-not-allowed`,
    );
    expect(await world.tell('/slipway')).toBe('help by bob: answered');
    expect(await world.tell('/slipway x')).toBe('a comment by bob: not understood: "x" is not a command');
    expect(await world.tell('/slipway lock', { by: 'eve' })).toBe(
      'lock by eve: refused: needs the role writer, has none',
    );
    expect(await world.tell('/slipway approve')).toBe(
      'approve by bob: 2 stacks: refused: nothing-waits (dns, network)',
    );
    expect(await world.tell('/slipway status')).toBe('status by bob: answered for 2 of the stacks');
    await world.proposed(key);
    expect(await world.tell('/slipway cancel network')).toMatch(
      /^cancel by bob: network: run \w+ is CANCELED$/,
    );
    expect(await world.tell('/slipway lock network')).toBe('lock by bob: network: locked');
  });

  it('about a stack that is removed meanwhile is answered', async () => {
    await using world = await openCommentWorld();
    const key = await world.addNamed('network');
    await world.addNamed('dns');

    const outcomes = await world.act('/slipway preview', {
      content: { changedPaths: ['x'] },
      onRead: () => world.database.write((tx) => world.stackStore.remove(tx, key)),
    });

    expect(outcomes).toMatchObject([{ stack: 'dns', kind: 'made' }, { refusal: { code: 'removed' } }]);
  });
});
