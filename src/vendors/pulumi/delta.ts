import type { Delta } from '../../worker/vendor-results.ts';
import type { StepEvent, Summary } from './event-log.ts';

/**
 * Counts as Pulumi's own summary line does: the root stack resource and explicit providers count, default
 * providers do not, a replacement is one `replace` there and one added and one deleted here.
 */
export function toDelta(summary: Summary, steps: readonly StepEvent[]): Delta {
  const count = (op: string) => summary.resourceChanges[op] ?? 0;
  const created = count('create') + count('import');
  const replaced = count('replace');
  return {
    added: created + replaced,
    changed: count('update'),
    deleted: count('delete') + replaced + leftovers(steps),
    // What the stack has afterwards. Resources that are only read are in no count unless their outputs changed.
    resources: count('same') + created + count('update') + replaced,
  };
}

/**
 * A `delete-replaced` without its `replace` is the old half of a replacement that an earlier, failed apply left
 * behind. Pulumi counts it nowhere, and yet something is deleted.
 */
function leftovers(steps: readonly StepEvent[]): number {
  const halves = new Map<string, number>();
  const add = (urn: string, number: number) => halves.set(urn, (halves.get(urn) ?? 0) + number);
  for (const step of steps) {
    // A resource that is renamed by an alias and replaced in one go is deleted under its old name.
    if (step.op === 'replace') add(step.old?.urn ?? step.urn, -1);
    if (step.op === 'delete-replaced') add(step.urn, 1);
  }
  return halves
    .values()
    .filter((number) => number > 0)
    .reduce((sum, number) => sum + number, 0);
}
