import { fieldOf, isTree, isUnknown, type Tree, untagged } from './plan-value.ts';

/** One place where two property trees differ. `undefined`: it is not there on that side. */
export type PropertyChange =
  | { readonly kind: 'change'; readonly path: string; readonly old: unknown; readonly new: unknown }
  | { readonly kind: 'too-deep'; readonly path: string }
  /** There may be more, which nobody has looked at. Comes last. */
  | { readonly kind: 'more' };

export interface PropertyLimits {
  /** Values of a resource that are compared: one may have a million. */
  readonly mostCompared?: number;
  readonly mostLevels?: number;
  /** Of what is there on one side only, each leaf is a place of its own; else the whole of it is one. */
  readonly leaves?: boolean;
}

/**
 * How two property trees (JSON) differ, made as it is asked for, so that the work is bounded by who asks and by the
 * limits. Pure. `nameOf` writes the name of a property that is part of a path.
 */
export function* propertyChanges(
  before: unknown,
  after: unknown,
  nameOf: (name: string) => string = pathName,
  { mostCompared = 5000, mostLevels = 12, leaves = false }: PropertyLimits = {},
): Generator<PropertyChange, void> {
  let compared = 0;

  function* compare(path: string, given: unknown, next: unknown, level: number): Generator<PropertyChange> {
    compared += 1;
    if (compared > mostCompared) return;
    const [old, now] = [untagged(given), untagged(next)];
    if (Object.is(old, now) || (isUnknown(old) && isUnknown(now))) return;
    const [oldTree, newTree] = treesOf(old, now, leaves);
    if (oldTree === null || newTree === null) {
      yield { kind: 'change', path, old, new: now };
      return;
    }
    if (level >= mostLevels) {
      yield { kind: 'too-deep', path };
      return;
    }
    const isList = Array.isArray(newTree);
    for (const name of namesOf(oldTree, newTree)) {
      const inner = isList ? `${path}[${name}]` : path === '' ? nameOf(name) : `${path}.${nameOf(name)}`;
      yield* compare(inner, fieldOf(oldTree, name), fieldOf(newTree, name), level + 1);
      if (compared > mostCompared) return;
    }
  }

  yield* compare('', before, after, 0);
  if (compared > mostCompared) yield { kind: 'more' };
}

/** The two as trees that can be compared name by name; null for a side that is to be shown as it is. */
function treesOf(old: unknown, now: unknown, leaves: boolean): readonly [Tree | null, Tree | null] {
  const oldTree = isTree(old) && !isUnknown(old) ? old : null;
  const newTree = isTree(now) && !isUnknown(now) ? now : null;
  if (oldTree && newTree)
    return Array.isArray(old) === Array.isArray(now) ? [oldTree, newTree] : [null, null];
  if (!leaves) return [null, null];
  if (old === undefined && newTree && Object.keys(newTree).length > 0) return [emptyLike(newTree), newTree];
  if (now === undefined && oldTree && Object.keys(oldTree).length > 0) return [oldTree, emptyLike(oldTree)];
  return [null, null];
}

const emptyLike = (tree: Tree): Tree => (Array.isArray(tree) ? ([] as unknown as Tree) : {});

/** Of both, those of the newer one first. Both are lists, or neither is. */
export function* namesOf(old: object, now: object): Generator<string> {
  if (Array.isArray(old) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(old.length, now.length); index += 1) yield String(index);
    return;
  }
  for (const name in now) if (Object.hasOwn(now, name)) yield name;
  for (const name in old) if (Object.hasOwn(old, name) && !Object.hasOwn(now, name)) yield name;
}

/** What could be taken for a path itself stands in quotes. */
const pathName = (name: string): string => (/^[A-Za-z0-9_$-]+$/.test(name) ? name : JSON.stringify(name));
