import { fieldOf, isTree, isUnknown, secretText, untagged } from '../../runs/plan/plan-value.ts';
import { namesOf, propertyChanges } from '../../runs/plan/property-changes.ts';
import { visible } from '../../runs/plan/visible-text.ts';

/** Lines of a diff, without line ends; the last one says so when there is more than fits. */
const mostLines = 100;
const mostCharacters = 6000;
/** Of a value that is shown as one. */
const mostLevels = 12;
const longestValue = 300;
/** Of what two long texts have in common in front of where they differ. */
const shownBefore = 40;
const longestName = 100;

/**
 * How two property trees (JSON) differ, as the lines of a `diff` block: `- size: 1` and `+ size: 2`. Pure. The work is
 * bounded, whatever is compared.
 */
export function propertyLines(before: unknown, after: unknown): readonly string[] {
  const lines: string[] = [];
  let characters = 0;

  function add(line: string): void {
    lines.push(line);
    characters += line.length;
  }

  for (const change of propertyChanges(before, after, nameInPath, { mostLevels })) {
    if (change.kind === 'more' || lines.length >= mostLines || characters >= mostCharacters) {
      lines.push('  … and more');
      break;
    }
    if (change.kind === 'too-deep') {
      add(`  ${change.path}: nested too deep to be compared here`);
      continue;
    }
    const skipped = commonStart(change.old, change.new);
    if (change.old !== undefined) add(`- ${change.path}: ${shown(change.old, skipped)}`);
    if (change.new !== undefined) add(`+ ${change.path}: ${shown(change.new, skipped)}`);
  }
  return lines;
}

function nameInPath(name: string): string {
  return /^[A-Za-z0-9_$-]+$/.test(name) && name.length <= longestName ? name : quoted(name);
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

/** JSON, more or less, of what is not too long. */
function shown(value: unknown, skipped: number): string {
  if (typeof value === 'string' && skipped > 0) return `…${quoted(value.slice(skipped), longestValue)}`;
  let left = longestValue;

  function write(given: unknown, level: number): string {
    if (isUnknown(given)) return '(known after apply)';
    const each = untagged(given);
    if (typeof each === 'string') {
      const text = each === secretText ? secretText : quoted(each, Math.max(left, 0));
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
      const key = isList ? '' : `${nameInPath(name)}: `;
      left -= key.length + 2;
      parts.push(key + write(fieldOf(each, name), level + 1));
    }
    return `${open}${parts.join(', ')}${close}`;
  }

  return write(value, 0);
}
