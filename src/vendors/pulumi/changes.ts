import type { StepEvent } from './event-log.ts';

/**
 * Whether applying would change anything. Pulumi's own counts are not enough: "3 unchanged" also covers a
 * resource that becomes protected, gets another parent or provider, and a stack whose outputs alone differ.
 * Not seen, because the event log does not tell: another value of a *secret* output of a stack or component, and
 * changes of dependencies, aliases or timeouts alone.
 */
export function hasChanges(steps: readonly StepEvent[]): boolean {
  return steps.some((step) => {
    if (step.op === 'refresh') return false;
    if (looksOnly.has(step.op)) return !step.isUnchanged;
    return true;
  });
}

const looksOnly = new Set(['same', 'read', 'read-replacement']);
