import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Delta, Run } from './run.ts';
import type { PlanDocument } from './run-store.ts';

/**
 * Who judges a plan before its run goes on. Implemented by policies. The worker's report waits for it, outside of any
 * transaction and under the worker's lease: a server that dies meanwhile has decided nothing, and the plan is made anew.
 */
export interface PlanJudge {
  /** Never rejects for what a policy does: what cannot be judged is `failed`, and blocks. */
  judge(about: JudgedPlan, signal: AbortSignal): Promise<PlanVerdict>;
}

export interface JudgedPlan {
  /** In PLANNING still, with the delta and the digest of this plan. */
  readonly run: Run;
  readonly stack: Stack;
  readonly hasChanges: boolean;
  readonly delta: Delta;
  /** In the shape of the specification (§2.3). */
  readonly steps: readonly unknown[];
  /** What is judged instead of the steps, where there is one. */
  readonly document?: PlanDocument;
  /** By file name without its ending: what `*.custom.slipway.json` files of the workspace say. */
  readonly custom: Readonly<Record<string, unknown>>;
}

export interface PlanVerdict {
  readonly outcome: 'passed' | 'warned' | 'denied' | 'failed';
  /** For people; null when there is nothing to say. */
  readonly note: string | null;
  /** For the log of the run, a line for each policy. */
  readonly lines: readonly string[];
  /**
   * Writes down what was said, in the transaction that goes by it. False: other policies judge the stack by now, nothing
   * was written, and the plan has to be judged anew.
   */
  settle(tx: Tx): Promise<boolean>;
}
