/** Where something stands in a text file; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a file, and where: a sentence without a full stop. */
export interface FileProblem extends Position {
  readonly message: string;
}

/** What is wrong with a file, as far as people can be told: a small file can be wrong a hundred thousand times. */
export interface FileProblems {
  /** A place and words that were said already are said once. `message` is asked for only if it is shown. */
  add(at: Position, message: string | (() => string)): void;
  /** What follows from the problems so far is noise: nothing more is said about their places. */
  settle(): void;
  readonly isEmpty: boolean;
  /** In the order of the file; the last one says how many are left out. */
  all(): readonly FileProblem[];
}

export const maxProblems = 100;
const maxMessageLength = 1000;
const maxKeyLength = 200;

export function createFileProblems(): FileProblems {
  const shown = new Map<string, FileProblem>();
  let settled: ReadonlySet<string> = new Set();
  let left = 0;
  return {
    add({ line, column }, message) {
      if (settled.has(`${line}:${column}`)) return;
      if (shown.size >= maxProblems) {
        left += 1;
        return;
      }
      const problem = { line, column, message: plain(typeof message === 'string' ? message : message()) };
      shown.set(`${line}:${column}:${problem.message}`, problem);
    },
    settle() {
      settled = new Set([...shown.values()].map(({ line, column }) => `${line}:${column}`));
    },
    get isEmpty() {
      return shown.size === 0;
    },
    all() {
      const sorted = [...shown.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
      const last = sorted.at(-1);
      if (!last || left === 0) return sorted;
      const { line, column } = last;
      return [
        ...sorted,
        { line, column, message: `and ${left} more ${left === 1 ? 'problem is' : 'problems are'} not shown` },
      ];
    },
  };
}

/** A key or a name as it may stand in a message. */
export function shownKey(key: string): string {
  return cut(key, maxKeyLength);
}

/** Keys stand in messages, and escapes can put anything into a key. */
function plain(message: string): string {
  return cut(message, maxMessageLength).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

function cut(text: string, length: number): string {
  // Not between the halves of a character beyond U+FFFF.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
