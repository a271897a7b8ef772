import { createHash } from 'node:crypto';
import type { StoredPlan } from './run-store.ts';

/** Of a step in the shape of the specification (§2.3), what is looked at here. */
interface Step {
  readonly op: string;
  readonly type: string;
  readonly urn: string;
  readonly provider: string;
  readonly old: State | null;
  readonly new: State | null;
}

interface State {
  readonly inputs: unknown;
  readonly outputs: unknown;
  readonly parent: string;
  readonly provider: string;
  readonly urn: string;
}

/**
 * A digest of what a plan would change: the same for two stacks of one program whose plans differ in nothing but what
 * has to differ. That is the tool-stack in URNs, and what only the provider gives: ids, and the outputs of what changes.
 * Steps that change nothing do not count. Null when the steps do not show what changes. Worked out once, when the plan
 * is stored: to open the plans of a hundred stacks whenever a table of them is drawn would be too much.
 *
 * `steps` hold no secrets: two plans that differ in the value of one are alike.
 */
export function likenessOf({ hasChanges, steps }: StoredPlan): string | null {
  const changing = (steps as readonly Step[]).flatMap((step) => facetsOf(step));
  if (hasChanges && changing.length === 0) return null;
  // What does not depend on each other comes in any order.
  return sha256([hasChanges, ...changing.sort()].join());
}

/** Empty for a step that changes nothing. */
function facetsOf(step: Step): readonly string[] {
  const { op, type, urn, provider } = step;
  if (op === 'refresh') return [];
  const isKept = op === 'same';
  const [before, after] = [stateOf(step.old, isKept), stateOf(step.new, isKept)];
  const isMoved = step.old?.urn !== undefined && step.new?.urn !== undefined && step.old.urn !== step.new.urn;
  if (isKept && !isMoved && neutral(before) === neutral(after)) return [];
  const moved = isMoved ? [step.old?.urn] : [];
  return [sha256(neutral([op, type, urn, withoutId(provider), before, after, ...moved]))];
}

/** Of what is kept the outputs may change, those of the stack itself for instance. */
function stateOf(state: State | null | undefined, withOutputs: boolean) {
  if (!state) return null;
  const { inputs, outputs, parent, provider } = state;
  return { inputs, parent, provider: withoutId(provider), ...(withOutputs ? { outputs } : {}) };
}

/** A reference to a provider is its URN and its id, which is made up for each stack. */
const withoutId = (provider: string | undefined): string =>
  (provider ?? '').split('::').slice(0, urnParts).join('::');
const urnParts = 4;

const neutral = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'string' ? withoutToolStack(part) : part));

/** "urn:tool:dev::shop::type::name", for the stack itself "urn:tool:dev::shop::type::shop-dev". */
const urnForm = /^(urn:[a-z]+:)([^:]+)::([^:]+)::(.*)$/s;

function withoutToolStack(text: string): string {
  const urn = urnForm.exec(text);
  if (!urn) return text;
  const [, scheme, toolStack, project, rest = ''] = urn;
  const ownName = `::${project}-${toolStack}`;
  const named = rest.endsWith(ownName) ? `${rest.slice(0, -ownName.length)}::*` : rest;
  return `${scheme}*::${project}::${named}`;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
