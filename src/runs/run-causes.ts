import type { Tx } from '../tx.ts';

/** Why a trigger policy started a run. */
export interface RunCause {
  /** The run that was started. */
  readonly runId: string;
  /** The run after whose end it was started; it may be removed by now. */
  readonly causeRunId: string;
  /** Id of the run that all of a workflow follows from, started by no policy; it may be removed by now. */
  readonly workflow: string;
  /** 1 for what follows directly from the first run of the workflow. */
  readonly depth: number;
  readonly policyId: string;
  readonly policyName: string;
}

/** Which runs follow from which. A run without a cause begins a workflow of its own. */
export interface RunCauseStore {
  insert(tx: Tx, cause: RunCause): Promise<void>;
  find(runId: string, tx?: Tx): Promise<RunCause | null>;
  /** All but the first run, which has none; in the order in which the runs were made. */
  ofWorkflow(workflow: string, tx?: Tx): Promise<readonly RunCause[]>;
}
