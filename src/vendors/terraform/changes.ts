import type { PlanJson } from './plan-json.ts';

/**
 * Whether applying would change anything, as the plan in JSON says it. The exit code of `plan` must say the same, or
 * one of the two belongs to something else.
 */
export function hasChanges(plan: PlanJson): boolean {
  if (typeof plan.applyable === 'boolean') return plan.applyable;
  const resources = (plan.resource_changes ?? []).some(
    ({ change, previous_address }) =>
      Boolean(previous_address || change.importing) || !looksOnly.has(change.actions.join(',')),
  );
  return resources || Object.values(plan.output_changes ?? {}).some(({ actions }) => actions[0] !== 'no-op');
}

const looksOnly = new Set(['no-op', 'read', 'open']);
