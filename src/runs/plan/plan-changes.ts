import { isDeepStrictEqual } from 'node:util';
import { fieldOf, isTree } from './plan-value.ts';
import { nameOf } from './resource-name.ts';

export const changeOps = ['create', 'update', 'replace', 'delete', 'move', 'outputs'] as const;
/**
 * `move`: the program calls it by another name, and nothing else changes. `outputs`: nothing is done to it, but what a
 * component or the stack itself gives out changes.
 */
export type ChangeOp = (typeof changeOps)[number];

/** What a plan's steps do to resources, one entry for each of these. Pure; steps are JSON in the shape of the specification. */
export interface ResourceChange {
  readonly op: ChangeOp;
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** Its URN until now; null when that stays. */
  readonly movedFrom: string | null;
  /** What the program says of it (for `outputs` what it gives out); empty for what is not there. */
  readonly old: unknown;
  readonly new: unknown;
}

/** In the order of the plan, made as they are asked for. What stays, or is only read, is left out. */
export function* changesOf(steps: readonly unknown[]): Generator<ResourceChange> {
  const replaced = replacedIn(steps);
  for (const step of steps) {
    const op = opOf(step, replaced);
    if (op === null) continue;
    const part = op === 'outputs' ? 'outputs' : 'inputs';
    const urn = textOf(step, 'urn');
    yield {
      ...{ op, urn, type: textOf(step, 'type'), name: nameOf(urn), movedFrom: movedFrom(step) },
      old: partOf(step, 'old', part),
      new: op === 'delete' ? {} : partOf(step, 'new', part),
    };
  }
}

/** By URN. */
function replacedIn(steps: readonly unknown[]): ReadonlyMap<string, readonly unknown[]> {
  const replacements = steps.filter((step) => textOf(step, 'op') === 'create-replacement');
  return Map.groupBy(replacements, (step) => textOf(step, 'urn'));
}

/** Of the same URN other objects may be deleted, too: what earlier replacements left behind. */
function isOtherHalf(deletion: unknown, replacements: readonly unknown[] | undefined): boolean {
  const old = memberOf(deletion, 'old');
  const id = textOf(old, 'id');
  return (replacements ?? []).some((replacement) => {
    const replaced = memberOf(replacement, 'old');
    return id === '' ? isDeepStrictEqual(old, replaced) : textOf(replaced, 'id') === id;
  });
}

function opOf(step: unknown, replaced: ReadonlyMap<string, readonly unknown[]>): ChangeOp | null {
  const op = textOf(step, 'op');
  switch (op) {
    case 'create':
    case 'update':
    case 'delete':
      return op;
    case 'create-replacement':
      return 'replace';
    case 'delete-replaced':
      return isOtherHalf(step, replaced.get(textOf(step, 'urn'))) ? null : 'delete';
    case 'same':
      if (givesOutOther(step)) return 'outputs';
      return movedFrom(step) === null ? null : 'move';
    default:
      return null;
  }
}

/** Only components and the stack: what a provider gives out of a resource that is kept is no news of the program. */
function givesOutOther(step: unknown): boolean {
  const [old, now] = [memberOf(step, 'old'), memberOf(step, 'new')];
  if (!isTree(old) || !isTree(now) || fieldOf(now, 'custom') === true) return false;
  return !isDeepStrictEqual(partOf(step, 'old', 'outputs'), partOf(step, 'new', 'outputs'));
}

function movedFrom(step: unknown): string | null {
  const before = textOf(memberOf(step, 'old'), 'urn');
  const now = textOf(memberOf(step, 'new'), 'urn');
  return before === '' || now === '' || before === now ? null : before;
}

function partOf(step: unknown, side: 'old' | 'new', part: 'inputs' | 'outputs'): unknown {
  return memberOf(memberOf(step, side), part) ?? {};
}

/** "" for what is no text. */
export function textOf(value: unknown, name: string): string {
  const text = memberOf(value, name);
  return typeof text === 'string' ? text : '';
}

export const memberOf = (value: unknown, name: string): unknown =>
  isTree(value) ? fieldOf(value, name) : undefined;
