import { isDeepStrictEqual, parseEnv } from 'node:util';
import { UserError } from '../../user-error.ts';

/** One setting, or one line of anything else, as it stands in a .env file. */
interface Entry {
  readonly name: string | null;
  readonly lines: readonly string[];
}

const settingLine = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*)$/;

/**
 * The text with these settings: in the place of what had the name before, or else at the end. Everything else,
 * comments too, stays. Throws `env-file-unclear` when Node would not read that from the result.
 */
export function withSettings(text: string, settings: Readonly<Record<string, string>>): string {
  const placed = new Set<string>();
  const lines = entriesOf(text).flatMap(({ name, lines }) => {
    const value = name === null ? undefined : settings[name];
    if (name === null || value === undefined) return lines;
    if (placed.has(name)) return [];
    placed.add(name);
    return [`${name}=${quoted(name, value)}`];
  });
  if (lines.at(-1) === '') lines.pop();
  for (const [name, value] of Object.entries(settings)) {
    if (!placed.has(name)) lines.push(`${name}=${quoted(name, value)}`);
  }
  const result = `${lines.join('\n')}\n`;
  if (isDeepStrictEqual({ ...parseEnv(result) }, { ...parseEnv(text), ...settings })) return result;
  throw new UserError(
    'env-file-unclear',
    'The .env file cannot be changed without changing what else it says.',
    {
      hint: 'Look for a quote that is not closed; or move the file away and try again.',
    },
  );
}

/** As Node reads it: a value that begins with a quote goes on to the same quote, over lines. */
function entriesOf(text: string): Entry[] {
  const entries: Entry[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; ) {
    const [, name = null, value = ''] = settingLine.exec(lines[at] ?? '') ?? [];
    const length = name === null ? 1 : linesOfValue(value, lines, at);
    entries.push({ name, lines: lines.slice(at, at + length) });
    at += length;
  }
  return entries;
}

function linesOfValue(value: string, lines: readonly string[], at: number): number {
  const quote = value.charAt(0);
  if (!['"', "'", '`'].includes(quote) || value.includes(quote, 1)) return 1;
  const end = lines.findIndex((line, index) => index > at && line.includes(quote));
  // Never closed: then the quote is a character like any other.
  return end < 0 ? 1 : end - at + 1;
}

function quoted(name: string, value: string): string {
  if (/^[\w.:/@%+,[\]-]*$/.test(value)) return value;
  const quote = ["'", '"'].find((each) => !value.includes(each));
  // Between double quotes Node takes \n for a line break.
  if (quote !== undefined && /^[\x20-\x7e]*$/.test(value) && !(quote === '"' && value.includes('\\'))) {
    return `${quote}${value}${quote}`;
  }
  throw new UserError('env-file-unclear', `The value of ${name} cannot be written into a .env file.`);
}
