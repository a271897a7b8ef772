import { describe, expect, it, test } from 'vitest';
import { type BranchHead, isNext, judgeHead, settleMs } from '../../src/runs/branch-heads.ts';
import { createMissedPushes, decideMissed, type MissedPushMode } from '../../src/runs/missed-pushes.ts';
import type { Offer } from '../../src/runs/offers.ts';
import { aCommit } from '../support/builders.ts';
import { noneJudged, openRunWorld, type RunWorldOptions } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

const at = (hash: string | null): BranchHead => ({ hash, seenAtMs: 0 });

describe('a look at a branch', () => {
  const nowMs = 1_000_000;
  const long = nowMs - settleMs;
  test.each([
    // known, head, first seen like this, on its way, verdict
    [null, 'a1', null, false, 'adopt'],
    [null, null, null, false, 'adopt'],
    [null, 'a1', long, true, 'adopt'],
    [at('a1'), 'a1', null, false, 'unchanged'],
    [at('a1'), 'a1', long, true, 'unchanged'],
    [at(null), null, long, false, 'unchanged'],
    [at('a1'), 'b2', null, false, 'wait'],
    [at('a1'), 'b2', nowMs, false, 'wait'],
    [at('a1'), 'b2', long + 1, false, 'wait'],
    [at('a1'), 'b2', long, false, 'missed'],
    [at('a1'), 'b2', 0, false, 'missed'],
    [at('a1'), 'b2', long, true, 'wait'],
    [at(null), 'b2', long, false, 'missed'],
    [at('a1'), null, null, false, 'wait'],
    [at('a1'), null, long, true, 'wait'],
    [at('a1'), null, long, false, 'gone'],
    // The clock was set back.
    [at('a1'), 'b2', nowMs + 1, false, 'wait'],
  ] as const)('%o, and now %s since %s, on its way %s: %s', (known, head, sinceMs, isExpected, verdict) => {
    expect(judgeHead({ known, head, sinceMs, isExpected, nowMs })).toBe(verdict);
  });

  test.each([
    [null, 'a1', true],
    [null, null, true],
    [at('a1'), 'a1', true],
    [at('a1'), 'b2', false],
    [at('a1'), null, false],
    [at(null), null, true],
  ])('%o goes on with a push that was at %s before: %s', (known, before, expected) => {
    expect(isNext(known, { before })).toBe(expected);
  });
});

describe('what is done for a stack that a missed push concerns', () => {
  const newest = (hash: string) => ({ id: 'run-1', commit: aCommit({ hash }) });
  test.each([
    ['b2', null, null, 'run', { do: 'run' }],
    ['b2', null, null, 'offer', { do: 'offer' }],
    ['b2', newest('a1'), null, 'offer', { do: 'offer' }],
    ['b2', newest('b2'), null, 'offer', { skip: 'there is run run-1 for this commit already' }],
    ['b2', newest('b2'), null, 'run', { skip: 'there is run run-1 for this commit already' }],
    ['b2', newest('c3'), 'too old', 'run', { skip: 'too old' }],
    ['b2', newest('c3'), 'too old', 'offer', { skip: 'too old' }],
  ] as const)('%s after %o, %s, %s: %o', (head, last, outdated, mode, expected) => {
    expect(decideMissed({ head, newest: last, outdated, mode: mode as MissedPushMode })).toEqual(expected);
  });
});

/** A stack whose branch is at a1 as far as anybody was told, and at b2 in truth. */
async function openMissed(options: RunWorldOptions = {}) {
  const world = await openRunWorld({ changes: { 'a1...b2': ['infra/x'] }, ...options });
  const stack = await world.addStack({ projectRoot: 'infra' });
  const first = await world.pushed('a1', { paths: ['infra/x'] });
  world.commits.set('main', [aCommit({ hash: 'a1' }), aCommit({ hash: 'b2' })]);
  const headNow = () => world.branchHeads.find(21, 'main');
  return {
    ...world,
    ...{ stack, first, headNow },
    missed: async (head = 'b2') => {
      const known = await headNow();
      if (!known) throw new Error('the push was not remembered');
      return world.missedPushes.handle({
        ...{ repositoryId: 21, branch: 'main', known, head: aCommit({ hash: head }) },
      });
    },
    newest: () => world.runs.newestOfType(stack.key, 'TRACKED'),
  };
}

describe('a push that was missed', () => {
  it('makes the run that it would have made, of nobody in particular', async () => {
    await using world = await openMissed({ missedPushes: 'run' });

    const { notes, outcomes } = await world.missed();

    const run = await world.newest();
    expect(outcomes).toEqual(['run']);
    expect(notes).toEqual([`${world.stack.id}: TRACKED run ${run?.id}`]);
    expect(run).toMatchObject({ type: 'TRACKED', commit: { hash: 'b2' }, triggeredBy: 'slipway' });
    expect((await world.runs.events(run?.id ?? ''))[0]).toMatchObject({
      actor: 'server',
      note: 'for a push that GitHub did not tell of',
    });
    expect(await world.headNow()).toMatchObject({ hash: 'b2' });
  });

  it('is offered, and starts nothing', async () => {
    await using world = await openMissed();

    expect((await world.missed()).outcomes).toEqual(['offered']);

    expect(world.offered).toMatchObject([
      { stack: { id: world.stack.id }, commit: { hash: 'b2' }, reason: 'infra/x is below the project root' },
    ]);
    expect((await world.newest())?.id).toBe(world.first);
    expect(await world.headNow()).toMatchObject({ hash: 'b2' });
  });

  it('does nothing for stacks that it does not concern, nor for those that follow another branch', async () => {
    await using world = await openMissed({ changes: { 'a1...b2': ['docs/x'] }, missedPushes: 'run' });
    const other = await world.addStack({ branch: 'release', projectRoot: '' });

    const { notes } = await world.missed();

    expect(notes).toEqual([`${world.stack.id}: no changed path belongs to the stack`]);
    expect(await world.runs.newestOfType(other.key, 'TRACKED')).toBeNull();
  });

  it('makes one run when it is told late, whichever comes first', async () => {
    await using world = await openMissed({ missedPushes: 'run' });
    await Promise.all([world.missed(), world.push('b2', { before: 'a1', paths: ['infra/x'] })]);
    await world.missed();

    const runs = await runsOfStack(world.database, world.stack.key);
    expect(runs.map(({ commit }) => commit.hash)).toEqual(['b2', 'a1']);
  });

  it('that was handled a moment ago is not offered', async () => {
    await using world = await openMissed();
    const known = await world.headNow();
    await world.push('b2', { before: 'a1', paths: ['infra/x'] });

    const { notes } = await world.missedPushes.handle({
      ...{ repositoryId: 21, branch: 'main', known: known ?? at('a1'), head: aCommit({ hash: 'b2' }) },
    });

    expect(notes.join()).toContain('for this commit already');
    expect(world.offered).toEqual([]);
  });

  it('that is told while GitHub is asked about it is not offered', async () => {
    await using world = await openMissed();
    const { stackStore: stacks, database: transactions, branchHeads, source, clock } = world;
    const offered: Offer[] = [];
    const missedPushes = createMissedPushes({
      ...{ stacks, transactions, branchHeads, source, clock, commands: world.commands, mode: 'offer' },
      judgedEvents: noneJudged,
      runs: {
        ...world.runs,
        async newestOfType(key, type, tx) {
          const newest = await world.runs.newestOfType(key, type, tx);
          // Right after the first look at it.
          if (newest?.commit.hash === 'a1' && !tx)
            await world.push('b2', { before: 'a1', paths: ['infra/x'] });
          return newest;
        },
      },
      offers: { offer: async (_, offer) => void offered.push(offer) },
    });
    const known = (await world.headNow()) ?? at(null);

    const { outcomes } = await missedPushes.handle({
      ...{ repositoryId: 21, branch: 'main', known, head: aCommit({ hash: 'b2' }) },
    });

    expect(outcomes).toEqual(['skipped']);
    expect(offered).toEqual([]);
  });

  it('makes a run each time that a branch is moved to and fro', async () => {
    await using world = await openMissed({ missedPushes: 'run', changes: {} });
    for (const hash of ['b2', 'a1', 'b2']) {
      world.clock.advance(1000);
      expect((await world.missed(hash)).outcomes).toEqual(['run']);
    }
  });

  it('that moved the branch back counts what the branch has lost', async () => {
    await using world = await openMissed({
      missedPushes: 'run',
      changes: { 'b2...a1': [], 'a1...b2': ['infra/x'] },
    });
    await world.pushed('b2', { before: 'a1', paths: ['infra/x'] });
    world.commits.set('main', [aCommit({ hash: 'a1' })]);

    expect((await world.missed('a1')).outcomes).toEqual(['run']);

    expect((await world.newest())?.commit.hash).toBe('a1');
    expect(await world.headNow()).toMatchObject({ hash: 'a1' });
  });

  it('of which GitHub tells nothing more is not forgotten', async () => {
    await using world = await openMissed({ missedPushes: 'run' });
    await using troubled = await openRunWorld({ former: world, sourceFails: true, missedPushes: 'run' });
    const known = (await world.headNow()) ?? at(null);
    const missed = { repositoryId: 21, branch: 'main', known, head: aCommit({ hash: 'b2' }) };

    await expect(troubled.missedPushes.handle(missed)).rejects.toThrow('GitHub does not answer');

    expect(await world.headNow()).toMatchObject({ hash: 'a1' });
    expect((await world.missed()).outcomes).toEqual(['run']);
  });
});

describe('pushes that are told', () => {
  it('are remembered in their order, a gap between them is not', async () => {
    await using world = await openMissed();
    await world.push('c3', { before: 'b2' });
    expect(await world.headNow()).toMatchObject({ hash: 'a1' });

    await world.push('b2', { before: 'a1', isLate: true });
    expect(await world.headNow()).toMatchObject({ hash: 'b2' });
  });

  it('of branches that no stack follows are not remembered', async () => {
    await using world = await openMissed();
    await world.push('d4', { branch: 'topic' });
    expect(await world.branchHeads.find(21, 'topic')).toBeNull();
  });

  it.each(['archived', 'suspended'] as const)(
    'start nothing where the repository is out of reach (%s), and are found out later',
    async (away) => {
      await using world = await openMissed();
      const { repositories, database } = world;
      const repository = await repositories.find(21);
      const account = await repositories.findAccount(11);
      if (!repository || !account) throw new Error('no repository');
      await database.write(async (tx) => {
        if (away === 'archived') await repositories.saveRepository(tx, { ...repository, isArchived: true });
        else await repositories.saveAccount(tx, { ...account, suspended: true });
      });
      expect(await world.branchHeads.tracked()).toEqual([]);

      const notes = await world.push('b2', { before: 'a1', paths: ['infra/x'] });

      expect(notes.join()).toMatch(away === 'archived' ? /is archived/ : /the App is suspended on/);
      expect((await world.newest())?.id).toBe(world.first);
      expect(await world.headNow()).toMatchObject({ hash: 'a1' });
      await database.write(async (tx) => {
        await repositories.saveRepository(tx, repository);
        await repositories.saveAccount(tx, account);
      });
      expect(await world.branchHeads.tracked()).toMatchObject([{ repository, branch: 'main' }]);
      expect((await world.missed()).outcomes).toEqual(['offered']);
    },
  );
});

describe('runs that wait when their repository gets out of reach', () => {
  async function removed() {
    const world = await openMissed();
    const { repositories, database } = world;
    const repository = await repositories.find(21);
    if (!repository) throw new Error('no repository');
    return {
      ...world,
      uninstall: () => database.write((tx) => repositories.forgetInstallation(tx, repository.installationId)),
      reinstall: () => database.write((tx) => repositories.saveRepository(tx, repository)),
    };
  }

  it('keep waiting, and go on when it is there again', async () => {
    await using world = await removed();
    const second = await world.pushed('b2', { before: 'a1', paths: ['infra/x'] });
    await world.uninstall();
    expect(await world.claim()).toBeNull();
    await world.commands.cancel(world.first, { actor: 'ada' });
    await world.scheduler.settled();
    expect((await world.run(second)).state).toBe('QUEUED');
    await expect(world.push('c3')).resolves.toEqual([expect.stringContaining('does not see')]);

    await world.reinstall();
    await world.scheduler.sweep();
    await world.scheduler.settled();

    expect((await world.run(second)).state).toBe('READY');
    expect((await world.claimed()).run.id).toBe(second);
  });

  it('that are READY already are claimed after a while', async () => {
    await using world = await removed();
    await world.uninstall();
    expect(await world.claim()).toBeNull();
    await world.reinstall();
    world.clock.advance(60_000);

    expect((await world.claimed()).run.id).toBe(world.first);
  });

  it('take no company: a person is told why', async () => {
    await using world = await removed();
    await world.uninstall();
    await world.commands.cancel(world.first, { actor: 'ada' });

    const again = world.commands.retry(world.first, { by: { kind: 'operator' } });

    await expect(again).rejects.toMatchObject({ code: 'repository-away' });
  });
});
