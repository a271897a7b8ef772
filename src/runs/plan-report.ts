import { createHash } from 'node:crypto';
import type { Logger } from '../logger.ts';
import { isLockedFor, type Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { Guards } from './approvals/guards.ts';
import { changesDigestOf } from './changes-digest.ts';
import type { JobQueue, Lease } from './job-queue.ts';
import type { LogStore } from './log-store.ts';
import type { ResourceMark } from './plan/resource-mark.ts';
import type { PlanJudge, PlanVerdict } from './plan-judge.ts';
import { createPlanJudging } from './plan-judging.ts';
import { likenessOf } from './plan-likeness.ts';
import { type Delta, isTerminal, nothingToChange, type Run, type RunCommand } from './run.ts';
import type { PlanDocument, RunChange, RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';
import type { Watchers } from './watchers.ts';

export interface ReportedPlan {
  readonly hasChanges: boolean;
  readonly delta: Delta;
  /** In the shape of the specification (§2.3). */
  readonly steps: readonly unknown[];
  /** What the tool says of resources besides. Left out: nothing. */
  readonly marks?: readonly ResourceMark[];
  /** Left out: policies see the steps. */
  readonly document?: PlanDocument;
  /** By name: what `*.custom.slipway.json` files of the workspace say. Left out: there are none. */
  readonly custom?: Readonly<Record<string, unknown>>;
  /** What the tool has saved for its apply, if that is wanted. */
  readonly file: Uint8Array | null;
  /** As frozen, not as the stack says now. */
  readonly autodeploy: boolean;
}

interface Held {
  readonly lease: Lease;
  readonly run: Run;
}

type Next = { readonly next: 'apply' | 'wait' | 'end' | 'undecided' | 'lost' };

/**
 * What becomes of a run whose plan a worker reports. Policies judge it first, outside of any transaction; the worker
 * holds its lease meanwhile. Then one transaction stores the plan and what was said of it, and moves the run, if the lease
 * still holds.
 */
export function createPlanReports(parts: {
  runs: RunStore;
  stacks: StackStore;
  queue: JobQueue;
  judge: PlanJudge;
  guards: Guards;
  logs: Pick<LogStore, 'read' | 'append'>;
  watchers: Watchers;
  transitions: () => Transitions;
  transactions: Transactions;
  logger: Logger;
}) {
  const { runs, stacks, queue, transactions } = parts;
  const judging = createPlanJudging(parts);

  async function readHeld(held: Held, tx: Tx) {
    if (!(await queue.holds(tx, held.lease))) return null;
    const run = await runs.find(held.run.id, tx);
    const stack = run && (await stacks.findByKey(run.stackKey, tx));
    return run && stack ? { run, stack } : null;
  }

  function commandFor(run: Run, stack: Stack, plan: ReportedPlan, verdict: PlanVerdict, isGuarded: boolean) {
    if (verdict.outcome === 'denied' || verdict.outcome === 'failed') return { kind: 'fail' } as const;
    return {
      kind: 'planned',
      hasChanges: plan.hasChanges,
      hasWarnings: verdict.outcome === 'warned',
      hasApprovalPolicies: isGuarded,
      autodeploy: plan.autodeploy,
      stackLocked: isLockedFor(stack.lock, run.startedBy),
    } satisfies RunCommand;
  }

  async function unjudged(held: Held): Promise<Next> {
    const found = await transactions.write((tx) => readHeld(held, tx));
    if (!found) return { next: 'lost' };
    return { next: isTerminal(found.run.state) ? 'end' : 'undecided' };
  }

  return async function planned(held: Held, plan: ReportedPlan, draining: AbortSignal): Promise<Next> {
    const shows = {
      delta: plan.delta,
      planLikeness: likenessOf(plan),
      changesDigest: await changesDigestOf(held.run, plan.steps),
      ...(plan.file ? { planDigest: sha256(plan.file) } : {}),
    };
    const sealed = await runs.sealPlan(held.run.id, plan);

    /** Null: other policies judge the stack by now. */
    async function act(tx: Tx, verdict: PlanVerdict): Promise<Next | null> {
      const now = await readHeld(held, tx);
      if (!now) return { next: 'lost' };
      const { run, stack } = now;
      if (isTerminal(run.state)) return { next: 'end' };
      if (!(await verdict.settle(tx))) return null;
      await runs.savePlan(tx, sealed);
      const isGuarded = (await parts.guards.guardsOf(run.stackKey, tx)).length > 0;
      const command = commandFor(run, stack, plan, verdict, isGuarded);
      const change = { ...shows, ...outcomeOf(verdict) };
      const note = verdict.note ?? (plan.hasChanges ? null : nothingToChange);
      const moved = await parts.transitions().move(tx, run, command, { actor: 'worker', note, change });
      if (moved.kind !== 'moved') throw new Error(`planned was refused in ${run.state}`);
      if (moved.run.state === 'APPLYING') return { next: 'apply' };
      if (isTerminal(moved.run.state)) return { next: 'end' };
      // The run waits for a person and holds no worker: the confirmation makes the next job.
      await queue.finish(tx, held.lease);
      return { next: 'wait' };
    }

    for (let tries = 1; ; tries += 1) {
      const found = await transactions.write((tx) => readHeld(held, tx));
      if (!found) return { next: 'lost' };
      if (isTerminal(found.run.state)) return { next: 'end' };
      const { delta, changesDigest } = shows;
      const run = { ...found.run, delta, changesDigest };
      const about = { ...plan, custom: plan.custom ?? {}, run, stack: found.stack };
      const verdict = tries > maxTries ? neverDone : await judging.once(held.lease, about, draining);
      if (verdict === null) return unjudged(held);
      const next = await transactions.write((tx) => act(tx, verdict));
      if (next) return next;
      judging.forget(held.lease);
    }
  };
}

/** Somebody changes policies while they judge; so often in a row is no accident. */
const maxTries = 3;

const neverDone: PlanVerdict = {
  outcome: 'failed',
  note: 'the plan policies of the stack were changed again and again while they judged',
  lines: [],
  settle: async () => true,
};

function outcomeOf({ outcome }: PlanVerdict): Pick<RunChange, 'outcome'> {
  if (outcome === 'denied') return { outcome: 'policy_denied' };
  return outcome === 'failed' ? { outcome: 'policy_failed' } : {};
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
