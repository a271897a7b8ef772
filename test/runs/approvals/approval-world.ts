import type { GateOutcome } from '../../../src/runs/approvals/gate.ts';
import type { Verdict } from '../../../src/runs/approvals/review.ts';
import type { ReviewRequest } from '../../../src/runs/approvals/reviewing.ts';
import { judgeQueue } from '../../../src/runs/judge-jobs.ts';
import type { PlanJudge } from '../../../src/runs/plan-judge.ts';
import type { Run } from '../../../src/runs/run.ts';
import { aCommit, person } from '../../support/builders.ts';
import { openRunWorld } from '../../support/run-world.ts';

const warns: PlanJudge = {
  judge: async () => ({ outcome: 'warned', note: 'careful', lines: [], settle: async () => true }),
};

/** A stack that one approval policy guards, which says what the test lets it say. */
export async function openApprovalWorld() {
  const guards = ['p1 1'];
  const world = await openRunWorld({ guards: () => guards, judge: warns });
  const stack = await world.addStack();
  const { database, queue } = world;

  async function made(type: Run['type'] = 'TRACKED', hash = 'a1'): Promise<string> {
    const what = { stackKey: stack.key, type, branch: 'main', commit: aCommit({ hash }), dedupeKey: null };
    const task = type === 'TASK' ? { command: 'true' } : {};
    const run = await world.commands.create({ ...what, ...task, by: person('ada') });
    if (run === 'duplicate') throw new Error('a duplicate without a key');
    await world.scheduler.settled();
    return run.id;
  }

  const review = (id: string, name: string, verdict: Verdict, change: Partial<ReviewRequest> = {}) =>
    world.reviewing.review(id, {
      ...{ verdict, reviewer: { key: `person:${name}`, name }, role: 'writer', via: 'api', ...change },
    });

  /** The policies are asked about the run as it is, and say that. */
  async function judge(id: string, outcome: GateOutcome, note = 'the reason') {
    const run = await world.run(id);
    const verdict = { outcome, guards: [...guards], note };
    const settled = await database.write((tx) => world.settleApproval(tx, run, verdict));
    await world.scheduler.settled();
    return settled;
  }

  /** Made, let begin, planned. */
  async function planned(type: Run['type'] = 'TRACKED', hash = 'a1'): Promise<string> {
    const id = await made(type, hash);
    await judge(id, 'approved');
    await world.plan();
    return id;
  }

  const jobs = async () =>
    (await database.write((tx) => queue.unfinished(tx, judgeQueue))).map(({ data }) => data);
  const confirm = (id: string) => world.commands.confirm(id, { actor: 'bob' });

  return { ...world, ...{ guards, stack, made, planned, review, judge, jobs, confirm } };
}
