import { describe, expect, it } from 'vitest';
import { createButtons } from '../../src/runs/buttons.ts';
import { createFollowUps } from '../../src/runs/follow-ups.ts';
import { createReruns } from '../../src/runs/reruns.ts';
import type { RunType } from '../../src/runs/run.ts';
import { type Trust, trustOfRun } from '../../src/runs/trust.ts';
import type { PullRequest } from '../../src/stacks/pull-request.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { createRunCauseStore } from '../../src/storage/run-cause-store.ts';
import { aCommit, aPullRequest, person, pullRequestDetails } from '../support/builders.ts';
import { type CommentWorld, openCommentWorld } from './comments/comment-world.ts';

// Every way in which a run can be made, by the functions that make them: who vouches for what it executes?

const bot = 'renovate[bot]';
const ofBot = { login: bot, isBot: true };
const fork = { isFork: true, author: 'eve' };
const forkBranch = 'eve:topic';

/** Olga administers the stack; all she asks for is asked by somebody who may ask for anything. */
const olga = person('olga');

async function opened(settings: Partial<StackSettings>) {
  const world = await openCommentWorld();
  const key = await world.addNamed('network', { allowForks: true, ...settings });
  const parts = {
    ...world,
    ...{ stacks: world.stackStore, transactions: world.database },
    access: { require: async () => 'admin' as const },
  };
  const [buttons, reruns] = [createButtons(parts), createReruns(parts)];
  const newest = async () => {
    const [run] = await world.runsOf(key);
    if (!run) throw new Error('nothing was started');
    return run;
  };

  return {
    ...world,
    ...{ key, newest },
    push: (hash: string, change: Parameters<CommentWorld['push']>[1] = {}) =>
      world.push(hash, { branch: 'topic', ...change }),
    async open(hash: string, change: { of?: Partial<PullRequest>; branch?: string; bots?: string[] } = {}) {
      const head = aCommit({ hash });
      await world.pullRequests.changed(
        {
          ...{ repositoryId: 21, headHash: hash, isDraft: false, details: pullRequestDetails() },
          ...{ pullRequest: aPullRequest(change.of), branch: change.branch ?? 'topic' },
          sender: { login: 'bob', email: 'bob@example.com' },
          read: async () => ({ head, changedPaths: ['x'], bots: change.bots ?? [] }),
        },
        `delivery-${world.newId()}`,
      );
    },
    async trigger(type: RunType, branch = 'topic', sha?: string) {
      const request = { type, branch, ...(sha && { sha }), ...(type === 'TASK' && { command: 'ls' }) };
      await world.triggers.manual(await world.stackOf(key), request, olga);
    },
    async end() {
      await world.commands.cancel((await newest()).id, { actor: 'olga' });
      await world.scheduler.settled();
    },
    async retry() {
      await world.commands.retry((await newest()).id, { by: olga });
    },
    async rerun() {
      const { commit, type } = await newest();
      const [note] = await reruns.again({
        ...{ repositoryId: 21, commit: commit.hash, types: [type], concerns: () => true, actor: olga },
        ...{ shownBy: { checkSuite: '5' }, deliveryId: `delivery-${world.newId()}` },
      });
      expect(note).toContain('retried run');
    },
    async press(button: 'preview' | 'deploy') {
      const { id } = await newest();
      const deliveryId = `delivery-${world.newId()}`;
      return buttons.press({ button, runId: id, repositoryId: 21, checkRunId: 9, actor: olga, deliveryId });
    },
    /** A trigger policy wants another run after the newest one. */
    async follow() {
      const after = await newest();
      const stack = await world.stackOf(key);
      const followUps = createFollowUps({ ...world, causes: createRunCauseStore(world.database) });
      const wish = { stack, commit: aCommit({ hash: 'm1' }), policy: { id: 'p', name: 'after' } };
      await world.database.write((tx) => followUps.start(tx, after, [wish]));
    },
    async enqueue() {
      const branch = 'gh-readonly-queue/main/pr-7-b0';
      world.commits.set(branch, [aCommit({ hash: 'g1' })]);
      const group = { repositoryId: 21, branch, head: 'g1', base: 'main', onto: 'b0' };
      await world.mergeGroups.requested(
        { ...group, by: { login: 'bob', email: '' } },
        `delivery-${world.newId()}`,
      );
    },
  };
}
type World = Awaited<ReturnType<typeof opened>>;

type Row = readonly [name: string, trust: Trust, make: (world: World) => Promise<unknown>];

const forkOpened = (world: World) => world.open('f1', { of: fork, branch: forkBranch });
const byBot = (world: World) => world.push('t1', ofBot);

const rows: readonly Row[] = [
  ['a push of a member', 'branch', (w) => w.push('t1')],
  ['a push of a bot that is not listed', 'untrusted', byBot],
  ['a push of a bot to the tracked branch', 'tracked', (w) => w.push('m2', { ...ofBot, branch: 'main' })],
  ['a pull request of a member', 'branch', (w) => w.open('t1')],
  [
    'a pull request that a bot opened, or whose head it wrote',
    'untrusted',
    (w) => w.open('t1', { bots: [bot] }),
  ],
  ['a pull request of a fork', 'untrusted', forkOpened],

  [
    'a pull request that a member opens of what a bot pushed',
    'untrusted',
    async (w) => {
      await byBot(w);
      await w.open('t1');
    },
  ],
  [
    'a push of a member on top of what a bot pushed',
    'branch',
    async (w) => {
      await byBot(w);
      await w.push('t2');
    },
  ],
  [
    'a push of a member of what a bot pushed to another branch',
    'branch',
    async (w) => {
      await byBot(w);
      await w.push('t1', { branch: 'read' });
    },
  ],
  [
    'a push of a member of what is in a fork, once they have read it',
    'branch',
    async (w) => {
      await forkOpened(w);
      await w.push('f1', { branch: 'read' });
    },
  ],
  [
    'a pull request of a branch whose name a fork has, too',
    'untrusted',
    async (w) => {
      await w.push('t1');
      await w.open('t2', { of: fork, branch: forkBranch });
    },
  ],
  [
    'a head that moves into a fork',
    'untrusted',
    async (w) => {
      await w.open('t1');
      await w.open('t2', { of: fork, branch: 'ghost:topic' });
    },
  ],

  [
    'a retry of a preview of a fork, by an administrator',
    'untrusted',
    async (w) => {
      await forkOpened(w);
      await w.end();
      await w.retry();
    },
  ],
  [
    'a retry of what a bot brought, by an administrator',
    'untrusted',
    async (w) => {
      await byBot(w);
      await w.end();
      await w.retry();
    },
  ],
  [
    '"Re-run all" of a fork, by an administrator',
    'untrusted',
    async (w) => {
      await forkOpened(w);
      await w.end();
      await w.rerun();
    },
  ],
  [
    '"Preview again" of what a bot brought',
    'untrusted',
    async (w) => {
      await byBot(w);
      expect(await w.press('preview')).toMatchObject({ kind: 'done' });
    },
  ],

  [
    '`/slipway preview` of a fork',
    'untrusted',
    (w) => w.act('/slipway preview', { of: fork, pullRequest: { branch: forkBranch, headHash: 'f1' } }),
  ],
  [
    '`/slipway preview` of what a bot pushed',
    'untrusted',
    async (w) => {
      await byBot(w);
      await w.act('/slipway preview');
    },
  ],

  ['a preview that the API starts', 'branch', (w) => w.trigger('PROPOSED')],
  [
    'a preview that the API starts of what a bot pushed',
    'untrusted',
    async (w) => {
      await byBot(w);
      await w.trigger('PROPOSED');
    },
  ],
  [
    'a preview that the API starts of what a bot wrote and nobody told of',
    'untrusted',
    async (w) => {
      w.commits.set('topic', [aCommit({ hash: 't2', authorLogin: bot })]);
      await w.trigger('PROPOSED');
    },
  ],
  [
    'a preview that the API starts of what a bot wrote and a member has merged',
    'branch',
    async (w) => {
      w.commits.set('main', [aCommit({ hash: 'm2', authorLogin: bot })]);
      await w.trigger('PROPOSED', 'main');
    },
  ],
  ['a deployment that the API starts', 'tracked', (w) => w.trigger('TRACKED', 'main')],
  ['a task that the API starts', 'apply', (w) => w.trigger('TASK', 'main')],
  ['a tear-down that the API starts', 'tracked', (w) => w.trigger('DESTROY', 'main')],

  ['what the merge queue would merge', 'branch', (w) => w.enqueue()],
  [
    'what a trigger policy starts after another run',
    'tracked',
    async (w) => {
      await w.trigger('TRACKED', 'main');
      await w.follow();
    },
  ],
];

describe('who may be trusted', () => {
  it.each(rows)('%s: %s', async (_, trust, make) => {
    await using world = await opened({});
    await make(world);
    expect(trustOfRun(await world.newest())).toBe(trust);
  });

  it.each([
    ['a push', byBot],
    ['a pull request', (world: World) => world.open('t1', { bots: [bot] })],
    [
      'a preview that the API starts',
      (world: World) => {
        world.commits.set('topic', [aCommit({ hash: 't2', authorLogin: bot })]);
        return world.trigger('PROPOSED');
      },
    ],
  ])('is a bot that the stack lists: %s of it', async (_, make) => {
    await using world = await opened({ trustedBots: ['Renovate[bot]'] });
    await make(world);
    expect(trustOfRun(await world.newest())).toBe('branch');
  });
});

describe('what is in a fork', () => {
  it('is not found by the API, although GitHub keeps its commits', async () => {
    await using world = await opened({});
    world.commits.set(forkBranch, [aCommit({ hash: 'f1' })]);
    await expect(world.trigger('PROPOSED', 'topic', 'f1')).rejects.toThrow('was not found');
  });

  it('is never deployed, and has no button that previews it with more', async () => {
    await using world = await opened({});
    await world.open('t1', { of: fork, branch: forkBranch });
    await world.plan();

    expect(await world.press('deploy')).toMatchObject({ kind: 'refused' });
    expect(await world.press('preview')).toMatchObject({ kind: 'refused' });
    const of = { of: fork, pullRequest: { branch: forkBranch } };
    expect(await world.brief('/slipway deploy', of)).toBe('of-a-fork');
    expect(await world.brief('/slipway task -- ls', of)).toBe('of-a-fork');
  });

  it('is untrusted whoever forgets to say so', async () => {
    await using world = await opened({});
    await world.commands.create({
      ...{ stackKey: world.key, type: 'PROPOSED', branch: forkBranch, commit: aCommit({ hash: 'f1' }) },
      ...{ pullRequest: aPullRequest(fork), by: olga, dedupeKey: null },
    });
    expect(trustOfRun(await world.newest())).toBe('untrusted');
  });
});

it('lets a person deploy what a bot brought, once it was previewed: that is as good as a merge', async () => {
  await using world = await opened({});
  await byBot(world);
  await world.plan();

  expect(await world.press('deploy')).toMatchObject({ kind: 'done' });
  expect(trustOfRun(await world.newest())).toBe('tracked');
});
