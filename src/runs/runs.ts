import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { PushJudge } from '../stacks/push-judge.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import { type ApprovalJobs, createApprovalJobs } from './approvals/approval-jobs.ts';
import type { GateStore } from './approvals/gate-store.ts';
import { createGates, type Gates } from './approvals/gates.ts';
import type { Guards } from './approvals/guards.ts';
import type { ReviewStore } from './approvals/review-store.ts';
import { createReviewing, type Reviewing } from './approvals/reviewing.ts';
import { createSettleApproval, type SettleApproval } from './approvals/settle.ts';
import type { BranchHeadStore } from './branch-heads.ts';
import { createRunCommands, type RunCommands } from './commands.ts';
import type { JobQueue } from './job-queue.ts';
import { createJudgedEvents } from './judged-events.ts';
import type { LogStore } from './log-store.ts';
import { createMergeGroups, type MergeGroups } from './merge-groups.ts';
import { createMissedPushes, type MissedPushes, type MissedPushMode } from './missed-pushes.ts';
import type { Offers } from './offers.ts';
import { createPhaseJobs } from './phase-jobs.ts';
import type { PlanJudge } from './plan-judge.ts';
import { createPullRequests, type PullRequests } from './pull-requests.ts';
import { createRecovery, type Recovery } from './recovery.ts';
import { type BackupMark, createRestored, type Restored } from './restored.ts';
import type { Run } from './run.ts';
import type { Reactor } from './run-event.ts';
import type { RunStore } from './run-store.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import type { Source } from './source.ts';
import type { StackList } from './stack-list.ts';
import { createSummaryReactor } from './stack-summary.ts';
import { createTransitions, type Transitions } from './transition.ts';
import { createTriggers, type Triggers } from './triggers.ts';
import { createUnaffected, type ShowUnaffected } from './unaffected.ts';
import { createWorkerService } from './worker-service.ts';

/** Runs, put together: what makes them, what people may ask, what workers report, what happens after a crash. */
export interface Runs {
  readonly triggers: Triggers;
  readonly pullRequests: PullRequests;
  readonly missedPushes: MissedPushes;
  readonly mergeGroups: MergeGroups;
  readonly commands: RunCommands;
  readonly gates: Gates;
  readonly reviewing: Reviewing;
  readonly approvalJobs: ApprovalJobs;
  /** For who asks the approval policies. */
  readonly settleApproval: SettleApproval;
  readonly scheduler: Scheduler;
  readonly recovery: Recovery;
  readonly restored: Restored;
  readonly transitions: Transitions;
  readonly workerService: ReturnType<typeof createWorkerService>;
}

export interface RunsParts {
  readonly runs: RunStore;
  readonly stacks: StackStore;
  readonly stackList: Pick<StackList, 'places'>;
  readonly logs: LogStore;
  readonly queue: JobQueue;
  readonly source: Source;
  readonly judge: PlanJudge;
  readonly guards: Guards;
  readonly branchHeads: BranchHeadStore;
  readonly backupMark: BackupMark;
  readonly offers: Offers;
  /** What is done about pushes that GitHub did not tell of. */
  readonly missedPushes: MissedPushMode;
  readonly showUnaffected: ShowUnaffected;
  readonly pushJudge: PushJudge;
  readonly reviews: ReviewStore;
  readonly runGates: GateStore;
  /** What is shown of a run has changed, although its state has not. */
  readonly onGateChanged: (tx: Tx, run: Run) => Promise<void>;
  /** Of the other features. They come first, so that an event is written before what follows from it. */
  readonly reactors: readonly Reactor[];
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  /** False with SANDBOX=none: then nothing is executed that is not trusted. */
  readonly isSandboxed: boolean;
}

export function createRuns(parts: RunsParts): Runs {
  // Transitions call the scheduler and the worker service, which call transitions.
  let transitions: Transitions;
  const gates = createGates(parts);
  const approvalJobs = createApprovalJobs({ ...parts, gates });
  const late = { ...parts, gates, approvalJobs, transitions: () => transitions };
  const scheduler = createScheduler(late);
  const workerService = createWorkerService(late);
  transitions = createTransitions({
    ...parts,
    reactors: [
      ...parts.reactors,
      createSummaryReactor(parts.runs),
      approvalJobs.reactor,
      ...[createPhaseJobs(parts), scheduler.reactor, workerService.reactor],
    ],
  });
  const wired = { ...parts, gates, transitions };
  const commands = createRunCommands(wired);
  const unaffected = createUnaffected({ ...parts, show: parts.showUnaffected });
  const judgedEvents = createJudgedEvents({
    ...{ ...wired, commands, unaffected },
    onUnlock: scheduler.wake,
  });
  const triggering = { ...wired, commands, unaffected, judgedEvents };
  const approving = { ...parts, transitions, jobs: approvalJobs, wake: scheduler.wake };
  return {
    transitions,
    gates,
    approvalJobs,
    reviewing: createReviewing(approving),
    settleApproval: createSettleApproval(approving),
    scheduler,
    workerService,
    commands,
    triggers: createTriggers(triggering),
    pullRequests: createPullRequests(triggering),
    missedPushes: createMissedPushes({ ...triggering, mode: parts.missedPushes }),
    mergeGroups: createMergeGroups(triggering),
    recovery: createRecovery(wired),
    restored: createRestored({ ...wired, mark: parts.backupMark }),
  };
}
