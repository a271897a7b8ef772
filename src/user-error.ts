/**
 * The one error whose text people outside may see: in an API answer, a check run, a comment or the terminal.
 * Everything else that is thrown is a bug and is shown as "internal error".
 */
export class UserError extends Error {
  /** A kebab-case word that callers may rely on; see docs/api.md for the fixed ones. */
  readonly code: string;
  /** What the reader can do about it. */
  readonly hint: string | undefined;
  /** One entry for each field of the input that was refused; `path` is dotted, "" for the whole. */
  readonly issues: readonly FieldIssue[];

  constructor(code: string, message: string, options: UserErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UserError';
    this.code = code;
    this.hint = options.hint;
    this.issues = options.issues ?? [];
  }
}

/** A full disk, a directory that may not be written: Node's errors of system calls, which are no bugs of ours. */
export function isOfTheSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

export const hintOfTheSystem =
  'So says the operating system: look at the disk, its permissions and the settings.';

export interface FieldIssue {
  path: string;
  message: string;
  /** Where in the text of the field, from 1. */
  line?: number;
  column?: number;
}

interface UserErrorOptions {
  hint?: string;
  cause?: unknown;
  issues?: readonly FieldIssue[];
}

/** What zod found, one issue for each field: of unknown fields it names the object around them only. */
export function fieldIssues(
  issues: readonly {
    readonly path: readonly PropertyKey[];
    readonly message: string;
    readonly keys?: readonly string[];
  }[],
): FieldIssue[] {
  return issues.flatMap(({ path, message, keys }) =>
    keys === undefined
      ? [{ path: path.join('.'), message }]
      : keys.map((key) => ({ path: [...path, key].join('.'), message: 'no such field' })),
  );
}
