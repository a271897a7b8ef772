import { describe, expect, it } from 'vitest';
import type { PullRequest, PullRequestDetails } from '../../src/stacks/pull-request.ts';
import type { PushEvent, PushJudge, PushVerdict } from '../../src/stacks/push-judge.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { aCommit, aPullRequest, pullRequestDetails, verdict } from '../support/builders.ts';
import { openRunWorld } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

type Say = (event: PushEvent) => Partial<PushVerdict> | null;

interface Change {
  readonly pullRequest?: Partial<PullRequest>;
  readonly details?: Partial<PullRequestDetails>;
  readonly isDraft?: boolean;
  readonly onlyForPolicies?: true;
}

/** A stack of which `say` decides; null: no policy judges it. */
async function judgedBy(say: Say, settings: Partial<StackSettings> = {}) {
  const records: { readonly runId: string | null }[] = [];
  const pushJudge: PushJudge = {
    judged: async (stacks) => new Set(stacks.map(({ key }) => key)),
    judge: async (stacks, event) => {
      const said = say(event);
      if (said === null) return new Map();
      const record = async (_: unknown, runId: string | null) => void records.push({ runId });
      const ours = stacks.filter(({ settings }) => settings.name !== 'other');
      return new Map(ours.map(({ key }) => [key, { said: verdict(said), record }]));
    },
  };
  const world = await openRunWorld({ pushJudge, changes: { 'a1...b2': ['x'] } });
  const stack = await world.addStack(settings);

  async function change(hash: string, { pullRequest, details, isDraft, ...rest }: Change = {}) {
    const about = aPullRequest(pullRequest);
    const notes = await world.pullRequests.changed(
      {
        ...{ repositoryId: 21, pullRequest: about, headHash: hash, isDraft: isDraft ?? false, ...rest },
        branch: about.isFork ? 'mallory:topic' : 'topic',
        details: pullRequestDetails(details),
        sender: { login: 'bob', email: 'bob@example.com' },
        read: async () => ({ head: aCommit({ hash }), changedPaths: ['x'], bots: [] }),
      },
      `delivery-${world.newId()}`,
    );
    await world.scheduler.settled();
    return notes;
  }
  const lock = async () => (await world.stackStore.findByKey(stack.key))?.lock ?? null;
  const listed = () => runsOfStack(world.database, stack.key);
  const dispose = () => world[Symbol.asyncDispose]();
  return { ...world, stack, records, change, lock, listed, [Symbol.asyncDispose]: dispose };
}

const tracked = { outcome: 'tracked' } as const;
const proposed = { outcome: 'proposed' } as const;
const topic = { branch: 'topic' };

describe('a push to a stack with push policies', () => {
  it('makes the run that they want, although no path concerns the stack, and records them with it', async () => {
    await using world = await judgedBy(() => tracked, { projectRoot: 'infra' });

    const id = await world.pushed('a1', { paths: ['docs/readme.md'] });

    expect(await world.run(id)).toMatchObject({ type: 'TRACKED', branch: 'main', startedBy: 'person:ada' });
    expect(world.records).toEqual([{ runId: id }]);
  });

  it('makes a preview of the own branch where they propose it, which newer ones supersede', async () => {
    await using world = await judgedBy(() => proposed);

    const first = await world.pushed('a1');
    const second = await world.pushed('b2');

    expect(await world.run(first)).toMatchObject({ type: 'PROPOSED', state: 'CANCELED' });
    expect(await world.run(second)).toMatchObject({ type: 'PROPOSED', state: 'READY' });
  });

  it.each<[Partial<PushVerdict>, string]>([
    [{ outcome: 'ignored' }, 'push policies ignore it'],
    [{ outcome: 'unmatched' }, 'no rule of the push policies wants a run'],
    [{ ...tracked, notrigger: true }, 'without a run'],
  ])('makes none for %o, with the reason', async (said, reason) => {
    await using world = await judgedBy(() => said);

    expect(await world.push('a1')).toEqual([expect.stringContaining(reason)]);
    expect(await world.listed()).toEqual([]);
    expect(world.records).toEqual([{ runId: null }]);
    expect(world.unaffected).toEqual([]);
  });

  it('is dealt with by the built-in rules once the last policy is gone', async () => {
    await using world = await judgedBy(() => null, { projectRoot: 'infra' });
    expect(await world.push('a1')).toEqual([expect.stringContaining('no changed path')]);
    expect(await world.push('b2', { paths: ['infra/x'] })).toEqual([expect.stringContaining('TRACKED run')]);
  });

  it('makes one run, however often it is told', async () => {
    await using world = await judgedBy(() => tracked);
    await world.push('a1', { delivery: 'one' });
    expect(await world.push('a1', { delivery: 'one' })).toEqual([expect.stringContaining('already')]);
    expect(await world.push('a1', { delivery: 'two' })).toEqual([expect.stringContaining('already')]);
    expect(await world.listed()).toHaveLength(1);
  });

  it('makes none of a commit that comes too late', async () => {
    await using world = await judgedBy(() => tracked);
    await world.push('a1');
    await world.push('b2');
    expect(await world.push('a1', { isLate: true, before: '00' })).toEqual([
      expect.stringContaining('older than the commit of run'),
    ]);
  });

  it('never deploys another branch without promotion', async () => {
    await using world = await judgedBy(() => tracked);
    expect(await world.push('a1', topic)).toEqual([expect.stringContaining('promotion is off')]);
    expect(await world.listed()).toEqual([]);
  });

  it('deploys another branch with promotion if it has what the stack has', async () => {
    await using world = await judgedBy(() => tracked, { promotion: true });
    await world.push('a1');
    world.commits.set('topic', [aCommit({ hash: 'a1' })]);
    const ahead = await world.push('b2', topic);
    const behind = await world.push('c3', { branch: 'old' });

    expect(ahead).toEqual([expect.stringMatching(/TRACKED run \w+$/)]);
    expect(behind).toEqual([expect.stringContaining('does not contain')]);
  });

  it('gives no secrets to the preview of a bot that is not trusted, and never deploys it', async () => {
    let said: Partial<PushVerdict> = proposed;
    await using world = await judgedBy(() => said, { promotion: true });
    const [note] = await world.push('a1', { ...topic, login: 'evil[bot]', isBot: true });
    said = tracked;
    const [deploy] = await world.push('b2', { ...topic, login: 'evil[bot]', isBot: true });
    const [byPerson] = await world.push('a1', { ...topic, login: 'ada' });

    expect(note).toContain('without secrets');
    expect(deploy).toContain('not trusted');
    expect(byPerson).toContain('had to do without secrets');
  });
});

describe('what push policies want besides a run', () => {
  it('puts the run first, and ends those that it makes useless, of this stack only', async () => {
    let said: Partial<PushVerdict> = tracked;
    await using world = await judgedBy(() => said);
    const other = await world.addStack({ name: 'other' });
    const active = await world.pushed('a1');
    await world.claimed();
    const waiting = await world.pushed('b2');
    const [foreign] = (await runsOfStack(world.database, other.key)).map(({ id }) => id);
    said = proposed;
    const preview = await world.pushed('c3', topic);
    said = { ...tracked, prioritize: true, cancel: [active, waiting, preview, foreign ?? '', 'no such run'] };

    const [note = ''] = await world.push('d4');

    const [newest] = await world.listed();
    expect(newest).toMatchObject({ type: 'TRACKED', commit: { hash: 'd4' } });
    expect((await world.run(waiting)).state).toBe('CANCELED');
    expect(await world.run(preview)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    expect((await world.run(active)).state).toBe('PREPARING');
    expect((await world.run(foreign ?? '')).state).not.toBe('CANCELED');
    expect(note).toContain(`run ${active} stays PREPARING`);
    expect(note).toContain(`${foreign} is no run of the stack`);
  });

  it('puts a run in front of what waits', async () => {
    let said: Partial<PushVerdict> = tracked;
    await using world = await judgedBy(() => said);
    await world.push('a1');
    const waiting = await world.pushed('b2');
    said = { ...tracked, prioritize: true };
    const urgent = await world.pushed('c3');

    expect((await world.run(urgent)).priority).toBeGreaterThan((await world.run(waiting)).priority);
  });

  it('locks the stack in the name of the policy: nothing goes on until its key, or a person, unlocks it', async () => {
    let said: Partial<PushVerdict> = { ...tracked, lock: { key: 'freeze', policy: 'freezes' } };
    await using world = await judgedBy(() => said);
    const id = await world.pushed('a1');
    expect(await world.lock()).toMatchObject({ holder: 'policy freezes', reason: 'freeze', kind: 'system' });
    expect((await world.run(id)).state).toBe('QUEUED');

    said = { outcome: 'unmatched', unlock: ['freeze'] };
    await world.push('b2');

    expect(await world.lock()).toBeNull();
    expect((await world.run(id)).state).toBe('READY');
  });

  it('can be unlocked by people', async () => {
    await using world = await judgedBy(() => ({ ...tracked, lock: { key: 'freeze', policy: 'freezes' } }));
    const id = await world.pushed('a1');
    const stack = await world.stackStore.findByKey(world.stack.key);
    if (stack) await world.stacks.unlock(stack);
    await world.scheduler.settled();
    expect((await world.run(id)).state).toBe('READY');
  });

  it('starts nothing where somebody else has the lock that it wants', async () => {
    await using world = await judgedBy(() => ({
      ...proposed,
      lock: { key: 'pr 8', policy: 'one at a time' },
    }));
    await world.stacks.lock(world.stack, { kind: 'person', login: 'ada', email: 'a@example.com' }, 'lunch');
    expect(await world.push('a1', topic)).toEqual([expect.stringContaining('locked by ada: lunch')]);
    expect(await world.listed()).toEqual([]);
  });
});

describe('what the commit shows', () => {
  it('is a failed check, whatever the stack wants to be shown, when a policy cannot be evaluated', async () => {
    const messages = ['push policy deploys could not be evaluated: it took too long'];
    await using world = await judgedBy(() => ({ outcome: 'failed', messages }));

    await world.push('a1');
    await world.change('b2');

    expect(await world.listed()).toEqual([]);
    expect(world.unaffected).toMatchObject([
      { commit: 'a1', type: 'TRACKED', policies: { isFailure: true, messages } },
      { commit: 'b2', type: 'PROPOSED', policies: { isFailure: true, messages } },
    ]);
  });

  it.each<[Partial<PushVerdict>, Partial<StackSettings>, boolean | null]>([
    [{ outcome: 'ignored' }, {}, null],
    [{ outcome: 'ignored' }, { unaffectedChecks: true }, false],
    [{ outcome: 'ignored', notify: true }, {}, false],
    [{ outcome: 'ignored', fail: true }, {}, true],
    [{ outcome: 'tracked', fail: true, notify: true }, {}, null],
  ])('of %o, with %o', async (said, settings, isFailure) => {
    await using world = await judgedBy(() => said, settings);
    await world.push('a1');
    expect(world.unaffected.map(({ policies }) => policies?.isFailure)).toEqual(
      isFailure === null ? [] : [isFailure],
    );
  });
});

describe('a pull request of a stack with push policies', () => {
  it('is previewed where they propose it, a draft too, and another base', async () => {
    await using world = await judgedBy(() => proposed);
    const [draft] = await world.change('a1', { isDraft: true });
    const [other] = await world.change('b2', { pullRequest: { number: 8, base: 'develop' } });
    expect([draft, other]).toEqual([1, 2].map(() => expect.stringMatching(/PROPOSED run \w+$/)));
  });

  it('is previewed after a label only if its commit has no run', async () => {
    const say: Say = (event) =>
      event.kind === 'pull_request' && event.change.details.labels.includes('preview') ? proposed : {};
    await using world = await judgedBy(say);
    const labeled = { details: { action: 'labeled', labels: ['preview'] }, onlyForPolicies: true } as const;

    expect(await world.change('a1')).toEqual([expect.stringContaining('no rule')]);
    expect(await world.change('a1', labeled)).toEqual([expect.stringMatching(/PROPOSED run \w+$/)]);
    expect(await world.change('a1', labeled)).toEqual([expect.stringContaining('already')]);
  });

  it('becomes one of the run that a push made, although they ignore the pull request', async () => {
    await using world = await judgedBy(({ kind }) => (kind === 'push' ? proposed : {}));
    const id = await world.pushed('a1', topic);
    await world.change('a1');
    expect((await world.run(id)).pullRequest?.number).toBe(7);
  });

  it('of a fork starts nothing unless they allow it, then without secrets and never a deployment', async () => {
    let said: Partial<PushVerdict> = { ...proposed, lock: { key: 'x', policy: 'p' } };
    await using world = await judgedBy(() => said, { promotion: true });
    const fork = { pullRequest: { isFork: true } };

    expect(await world.change('a1', fork)).toEqual([expect.stringContaining('forks start nothing')]);
    expect(await world.lock()).toBeNull();
    said = { ...proposed, allowFork: true };
    expect(await world.change('a1', fork)).toEqual([expect.stringContaining('without secrets')]);
    said = { ...tracked, allowFork: true };
    expect(await world.change('b2', fork)).toEqual([expect.stringContaining('it is of a fork')]);
    expect((await world.listed()).map(({ type }) => type)).toEqual(['PROPOSED']);
  });

  it('can still unlock the stack once it is closed, and starts nothing then', async () => {
    let said: Partial<PushVerdict> = { ...proposed, lock: { key: 'pr 7', policy: 'one at a time' } };
    await using world = await judgedBy(() => said);
    await world.change('a1');
    said = { ...proposed, unlock: ['pr 7'] };
    const merged = { details: { action: 'merged', state: 'merged' }, onlyForPolicies: true } as const;

    expect(await world.change('b2', merged)).toEqual([expect.stringContaining('not open')]);
    expect(await world.lock()).toBeNull();
  });

  it('costs no question when only its labels change and no policy judges the stack', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const notes = await world.pullRequests.changed(
      {
        ...{ repositoryId: 21, pullRequest: aPullRequest(), branch: 'topic', headHash: 'a1', isDraft: false },
        details: pullRequestDetails({ action: 'labeled' }),
        onlyForPolicies: true,
        sender: { login: 'bob', email: 'bob@example.com' },
        read: () => Promise.reject(new Error('asked')),
      },
      'delivery',
    );
    expect(notes).toEqual([expect.stringContaining('labeled')]);
    expect(await world.pullRequests.isJudged(21)).toBe(false);
  });
});

describe('a merge group of a stack with push policies', () => {
  const group = {
    ...{ repositoryId: 21, branch: 'gh-readonly-queue/main/pr-7-a1', head: 'b2', base: 'main', onto: 'a1' },
    by: { login: 'github-merge-queue[bot]', email: 'q@example.com' },
  };
  const requested = async (say: Say) => {
    const world = await judgedBy(say, { promotion: true });
    world.commits.set(group.branch, [aCommit({ hash: 'b2' })]);
    return { world, notes: await world.mergeGroups.requested(group, 'delivery') };
  };

  it('is previewed where they propose it, with secrets', async () => {
    const { world, notes } = await requested(({ kind }) => (kind === 'merge_group' ? proposed : null));
    await using _ = world;
    expect(notes).toEqual([expect.stringMatching(/PROPOSED run \w+$/)]);
    expect((await world.listed())[0]?.isUntrusted ?? false).toBe(false);
  });

  it.each<[Partial<PushVerdict>, boolean]>([
    [{ outcome: 'ignored' }, false],
    [tracked, false],
    [{ outcome: 'failed' }, true],
  ])('always gets an answer: of %o too', async (said, isFailure) => {
    const { world } = await requested(() => said);
    await using _ = world;
    expect(await world.listed()).toEqual([]);
    expect(world.unaffected).toMatchObject([{ commit: 'b2', type: 'PROPOSED', policies: { isFailure } }]);
  });
});

describe('a push that GitHub did not tell of', () => {
  const missed = (say: Say) => async (mode: 'run' | 'offer') => {
    const pushJudge: PushJudge = {
      judged: async (stacks) => new Set(stacks.map(({ key }) => key)),
      judge: async (stacks, event) =>
        new Map(stacks.map(({ key }) => [key, { said: verdict(say(event) ?? {}), record: async () => {} }])),
    };
    const world = await openRunWorld({ pushJudge, missedPushes: mode });
    const stack = await world.addStack();
    const head = aCommit({ hash: 'b2' });
    world.commits.set('main', [aCommit({ hash: 'a1' }), head]);
    const known = { hash: 'a1', seenAtMs: 0 };
    const told = await world.missedPushes.handle({ repositoryId: 21, branch: 'main', known, head });
    return { world, stack, ...told };
  };

  it.each<[Partial<PushVerdict>, 'run' | 'offer', string, readonly string[]]>([
    [tracked, 'run', 'run', ['TRACKED']],
    [tracked, 'offer', 'offered', []],
    [proposed, 'offer', 'run', ['PROPOSED']],
    [{ outcome: 'ignored' }, 'run', 'skipped', []],
    [{ outcome: 'failed' }, 'run', 'skipped', []],
  ])('is decided by the same policies: %o, mode %s → %s', async (said, mode, outcome, types) => {
    const { world, stack, outcomes } = await missed(() => said)(mode);
    await using _ = world;
    expect(outcomes).toEqual([outcome]);
    const runs = await runsOfStack(world.database, stack.key);
    expect(runs.map(({ type }) => type)).toEqual(types);
  });
});
