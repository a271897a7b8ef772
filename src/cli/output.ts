import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** How commands print: one JSON value with `--json`, else for people. */
export interface Output {
  readonly isJson: boolean;
  /** The result. `human` is called only when people read. */
  result(value: unknown, human: () => string): void;
  /** What to do next: for people only. */
  next(line: string): void;
  /** Something beside the result that must be known; never on standard output. */
  note(line: string): void;
}

export function outputOf(context: CliContext, command: Command): Output {
  const isJson = command.optsWithGlobals()['json'] === true;
  return {
    isJson,
    result(value, human) {
      const text = isJson ? JSON.stringify(value, null, 2) : human();
      if (text !== '') context.out(`${text}\n`);
    },
    next(line) {
      // Not on stdout: `$(slipway token create ...)` must be the token alone.
      if (!isJson) context.err(`Next: ${line}\n`);
    },
    note: (line) => context.err(`${line}\n`),
  };
}

/** Columns as wide as their widest cell; the last one as long as it is. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(oneLine));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values under each other; empty values are left out. */
export function fields(pairs: readonly (readonly [string, string | undefined])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value ?? '')}`).join('\n');
}

/** Commit messages and notes come from anywhere: they must not steer the terminal or break the table. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .trim();
}

/** Lines of ours, each of which may hold text from anywhere. */
export function indented(text: string, width: number): string[] {
  return text.split('\n').map((line) => `${' '.repeat(width)}${/^ */.exec(line)?.[0] ?? ''}${oneLine(line)}`);
}

/** JSON as it is, but for characters that steer a terminal: in JSON they may stand as escapes. */
export function forTerminal(json: string): string {
  return json.replace(
    /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The beginning of a text that has its own command to be seen whole. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

export function time(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace('.000Z', 'Z');
}
