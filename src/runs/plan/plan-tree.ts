import { changesOf, memberOf, type ResourceChange, textOf } from './plan-changes.ts';
import { isModule, moduleAround } from './resource-name.ts';

/** A row of the tree, parents before their children. */
export interface PlanRow<T> {
  readonly urn: string;
  /** 0 for what hangs below nothing but the stack itself. */
  readonly depth: number;
  /** Of the row that it hangs below; undefined at the top. */
  readonly parent: string | undefined;
  /** Null: it stays as it is and is shown for what hangs below it. */
  readonly change: T | null;
}

/** A change, and what it hangs below: the outermost first, without the stack itself while that stays as it is. */
export interface PlacedChange extends ResourceChange {
  readonly parents: readonly string[];
}

/** The changes of a plan as they stand in its tree: depth first, below one parent in the order in which
 * something of them changes. */
export function placedChanges(steps: readonly unknown[]): readonly PlacedChange[] {
  const changes = new Map<string, ResourceChange[]>();
  for (const change of changesOf(steps)) {
    const same = changes.get(change.urn);
    if (same) same.push(change);
    else changes.set(change.urn, [change]);
  }
  const parents = parentsOf(steps);
  const children = new Map<string, string[]>();
  const roots: string[] = [];
  for (const urn of withAncestors(changes.keys(), parents)) {
    const parent = parents.get(urn) ?? '';
    if (parent === '') roots.push(urn);
    else if (children.has(parent)) children.get(parent)?.push(urn);
    else children.set(parent, [urn]);
  }
  const placed: PlacedChange[] = [];
  const open = roots.reverse().map((urn) => ({ urn, parents: [] as readonly string[] }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { urn, parents: above } = next;
    const own = changes.get(urn) ?? [];
    for (const change of own) placed.push({ ...change, parents: above });
    const isQuietStack = own.length === 0 && (parents.get(urn) ?? '') === '' && !isModule(urn);
    const below = isQuietStack ? above : [...above, urn];
    for (const child of (children.get(urn) ?? []).reverse()) open.push({ urn: child, parents: below });
  }
  return placed;
}

/** Rows for these changes, which are in the order of the tree: each parent that is not among them comes once. */
export function treeOf<T extends { readonly urn: string; readonly parents: readonly string[] }>(
  changes: readonly T[],
): readonly PlanRow<T>[] {
  const rows: PlanRow<T>[] = [];
  let path: readonly string[] = [];
  for (const change of changes) {
    const { urn, parents } = change;
    let shared = 0;
    while (shared < parents.length && parents[shared] === path[shared]) shared += 1;
    for (const [depth, parent] of parents.entries()) {
      if (depth >= shared) rows.push({ urn: parent, depth, parent: parents[depth - 1], change: null });
    }
    rows.push({ urn, depth: parents.length, parent: parents.at(-1), change });
    path = [...parents, urn];
  }
  return rows;
}

/** By URN; what is not in the plan has none. A circle, which no tool makes, is cut. */
function parentsOf(steps: readonly unknown[]): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const step of steps) {
    const urn = textOf(step, 'urn');
    const parent = textOf(memberOf(step, 'new'), 'parent') || textOf(memberOf(step, 'old'), 'parent');
    if (urn !== '' && (!parents.has(urn) || parent !== '')) parents.set(urn, parent);
  }
  // No step says what a module belongs to.
  for (const parent of parents.values()) {
    if (!parents.has(parent) && isModule(parent)) parents.set(parent, moduleAround(parent));
  }
  const sound = new Set<string>();
  for (const urn of parents.keys()) {
    const trail = new Set<string>();
    let at = urn;
    while (at !== '' && !sound.has(at) && !trail.has(at)) {
      trail.add(at);
      at = parents.get(at) ?? '';
    }
    if (trail.has(at)) parents.set(at, '');
    for (const each of trail) sound.add(each);
  }
  return parents;
}

/** Each once, in the order of the plan as far as it is known, with all that they hang below. */
function withAncestors(urns: Iterable<string>, parents: ReadonlyMap<string, string>): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const urn of urns) {
    let at = urn;
    while (at !== '' && !wanted.has(at)) {
      wanted.add(at);
      at = parents.get(at) ?? '';
    }
    // A change that names no URN still is one.
    if (urn === '') wanted.add(urn);
  }
  return wanted;
}
