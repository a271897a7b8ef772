import { secretText } from '../../runs/plan/plan-value.ts';
import { hideSecrets, indexSecrets } from '../../sandbox/redaction/output.ts';
import { checkDepth, isTree } from './masks.ts';

/**
 * The second line: masks get lost on the way (`terraform_data` gives its input out again as no secret), so what stood
 * under one is known as a secret and looked for everywhere else.
 */
export interface SensitiveValues {
  add(secret: unknown): void;
  /** Unique, `maxValues` of them and `maxBytes` together at most: those that do not fit are the longest. */
  list(): readonly string[];
}

/** Shorter values (`eu`, `1`) are everywhere. In UTF-16 units. */
const minLength = 4;
/** Shorter numbers are ports, sizes and counts. With sign and point. */
const minNumberLength = 6;
const maxValues = 2000;
const maxBytes = 256 * 1024;

export function createSensitiveValues(): SensitiveValues {
  const values = new Set<string>();

  function collect(secret: unknown, depth: number): void {
    checkDepth(depth);
    if (typeof secret === 'string') {
      if (secret.length >= minLength) values.add(secret);
    } else if (typeof secret === 'number') {
      const text = String(secret);
      if (text.length >= minNumberLength) values.add(text);
    } else if (typeof secret === 'object' && secret !== null) {
      for (const inner of Object.values(secret)) collect(inner, depth + 1);
    }
  }

  return {
    add(secret) {
      collect(secret, 0);
      // As `jsonencode` writes it.
      if (typeof secret === 'object' && secret !== null && Object.keys(secret).length > 0) {
        values.add(JSON.stringify(secret));
      }
    },
    list() {
      let bytes = 0;
      return [...values]
        .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
        .filter((value) => {
          const length = Buffer.byteLength(value);
          if (bytes + length > maxBytes) return false;
          bytes += length;
          return true;
        })
        .slice(0, maxValues);
    },
  };
}

/**
 * Puts "[secret]" in the place of every one of them, wherever it stands in a text, JSON in it included; what overlaps
 * becomes one.
 */
export function createHider(sensitive: readonly string[]): (text: string) => string {
  const index = indexSecrets([], sensitive);
  return (text) => (text.length < minLength ? text : hideSecrets(index, text, secretText));
}

/** The same in every text and longer number of a value, the keys of objects included. Throws TooDeepError. */
export function hideIn(value: unknown, hide: (text: string) => string, depth = 0): unknown {
  checkDepth(depth);
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') return hideNumber(value, hide);
  if (Array.isArray(value)) return value.map((item) => hideIn(item, hide, depth + 1));
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [hide(key), hideIn(item, hide, depth + 1)]),
  );
}

function hideNumber(value: number, hide: (text: string) => string): number | string {
  const text = String(value);
  return text.length >= minNumberLength && hide(text) !== text ? secretText : value;
}
