import { z } from 'zod';
import type { Run } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import { nanosecondsOf } from './moment.ts';
import { briefRunInput, commitInput, type RunFacts, runInput } from './run.ts';
import * as schemas from './schemas/plan.ts';
import { stackInput } from './stack.ts';

export interface PlanFacts extends RunFacts {
  readonly stack: Stack;
  /** The newest TRACKED run of the stack that has finished, if any. */
  readonly previousRun: Run | null;
  /** The plan as policies see it, under this name: the tool's. */
  readonly tool: { readonly name: string; readonly plan: unknown };
  /** By file name without its ending. */
  readonly custom: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** What plan policies judge. */
export interface PlanInput {
  readonly slipway: z.infer<typeof schemas.slipway>;
  readonly third_party_metadata: z.infer<typeof schemas.thirdPartyMetadata>;
  readonly [tool: string]: unknown;
}

export function planInput(facts: PlanFacts): PlanInput {
  const { run, stack, previousRun, tool } = facts;
  return {
    [tool.name]: tool.plan,
    slipway: {
      run: runInput(facts),
      ...(previousRun ? { previous_run: briefRunInput(previousRun) } : {}),
      stack: stackInput(stack),
      commit: commitInput(run),
      request: { timestamp_ns: nanosecondsOf(facts.nowMs) },
    },
    third_party_metadata: { custom: { ...facts.custom } },
  };
}

const steps = z.array(schemas.step);

/**
 * The plan of steps with exactly the fields of the specification (§2.3): whatever else stands in them is left out, and
 * no value is altered. Throws for what are no steps.
 */
export const planOfSteps = (given: readonly unknown[]): { readonly steps: z.infer<typeof steps> } => ({
  steps: steps.parse(given),
});
