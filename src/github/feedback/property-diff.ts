import { visible } from './shown-text.ts';

/** Lines of a diff, without line ends; the last one says so when there is more than fits. */
const mostLines = 100;
/** Values of a resource that are compared: one may have a million. */
const mostCompared = 5000;
const mostLevels = 12;
const mostCharacters = 6000;
const longestValue = 300;
/** Of what two long texts have in common in front of where they differ. */
const shownBefore = 40;
const longestName = 100;

/**
 * How two property trees (JSON) differ, as the lines of a `diff` block: `- size: 1` and `+ size: 2`. Pure. The work is
 * bounded, whatever is compared.
 */
export function propertyDiff(before: unknown, after: unknown): readonly string[] {
  const lines: string[] = [];
  let compared = 0;
  let characters = 0;

  function add(line: string): void {
    lines.push(line);
    characters += line.length;
  }

  /** False when there is no room for more. */
  function compare(path: string, old: unknown, now: unknown, level: number): boolean {
    compared += 1;
    if (compared > mostCompared || lines.length >= mostLines || characters >= mostCharacters) return false;
    if (Object.is(old, now)) return true;
    if (!isTree(old) || !isTree(now) || Array.isArray(old) !== Array.isArray(now)) {
      const skipped = commonStart(old, now);
      if (old !== undefined) add(`- ${path}: ${shown(old, skipped)}`);
      if (now !== undefined) add(`+ ${path}: ${shown(now, skipped)}`);
      return true;
    }
    if (level >= mostLevels) {
      add(`  ${path}: nested too deep to be compared here`);
      return true;
    }
    const isList = Array.isArray(now);
    for (const name of namesOf(old, now)) {
      if (!compare(joined(path, name, isList), fieldOf(old, name), fieldOf(now, name), level + 1))
        return false;
    }
    return true;
  }

  if (!compare('', before, after, 0)) lines.push('  … and more');
  return lines;
}

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

const fieldOf = (tree: Tree, name: string): unknown => (Object.hasOwn(tree, name) ? tree[name] : undefined);

function* namesOf(old: object, now: object): Generator<string> {
  if (Array.isArray(old) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(old.length, now.length); index += 1) yield String(index);
    return;
  }
  for (const name in now) if (Object.hasOwn(now, name)) yield name;
  for (const name in old) if (Object.hasOwn(old, name) && !Object.hasOwn(now, name)) yield name;
}

function joined(path: string, name: string, isList: boolean): string {
  if (isList) return `${path}[${name}]`;
  const shownName = /^[A-Za-z0-9_$-]+$/.test(name) && name.length <= longestName ? name : quoted(name);
  return path === '' ? shownName : `${path}.${shownName}`;
}

/** How much of two long texts is left out before they differ: what differs is what is to be seen. */
function commonStart(old: unknown, now: unknown): number {
  if (typeof old !== 'string' || typeof now !== 'string') return 0;
  if (Math.max(old.length, now.length) <= longestValue) return 0;
  let same = 0;
  while (same < old.length && old[same] === now[same]) same += 1;
  return Math.max(same - shownBefore, 0);
}

const quoted = (text: string, limit = longestName): string => `"${visible(text, limit)}"`;

/** What stands for a secret is told by the plan itself. */
const secret = '[secret]';

/** JSON, more or less, of what is not too long. */
function shown(value: unknown, skipped: number): string {
  if (typeof value === 'string' && skipped > 0) return `…${quoted(value.slice(skipped), longestValue)}`;
  let left = longestValue;

  function write(each: unknown, level: number): string {
    if (typeof each === 'string') {
      const text = each === secret ? secret : quoted(each, Math.max(left, 0));
      left -= text.length;
      return text;
    }
    if (!isTree(each)) {
      left -= 4;
      return String(each);
    }
    const isList = Array.isArray(each);
    const [open, close] = isList ? '[]' : '{}';
    const parts: string[] = [];
    for (const name of namesOf(isList ? [] : {}, each)) {
      if (left <= 0 || level >= mostLevels) {
        parts.push('…');
        break;
      }
      const key = isList ? '' : `${joined('', name, false)}: `;
      left -= key.length + 2;
      parts.push(key + write(fieldOf(each, name), level + 1));
    }
    return `${open}${parts.join(', ')}${close}`;
  }

  return write(value, 0);
}
