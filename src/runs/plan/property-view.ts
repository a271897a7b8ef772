import { type DiffLine, lineDiff } from './line-diff.ts';
import { isTree, isUnknown } from './plan-value.ts';
import { propertyChanges } from './property-changes.ts';

/** One place where a resource changes, ready to be shown. */
export interface PropertyView {
  /** `tags.env`, `rules[0].port`; "" for the whole. */
  readonly path: string;
  /** Left out: it is not there. JSON; a secret is "[secret]". */
  readonly old?: unknown;
  readonly new?: unknown;
  /** Nobody knows the new value before the apply; `new` is left out. */
  readonly isUnknown?: true;
  /** Instead of both values, where these are long texts. */
  readonly lines?: readonly DiffLine[];
  /** The values were cut, or lie too deep to be shown. */
  readonly isCut?: true;
}

export interface PropertyViews {
  readonly items: readonly PropertyView[];
  /** There are more. */
  readonly isCut: boolean;
}

const mostItems = 200;
const mostLines = 200;
const mostCharacters = 20_000;
/** A text that is longer, or has several lines, is compared line by line. */
const longText = 80;
const longestLine = 400;

/** How a resource changes, a leaf at a time. Pure; bounded in work and size, whatever is compared. */
export function propertyViews(before: unknown, after: unknown): PropertyViews {
  const items: PropertyView[] = [];
  let characters = 0;
  for (const change of propertyChanges(before, after, undefined, { leaves: true })) {
    if (change.kind === 'more' || items.length >= mostItems || characters >= mostCharacters) {
      return { items, isCut: true };
    }
    const view: PropertyView = change.kind === 'change' ? viewOf(change) : { path: change.path, isCut: true };
    characters += JSON.stringify(view).length;
    items.push(view);
  }
  return { items, isCut: false };
}

function viewOf({ path, old, new: now }: { path: string; old: unknown; new: unknown }): PropertyView {
  const [oldText, newText] = [textOf(old), textOf(now)];
  if (isLong(oldText) || isLong(newText)) {
    const all = linesOf(old === undefined ? undefined : oldText, now === undefined ? undefined : newText);
    if (all) {
      const lines = all.slice(0, mostLines).map(shortened);
      return { path, lines, ...(all.length > lines.length ? { isCut: true } : {}) };
    }
  }
  return {
    path,
    ...(old === undefined ? {} : { old: bounded(old) }),
    ...(now === undefined ? {} : isUnknown(now) ? { isUnknown: true } : { new: bounded(now) }),
  };
}

/** Null for what is no text that could be compared line by line. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && !isUnknown(value) ? value : null;
}

const isLong = (text: string | null): boolean =>
  text !== null && (text.length > longText || text.includes('\n'));

/** Null when one side is there and no text. `undefined` for a side that is not there. */
function linesOf(old: string | null | undefined, now: string | null | undefined): readonly DiffLine[] | null {
  if (old === null || now === null) return null;
  if (old === undefined)
    return readable(now ?? '')
      .split('\n')
      .map(lineOf('added'));
  if (now === undefined) return readable(old).split('\n').map(lineOf('removed'));
  const [before, after] = [readable(old), readable(now)];
  // Texts that differ in nothing but how their JSON is written are shown as they are.
  return before === after ? lineDiff(old, now) : lineDiff(before, after);
}

const lineOf =
  (kind: DiffLine['kind']) =>
  (text: string): DiffLine => ({ kind, text });

/** Policies and the like are JSON in one line: in many lines what differs can be seen. */
function readable(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 200_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const cut = (text: string): string => (text.length > longestLine ? `${text.slice(0, longestLine)}…` : text);

const shortened = ({ kind, text }: DiffLine): DiffLine => ({ kind, text: cut(text) });

/** Trees come here empty, or beside something that is none. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (!isTree(value)) return value;
  const text = JSON.stringify(value);
  return text.length > longestLine ? cut(text) : value;
}
