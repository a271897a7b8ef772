/**
 * Values of a plan as the tool writes them. What is not plain JSON is an object with one key that says what it is; what
 * is known only after the apply is one of a few fixed texts.
 */
const tagKey = '4dabf18193072939515e22adb298388d';
const outputTag = 'd0e6a833031e9bbcd3f4e8bde6ca49a4';

/** A text, a boolean, a number, a list, a file, an archive, an object. */
const unknownTexts: ReadonlySet<unknown> = new Set([
  '04da6b54-80e4-46f7-96ec-b56ff0331ba9',
  '1c4a061d-8072-4f0a-a4cb-0ff528b18fe7',
  '3eeb2bf0-c639-47a8-9e75-3b44932eb421',
  '6a19a0b0-7e62-4c92-b797-7f8e31da9cc2',
  '030794c1-ac77-496b-92df-f27374a8bd58',
  'e48ece36-62e2-4504-bad9-02848725956a',
  'dd056dcd-154b-4c76-9bd3-c8f88648b5ff',
]);

/** Of tools that have no text of their own for it. */
export const unknownText = '[known after apply]';

/** What stands for a secret in every plan (specification, §2.3). */
export const secretText = '[secret]';

export type Tree = Readonly<Record<string, unknown>>;

export const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

export const fieldOf = (tree: Tree, name: string): unknown =>
  Object.hasOwn(tree, name) ? tree[name] : undefined;

/** Nobody can say before the apply. */
export function isUnknown(value: unknown): boolean {
  if (typeof value === 'string') return value === unknownText || unknownTexts.has(value);
  return isTree(value) && fieldOf(value, tagKey) === outputTag && fieldOf(value, 'value') === undefined;
}

/** An output of another resource stands for its value; of other things that are no plain JSON only the tag goes. */
export function untagged(value: unknown): unknown {
  if (!isTree(value) || !Object.hasOwn(value, tagKey) || isUnknown(value)) return value;
  if (fieldOf(value, tagKey) === outputTag) return fieldOf(value, 'value');
  const { [tagKey]: _, ...rest } = value;
  return rest;
}
