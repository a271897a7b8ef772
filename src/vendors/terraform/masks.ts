import { secretText } from '../../runs/plan/plan-value.ts';

/**
 * Plans in JSON hold every value in clear, with a mask beside it of the same shape: `true` hides what stands there,
 * whole lists and objects included; objects name only what they hide; lists are positional.
 */

/** Far beyond any real plan; without a limit a hostile one would overflow the stack. */
const maxDepth = 256;

/** Thrown by what walks through a plan; the plan is unreadable then. */
export class TooDeepError extends Error {
  override name = 'TooDeepError';
  constructor() {
    super(`values are nested more than ${maxDepth} deep`);
  }
}

export function checkDepth(depth: number): void {
  if (depth > maxDepth) throw new TooDeepError();
}

/** Throws TooDeepError. */
export function checkNesting(value: unknown, depth = 0): void {
  checkDepth(depth);
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) checkNesting(inner, depth + 1);
}

export type Tree = Readonly<Record<string, unknown>>;

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Only what is there itself: a plan may have keys such as `__proto__` and `constructor`. */
export const fieldOf = (value: unknown, name: string): unknown =>
  isTree(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** `change` for each value; keys stay. A key `__proto__` stays a key. */
export function mapTree(tree: Tree, change: (value: unknown, key: string) => unknown): Tree {
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, change(value, key)]));
}

/**
 * A copy in which all that `mask` hides is the text "[secret]"; `onSecret` is given each value that went. Where the
 * shapes do not fit, a mask that hides anything hides the whole. Throws TooDeepError.
 */
export function maskValue(
  value: unknown,
  mask: unknown,
  onSecret: (value: unknown) => void,
  depth = 0,
): unknown {
  checkDepth(depth);
  const hide = (secret: unknown): string => {
    onSecret(secret);
    return secretText;
  };
  // There is nothing to hide: no value, or one that is known only after the apply.
  if (value === null || value === undefined) return value;
  if (mask === true) return hide(value);
  if (Array.isArray(value) && Array.isArray(mask)) {
    return value.map((item, index) => maskValue(item, mask[index], onSecret, depth + 1));
  }
  if (isTree(value) && isTree(mask)) {
    return mapTree(value, (item, key) => maskValue(item, fieldOf(mask, key), onSecret, depth + 1));
  }
  return hidesAnything(mask, depth) ? hide(value) : value;
}

export function hidesAnything(mask: unknown, depth = 0): boolean {
  checkDepth(depth);
  if (typeof mask !== 'object' || mask === null) return mask === true;
  return Object.values(mask).some((inner) => hidesAnything(inner, depth + 1));
}

/** Hides what any of the two hides. */
export function unionOfMasks(one: unknown, other: unknown, depth = 0): unknown {
  checkDepth(depth);
  if (one === true || other === true) return true;
  if (!hidesAnything(one, depth)) return other;
  if (!hidesAnything(other, depth)) return one;
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length);
    return Array.from({ length }, (_, index) => unionOfMasks(one[index], other[index], depth + 1));
  }
  if (isTree(one) && isTree(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return Object.fromEntries(
      [...keys].map((key) => [key, unionOfMasks(fieldOf(one, key), fieldOf(other, key), depth + 1)]),
    );
  }
  return true;
}
