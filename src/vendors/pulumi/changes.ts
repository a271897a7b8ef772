import type { StepEvent } from './event-log.ts';
import { hasPropertyChanges, type SavedPlan } from './saved-plan.ts';

/**
 * Whether applying would change anything. Pulumi's own counts are not enough: "3 unchanged" also covers a
 * resource that becomes protected, gets another parent or provider, and a stack whose outputs alone differ.
 * The saved plan, if there is one, tells of secrets that get another value. Not seen, because neither tells:
 * changes of options alone that only the state and later runs know (docs/runs.md lists them).
 */
export function hasChanges(steps: readonly StepEvent[], plan: SavedPlan | null): boolean {
  if (plan !== null && hasPropertyChanges(plan)) return true;
  return steps.some((step) => {
    if (step.op === 'refresh') return false;
    if (looksOnly.has(step.op)) return !step.isUnchanged;
    return true;
  });
}

const looksOnly = new Set(['same', 'read', 'read-replacement']);
