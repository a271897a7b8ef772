import type { RunState } from './run.ts';

/**
 * Runs that follow from one another, and how far that may go: trigger policies are people's programs, and two of them
 * can start each other for ever. Pure.
 */
export interface WorkflowRun {
  readonly id: string;
  readonly stackKey: string;
  readonly state: RunState;
  /** The run that it was started after; null for the first one. It need not be there any more. */
  readonly causeRunId: string | null;
  /** 0 for the first one. */
  readonly depth: number;
}

/** How many runs may follow one from the other. */
export const maxDepth = 10;
/** Of one workflow, the first one included. */
export const maxWorkflowRuns = 100;

/**
 * Why no run of the stack may be started after that one of the workflow: for people, without a full stop. Null: it may.
 * A stack comes up once between the first run and its last consequence, unless its newest run there has failed: this is
 * how a policy tries again.
 */
export function loopRefusal(
  workflow: readonly WorkflowRun[],
  after: WorkflowRun,
  stackKey: string,
): string | null {
  if (after.depth >= maxDepth) return `${maxDepth} runs have followed one from the other, which is the most`;
  if (workflow.length >= maxWorkflowRuns) {
    return `${maxWorkflowRuns} runs have followed from one, which is the most`;
  }
  const earlier = chainTo(workflow, after).find((run) => run.stackKey === stackKey);
  if (!earlier || earlier.state === 'FAILED') return null;
  return `this follows from run ${earlier.id} of the same stack, which is ${earlier.state}; only after a failure a stack is tried again`;
}

/** From that run back to the first one that is still there. */
function chainTo(workflow: readonly WorkflowRun[], last: WorkflowRun): readonly WorkflowRun[] {
  const byId = new Map(workflow.map((run) => [run.id, run]));
  const chain: WorkflowRun[] = [];
  let next: WorkflowRun | undefined = last;
  while (next && chain.length <= maxDepth) {
    chain.push(next);
    next = next.causeRunId === null ? undefined : byId.get(next.causeRunId);
  }
  return chain;
}
