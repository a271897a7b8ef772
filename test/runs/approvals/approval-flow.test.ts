import { describe, expect, it } from 'vitest';
import type { GateOutcome } from '../../../src/runs/approvals/gate.ts';
import { aCommit, person } from '../../support/builders.ts';
import { openApprovalWorld } from './approval-world.ts';

const waiting = {
  QUEUED: (world: Awaited<ReturnType<typeof openApprovalWorld>>) => world.made(),
  UNCONFIRMED: (world: Awaited<ReturnType<typeof openApprovalWorld>>) => world.planned(),
  PENDING_REVIEW: (world: Awaited<ReturnType<typeof openApprovalWorld>>) => world.planned('PROPOSED'),
};
type Waiting = keyof typeof waiting;

describe('what approval policies say decides where a run goes', () => {
  it.each<[Waiting, GateOutcome, string]>([
    ['QUEUED', 'approved', 'READY'],
    ['QUEUED', 'rejected', 'FAILED'],
    ['QUEUED', 'undecided', 'QUEUED'],
    ['QUEUED', 'failed', 'QUEUED'],
    ['UNCONFIRMED', 'approved', 'UNCONFIRMED'],
    ['UNCONFIRMED', 'rejected', 'FAILED'],
    ['UNCONFIRMED', 'undecided', 'UNCONFIRMED'],
    ['UNCONFIRMED', 'failed', 'UNCONFIRMED'],
    ['PENDING_REVIEW', 'approved', 'FINISHED'],
    ['PENDING_REVIEW', 'rejected', 'FAILED'],
    ['PENDING_REVIEW', 'undecided', 'PENDING_REVIEW'],
    ['PENDING_REVIEW', 'failed', 'PENDING_REVIEW'],
  ])('%s, %s: %s', async (state, outcome, to) => {
    await using world = await openApprovalWorld();
    const id = await waiting[state](world);
    expect(await world.run(id)).toMatchObject({ state });

    expect(await world.judge(id, outcome)).toEqual({ kind: 'settled', isNews: true });

    const run = await world.run(id);
    expect(run.state).toBe(to);
    const [last] = (await world.runs.events(id)).slice(-1);
    if (to === 'FAILED') {
      expect(run).toMatchObject({ outcome: 'approval_rejected', note: 'the reason' });
      expect(last).toMatchObject({ actor: 'policy', note: 'the reason' });
    }
    expect(world.regated).toContain(id);
  });

  it.each(['TRACKED', 'PROPOSED', 'TASK', 'DESTROY'] as const)('no %s run begins before', async (type) => {
    await using world = await openApprovalWorld();
    const id = await world.made(type);
    await world.scheduler.sweep();
    await world.scheduler.settled();
    expect(await world.run(id)).toMatchObject({ state: 'QUEUED' });

    await world.judge(id, 'approved');

    expect(await world.run(id)).toMatchObject({ state: 'READY' });
  });

  it('keeps the place of the first, whatever the others got', async () => {
    await using world = await openApprovalWorld();
    const [first, second] = [await world.made('TRACKED', 'a1'), await world.made('TRACKED', 'b2')];

    await world.judge(second, 'approved');
    expect(await world.run(second)).toMatchObject({ state: 'QUEUED' });

    await world.judge(first, 'approved');
    expect(await world.run(first)).toMatchObject({ state: 'READY' });
    expect(await world.run(second)).toMatchObject({ state: 'QUEUED' });
  });
});

describe('the confirmation', () => {
  it.each(['UNCONFIRMED', 'PENDING_REVIEW'] as const)(
    'is refused before, and says why: %s',
    async (state) => {
      await using world = await openApprovalWorld();
      const id = await waiting[state](world);
      await expect(world.confirm(id)).rejects.toMatchObject({ code: 'approval-required' });

      await world.judge(id, 'undecided', 'two-people has not approved it');

      await expect(world.confirm(id)).rejects.toMatchObject({
        code: 'approval-required',
        message: 'The run waits for approval: two-people has not approved it.',
      });
      expect(await world.commands.discard(id, { actor: 'bob' })).toMatchObject({ kind: 'done' });
    },
  );

  it('passes once they approved', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();
    await world.judge(id, 'approved');
    expect(await world.confirm(id)).toMatchObject({ kind: 'done', run: { state: 'CONFIRMED' } });
  });

  it('is refused again when a policy changed in between', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();
    await world.judge(id, 'approved');

    world.guards.splice(0, 1, 'p1 2');
    await expect(world.confirm(id)).rejects.toMatchObject({ code: 'approval-required' });
    await world.judge(id, 'approved');

    expect(await world.confirm(id)).toMatchObject({ kind: 'done' });
  });

  it('is refused again when somebody reviewed it anew', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();
    await world.judge(id, 'approved');

    await world.review(id, 'ann', 'reject');

    await expect(world.confirm(id)).rejects.toMatchObject({ code: 'approval-required' });
  });

  it('needs nothing where no policy guards the stack any more', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();
    world.guards.pop();
    expect(await world.confirm(id)).toMatchObject({ kind: 'done' });
  });
});

describe('a review', () => {
  it.each(['QUEUED', 'UNCONFIRMED', 'PENDING_REVIEW'] as const)('is taken down in %s', async (state) => {
    await using world = await openApprovalWorld();
    const id = await waiting[state](world);
    const { stateVersion, changesDigest = null } = await world.run(id);

    const result = await world.review(id, 'ann', 'approve', { note: 'fine', stateVersion });

    // It moves nothing by itself.
    expect(result).toMatchObject({ kind: 'done', run: { state, stateVersion } });
    expect(await world.reviewing.ofRun(id)).toMatchObject([
      { verdict: 'approve', reviewer: { name: 'ann' }, state, stateVersion, changesDigest, note: 'fine' },
    ]);
    expect(await world.jobs()).toContainEqual({ kind: 'approval', runId: id });
  });

  it('is refused where nothing comes of it', async () => {
    await using world = await openApprovalWorld();
    const id = await world.made();
    const version = { stateVersion: 7 };
    expect(await world.review(id, 'ann', 'approve', version)).toMatchObject({ kind: 'conflict' });
    await expect(world.review('nobody', 'ann', 'approve')).rejects.toMatchObject({ code: 'not-found' });

    await world.judge(id, 'approved');
    expect(await world.review(id, 'ann', 'approve')).toEqual({
      ...{ kind: 'conflict', state: 'READY', stateVersion: 2 },
    });

    const other = await world.made();
    world.guards.pop();
    await expect(world.review(other, 'ann', 'approve')).rejects.toMatchObject({
      code: 'no-approval-policies',
    });
    expect(await world.reviewing.ofRun(id)).toEqual([]);
  });

  it('of two people at once counts for both', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();

    await Promise.all([world.review(id, 'ann', 'approve'), world.review(id, 'bob', 'reject')]);

    expect((await world.reviewing.ofRun(id)).map(({ reviewer }) => reviewer.name).sort()).toEqual([
      'ann',
      'bob',
    ]);
    expect(await world.jobs()).toHaveLength(1);
  });

  it('takes a judgement away that is under way: it did not know of it', async () => {
    await using world = await openApprovalWorld();
    const id = await world.planned();
    const held = await world.database.write((tx) => world.queue.claim(tx, 'judge'));

    await world.review(id, 'ann', 'reject');

    const holds = await world.database.write((tx) => world.queue.holds(tx, held ?? { id: '', attempt: 0 }));
    expect(holds).toBe(false);
    expect(await world.jobs()).toEqual([{ kind: 'approval', runId: id }]);
  });

  it('counts for a retry with the same changes, and for no others', async () => {
    await using world = await openApprovalWorld();
    const first = await world.planned('TRACKED', 'a1');
    await world.review(first, 'ann', 'approve');
    await world.commands.discard(first, { actor: 'bob' });
    await world.finish(await world.claimed());

    const again = await world.commands.retry(first, { by: person('bob') });
    if (again === 'duplicate') throw new Error('a duplicate');
    await world.judge(again.id, 'approved');
    await world.plan();
    const same = await world.run(again.id);
    const names = async (id: string) =>
      (await world.reviews.ofSameChanges(await world.run(id))).map(({ reviewer }) => reviewer.name);
    expect(same.state).toBe('UNCONFIRMED');
    expect(await names(same.id)).toEqual(['ann']);
    await world.commands.discard(same.id, { actor: 'bob' });
    await world.finish(await world.claimed());

    const other = await world.made('TRACKED', 'a1');
    await world.judge(other, 'approved');
    await world.plan({ steps: [{ op: 'delete' }] });
    expect(await names(other)).toEqual([]);
    const elsewhere = await world.addStack();
    expect(await world.reviews.ofSameChanges({ ...same, stackKey: elsewhere.key })).toEqual([]);
  });
});

describe('who asks the policies', () => {
  it('is whoever brings a run into a state in which it waits', async () => {
    await using world = await openApprovalWorld();
    const id = await world.made();
    expect(await world.jobs()).toEqual([{ kind: 'approval', runId: id }]);
  });

  it('nobody, where there are none', async () => {
    await using world = await openApprovalWorld();
    world.guards.pop();
    await world.planned();
    expect(await world.jobs()).toEqual([]);
  });

  it('is who changes the policies of a stack', async () => {
    await using world = await openApprovalWorld();
    world.guards.pop();
    const id = await world.planned();
    await world.commands.create({
      ...{ stackKey: world.stack.key, type: 'TRACKED', branch: 'main', commit: aCommit({ hash: 'b2' }) },
      ...{ by: person('ada'), dedupeKey: null },
    });
    await world.scheduler.settled();

    await world.database.write((tx) => world.approvalJobs.policiesChanged(tx, [world.stack.key]));

    expect(await world.jobs()).toHaveLength(2);
    expect(await world.jobs()).toContainEqual({ kind: 'approval', runId: id });
  });

  it('is the sweep, when somebody forgot to', async () => {
    await using world = await openApprovalWorld();
    const guard = world.guards.pop() as string;
    const id = await world.planned();
    await world.approvalJobs.sweep();
    expect(await world.jobs()).toEqual([]);

    world.guards.push(guard);
    await world.approvalJobs.sweep();
    await world.approvalJobs.sweep();

    expect(await world.jobs()).toEqual([{ kind: 'approval', runId: id }]);
  });
});

describe('a verdict', () => {
  it('about a state that the run has left does nothing', async () => {
    await using world = await openApprovalWorld();
    const id = await world.made();
    const before = await world.run(id);
    await world.judge(id, 'approved');

    const late = { outcome: 'rejected', guards: world.guards, note: null } as const;
    const settled = await world.database.write((tx) => world.settleApproval(tx, before, late));

    expect(settled).toEqual({ kind: 'run-moved' });
    expect(await world.run(id)).toMatchObject({ state: 'READY' });
  });

  it('of other policies than those of now does nothing', async () => {
    await using world = await openApprovalWorld();
    const run = await world.run(await world.made());
    const verdict = { outcome: 'approved', guards: ['p1 0'], note: null } as const;
    const settled = await world.database.write((tx) => world.settleApproval(tx, run, verdict));
    expect(settled).toEqual({ kind: 'policies-changed' });
    expect(await world.runGates.find(run.id)).toBeNull();
  });

  it('that says the same again is no news', async () => {
    await using world = await openApprovalWorld();
    const id = await world.made();
    await world.judge(id, 'failed', 'no opa');
    expect(await world.judge(id, 'failed', 'no opa')).toEqual({ kind: 'settled', isNews: false });
    expect(await world.judge(id, 'failed', 'opa 0.1')).toEqual({ kind: 'settled', isNews: true });
  });
});
