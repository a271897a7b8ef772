import type { Clock } from '../clock.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { JudgedPlan } from '../runs/plan-judge.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore } from '../runs/run-store.ts';
import { type Stack, vendorName } from '../stacks/stack.ts';
import { type PlanInput, planInput, planOfSteps } from './input/plan.ts';

/** What plan policies see of a run: the one whose plan was just made, and any whose plan is still there. */
export interface PlanInputs {
  of(about: Pick<JudgedPlan, 'run' | 'stack' | 'steps' | 'document' | 'custom'>): Promise<PlanInput>;
  /**
   * As of now, but for the plan: stack, flags and the time are those of this moment, and what scanners left in the
   * workspace is not known any more. Null without a plan.
   */
  ofRecorded(run: Run, stack: Stack): Promise<PlanInput | null>;
}

export function createPlanInputs(parts: {
  readonly runs: Pick<RunStore, 'newestFinished' | 'plan' | 'planDocument'>;
  readonly flags: Pick<FlagStore, 'of'>;
  readonly clock: Clock;
}): PlanInputs {
  async function of({
    run,
    stack,
    steps,
    document,
    custom,
  }: Parameters<PlanInputs['of']>[0]): Promise<PlanInput> {
    const [newest, flags] = await Promise.all([
      parts.runs.newestFinished(stack.key, 'TRACKED'),
      parts.flags.of(run.id),
    ]);
    const previousRun = newest && newest.id < run.id ? newest : null;
    const vendor = vendorName(stack.settings.vendor);
    const tool = document
      ? { name: document.name, plan: document.content }
      : { name: vendor, plan: planOfSteps(steps) };
    const plan = { vendor, steps };
    return planInput({ run, stack, plan, flags, previousRun, tool, custom, nowMs: parts.clock.nowMs() });
  }

  return {
    of,
    async ofRecorded(run, stack) {
      const plan = await parts.runs.plan(run.id);
      if (!plan) return null;
      const document = await parts.runs.planDocument(run.id);
      const about = { run: { ...run, state: 'PLANNING' }, stack, steps: plan.steps, custom: {} } as const;
      return of({ ...about, ...(document && { document }) });
    },
  };
}
