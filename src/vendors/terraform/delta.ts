import type { Delta, PlanStep } from '../../worker/vendor-results.ts';
import type { PlanJson, StateModule } from './plan-json.ts';

/** Counts as the summary line of the tool does, where a replacement is one added and one deleted; imports are added. */
export function toDelta({ planned_values, resource_changes }: PlanJson, steps: readonly PlanStep[]): Delta {
  const count = (...ops: PlanStep['op'][]) => steps.filter(({ op }) => ops.includes(op)).length;
  // What is only taken out of the state is still among the planned values.
  const forgotten = (resource_changes ?? []).filter(
    ({ mode, deposed, change }) => mode === 'managed' && !deposed && change.actions.join() === 'forget',
  ).length;
  return {
    added: count('create', 'create-replacement'),
    changed: count('update'),
    deleted: count('delete', 'delete-replaced'),
    resources: managedResources(planned_values?.root_module ?? {}) - forgotten,
  };
}

function managedResources({ resources, child_modules }: StateModule): number {
  const own = (resources ?? []).filter(({ mode }) => mode === 'managed').length;
  return (child_modules ?? []).reduce((sum, module) => sum + managedResources(module), own);
}
