import type { PlanStep, ResourceMark } from '../../worker/vendor-results.ts';
import type { StepEvent } from './event-log.ts';

/** Collects the steps of one operation from its events. */
export class StepCollector {
  readonly #steps: StepEvent[] = [];
  readonly #latest = new Map<string, number>();

  /** A step begins. One URN may have several: refresh, create-replacement, replace, delete-replaced. */
  begin(step: StepEvent): void {
    for (const key of keysOf(step)) this.#latest.set(key, this.#steps.length);
    this.#steps.push(step);
  }

  /**
   * A step is done: only now its new state has an id and outputs. The last call wins, because components and the
   * root stack get their outputs by an event of their own at the end.
   */
  complete(step: StepEvent): void {
    const [exact, loose] = keysOf(step);
    const index = this.#latest.get(exact) ?? this.#latest.get(loose);
    if (index !== undefined) this.#steps[index] = step;
  }

  /** In the order in which they began, without default providers: Pulumi's own summary leaves them out too. */
  all(): StepEvent[] {
    return this.#steps.filter(({ urn }) => !isDefaultProvider(urn));
  }
}

/**
 * The old id tells two leftovers of one URN apart, which are deleted by steps of the same op. An import has an old
 * state only when it is done: then URN and op must do.
 */
function keysOf({ op, urn, old }: StepEvent): readonly [exact: string, loose: string] {
  return [`${op} ${urn} ${old?.id ?? ''}`, `${op} ${urn}`];
}

/** As the engine decides it: a provider whose name begins with "default". */
export function isDefaultProvider(urn: string): boolean {
  // urn:pulumi:<stack>::<project>::<type>::<name>; the name may have colons of its own.
  const [, , type = '', ...name] = urn.split('::');
  return type.startsWith('pulumi:providers:') && name.join('::').startsWith('default');
}

/** The seven ops of the specification; null for markers whose halves are steps themselves or that touch nothing. */
const specifiedOps: ReadonlyMap<string, PlanStep['op'] | null> = new Map([
  ['same', 'same'],
  ['refresh', 'refresh'],
  ['create', 'create'],
  ['update', 'update'],
  ['delete', 'delete'],
  ['create-replacement', 'create-replacement'],
  ['delete-replaced', 'delete-replaced'],
  ['import', 'create'],
  ['import-replacement', 'create-replacement'],
  // Resources that Pulumi only looks at: reading them changes nothing, forgetting them ends them in the state.
  ['read', 'same'],
  ['read-replacement', 'same'],
  ['discard', 'delete'],
  ['discard-replaced', 'delete-replaced'],
  ['replace', null],
  ['remove-pending-replace', null],
  // The engine tells a provider about an extension; it has no URN.
  ['extend-parameterize', null],
]);

/** The steps as the specification names them, or the first op that nobody knows. */
export function toPlanSteps(
  steps: readonly StepEvent[],
): { readonly steps: PlanStep[] } | { readonly unknownOp: string } {
  const result: PlanStep[] = [];
  for (const step of steps) {
    const op = specifiedOps.get(step.op);
    if (op === undefined) return { unknownOp: step.op };
    if (op === null) continue;
    const { provider, type, urn } = step;
    result.push({ op, provider, type, urn, new: step.new, old: step.old });
  }
  return { steps: result };
}

/** What the steps of the specification have no place for. */
export function toMarks(steps: readonly StepEvent[]): ResourceMark[] {
  const marks = new Map<string, ResourceMark>();
  for (const { op, urn, replacedFor, isProtected } of steps) {
    if (op === 'refresh' || marks.get(urn)?.replacedFor.length) continue;
    if (isProtected || replacedFor.length > 0) marks.set(urn, { urn, replacedFor, isProtected });
  }
  return [...marks.values()];
}
