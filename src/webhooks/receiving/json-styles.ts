import { payloadSchema } from '../payload-schema.ts';

/**
 * A JSON text as other programs would write the same value: the ways in which a body is changed by parsing
 * it and writing it again. Null when it is no JSON. Pure.
 */
export function jsonStyles(text: string): readonly (readonly [style: string, text: string])[] | null {
  const value = parsed(text);
  if (value === undefined) return null;
  const compact = JSON.stringify(value);
  const payload = payloadSchema.safeParse(value);
  const indented = (indent: number | string): string => JSON.stringify(value, null, indent);
  return [
    ['as compact JSON', compact],
    // The schema gives its own order to the keys.
    ...(payload.success
      ? ([['as compact JSON, keys as Slipway orders them', JSON.stringify(payload.data)]] as const)
      : []),
    ['as compact JSON, keys sorted', JSON.stringify(sorted(value))],
    ['as compact JSON, ASCII only', inAscii(compact)],
    ["with spaces behind commas and colons, as Python's json.dumps", onOneLine(indented(1))],
    ["with spaces and ASCII only, as Python's json.dumps", inAscii(onOneLine(indented(1)))],
    ["with <, > and & escaped, as Go's json.Marshal", htmlSafe(compact)],
    ["with slashes escaped and ASCII only, as PHP's json_encode", inAscii(compact.replaceAll('/', '\\/'))],
    ['with slashes escaped', compact.replaceAll('/', '\\/')],
    ['indented by two spaces', indented(2)],
    ['indented by two spaces, with a line break at the end, as jq', `${indented(2)}\n`],
    ['indented by four spaces', indented(4)],
    ['indented by tabs', indented('\t')],
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}

/** Line breaks of indented JSON are never inside a text: there they are escaped. */
function onOneLine(indented: string): string {
  return indented
    .replace(/([{[])\n */g, '$1')
    .replace(/\n *([}\]])/g, '$1')
    .replace(/\n */g, ' ');
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const inAscii = (json: string): string => json.replace(/[\u007f-\uffff]/g, escaped);
const htmlSafe = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, escaped);
