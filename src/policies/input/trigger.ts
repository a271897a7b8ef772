import type { z } from 'zod';
import type { Run } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import { nanosecondsOf } from './moment.ts';
import { type RunFacts, runInput } from './run.ts';
import type * as schemas from './schemas/trigger.ts';
import { stackInput } from './stack.ts';

export interface TriggerFacts extends RunFacts {
  readonly stack: Stack;
  /** All of its account. */
  readonly stacks: readonly Stack[];
  /** What came of the same first run, that one and `run` included, the oldest first. */
  readonly workflow: readonly {
    readonly run: Pick<Run, 'id' | 'type' | 'state'>;
    readonly stackId: string;
  }[];
  readonly nowMs: number;
}

/** What trigger policies judge. */
export function triggerInput(facts: TriggerFacts): z.infer<typeof schemas.triggerInput> {
  return {
    run: runInput(facts),
    stack: stackInput(facts.stack),
    stacks: facts.stacks.map(stackInput),
    workflow: facts.workflow.map(({ run: { id, type, state }, stackId }) => ({
      id,
      type,
      state,
      stack_id: stackId,
    })),
    request: { timestamp_ns: nanosecondsOf(facts.nowMs) },
  };
}
