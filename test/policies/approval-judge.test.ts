import { expect, test } from 'vitest';
import { againAfterMs, createApprovalJudge } from '../../src/policies/approval-judge.ts';
import { createGuards } from '../../src/policies/guards.ts';
import type { approvalInput } from '../../src/policies/input/approval.ts';
import type { Judgement } from '../../src/policies/judgement.ts';
import type { Judging } from '../../src/policies/judging.ts';
import { createRecording } from '../../src/policies/recording.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createFlagStore } from '../../src/storage/flag-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { openApprovalWorld } from '../runs/approvals/approval-world.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';

type Input = ReturnType<typeof approvalInput>;
type Said = Partial<Judgement>;

const fourEyes = aPolicy({ id: 'p1', name: 'four-eyes', kind: 'APPROVAL', rules: ['approve', 'reject'] });
const undecided = { outcome: 'undecided', messages: [], values: {} } as const;

/** As the sample policy that wants two people: what a policy sees decides what it says. */
function twoPeople({ reviews }: Input): Said {
  const { approvals, rejections } = reviews.current;
  if (rejections.length > 0) return { ...undecided, outcome: 'rejected' };
  return approvals.length > 1 ? { ...undecided, outcome: 'approved' } : undecided;
}

async function opened() {
  const world = await openApprovalWorld();
  const { database, clock, newId } = world;
  const seen: Input[] = [];
  let says: (input: Input) => Said = twoPeople;
  const judging: Judging = {
    judge: async (_, policies, input) => {
      seen.push(input as Input);
      return policies.map((policy) => aJudgement({ policy, ...says(input as Input) }));
    },
  };
  const policies = { ofStack: async () => (world.guards.length === 0 ? [] : [fourEyes]) };
  const decisions = createDecisionStore(database, createSecretBox(Buffer.alloc(32, 7)), { clock, newId });
  const flags = createFlagStore(database);
  const judge = createApprovalJudge({
    ...{ ...world, stacks: world.stackStore, policies, flags, judging, settle: world.settleApproval },
    recording: createRecording({ decisions, flags }),
  });

  const prepare = (id: string) => judge({ runId: id }, new AbortController().signal);
  async function ask(id: string) {
    const settle = await prepare(id);
    const settled = await database.write((tx) => settle(tx));
    await world.scheduler.settled();
    return settled;
  }
  const standing = async (id: string) => world.gates.standing(await world.run(id));
  return {
    ...{ ...world, seen, decisions, prepare, ask, standing },
    say: (next: (input: Input) => Said) => {
      says = next;
    },
  };
}

test('the names of the policies are those that the gate goes by', async () => {
  const guards = createGuards({ ofStack: async () => [fourEyes] });
  expect(await guards.guardsOf('stack-1')).toEqual(['p1 1']);
});

test('two people let a run begin, and two have to look at its plan again', async () => {
  await using world = await opened();
  const id = await world.made();
  await world.ask(id);
  expect(await world.standing(id)).toMatchObject({
    reason: 'four-eyes has not approved it, approved by nobody so far',
  });
  await world.review(id, 'ann', 'approve', { note: 'fine' });
  await world.ask(id);
  expect(await world.standing(id)).toMatchObject({
    reason: 'four-eyes has not approved it, approved by ann',
  });
  await world.review(id, 'bob', 'approve');
  await world.ask(id);
  expect(await world.run(id)).toMatchObject({ state: 'READY' });

  await world.plan();
  await world.ask(id);
  expect(await world.standing(id)).toMatchObject({ kind: 'shut' });
  const { run, reviews } = world.seen.at(-1) as Input;
  expect(run).toMatchObject({ id, state: 'UNCONFIRMED', creator_session: { login: 'ada' } });
  expect(run.changes).toBeDefined();
  expect(reviews.current).toEqual({ approvals: [], rejections: [] });
  expect(reviews.older).toMatchObject([
    { state: 'QUEUED', approvals: [{ author: 'ann' }, { author: 'bob' }] },
  ]);
  expect(await world.decisions.ofRun(id)).toMatchObject([
    { outcome: 'undecided', subject: 'whether the run may leave QUEUED' },
    { outcome: 'undecided' },
    { outcome: 'approved' },
    { outcome: 'undecided', subject: 'whether the run may leave UNCONFIRMED' },
  ]);
});

test('a rejection fails the run, and says who rejected it', async () => {
  await using world = await opened();
  const id = await world.planned();
  await world.review(id, 'ann', 'approve');
  await world.review(id, 'bob', 'reject');

  expect(await world.ask(id)).toBe('done');

  expect(await world.run(id)).toMatchObject({
    ...{ state: 'FAILED', outcome: 'approval_rejected' },
    note: 'four-eyes rejected it, rejected by bob',
  });
});

test('a policy that fails keeps the gate shut, is recorded once, and is asked again', async () => {
  await using world = await opened();
  const id = await world.made();
  const failure = { code: 'unavailable', message: 'opa was not found' } as const;
  world.say(() => ({ ...undecided, outcome: 'failed', failure }));

  for (let round = 0; round < 3; round += 1) {
    expect(await world.ask(id)).toEqual({ againAtMs: world.clock.nowMs() + againAfterMs });
  }
  expect(await world.run(id)).toMatchObject({ state: 'QUEUED' });
  expect(await world.standing(id)).toMatchObject({
    reason: 'four-eyes could not be evaluated: opa was not found',
  });
  expect(await world.decisions.ofRun(id)).toMatchObject([{ outcome: 'failed', failure }]);

  world.say(() => ({ ...undecided, outcome: 'approved' }));
  expect(await world.ask(id)).toBe('done');
  expect(await world.run(id)).toMatchObject({ state: 'READY' });
});

test('a job that a crash repeats has one effect', async () => {
  await using world = await opened();
  world.say(() => ({ ...undecided, outcome: 'approved' }));
  const id = await world.planned('PROPOSED');
  // Judged, and not committed.
  const lost = await world.prepare(id);
  await expect(
    world.database.write(async (tx) => {
      await lost(tx);
      throw new Error('killed');
    }),
  ).rejects.toThrow('killed');
  expect(await world.decisions.ofRun(id)).toEqual([]);
  expect(await world.run(id)).toMatchObject({ state: 'PENDING_REVIEW' });

  expect(await world.ask(id)).toBe('done');
  // The one before the crash answers after all.
  expect(await world.database.write((tx) => lost(tx))).toBe('done');

  expect(await world.decisions.ofRun(id)).toHaveLength(1);
  expect((await world.states(id)).slice(-2)).toEqual(['6 PENDING_REVIEW', '7 FINISHED']);
});

test('policies that changed meanwhile are asked at once, and nothing is recorded', async () => {
  await using world = await opened();
  const id = await world.made();
  const settle = await world.prepare(id);
  world.guards.splice(0, 1, 'p1 2');
  expect(await world.database.write((tx) => settle(tx))).toEqual({ againAtMs: 0 });
  expect(await world.decisions.ofRun(id)).toEqual([]);
});

test('a preview that waits goes on when no policy judges its stack any more', async () => {
  await using world = await opened();
  const id = await world.planned('PROPOSED');
  world.guards.pop();
  await world.approvalJobs.sweep();
  expect(await world.jobs()).toContainEqual({ kind: 'approval', runId: id });

  await world.ask(id);

  expect(await world.run(id)).toMatchObject({
    state: 'FINISHED',
    note: 'no approval policy judges the stack',
  });
});

test("a run that does not wait is nobody's business", async () => {
  await using world = await opened();
  const id = await world.made();
  await world.judge(id, 'approved');
  expect(await world.ask(id)).toBe('done');
  expect(await world.ask('gone')).toBe('done');
  expect(world.seen).toEqual([]);
});
