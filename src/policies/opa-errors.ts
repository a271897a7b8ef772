import { z } from 'zod';
import type { EvaluationFailure, SourceError } from './engine.ts';

/**
 * What opa says when it fails, as a typed failure. Pure. Places are those of the user's file; a place elsewhere (in our
 * query) is left out.
 */
export const policyFile = 'policy.rego';

const place = z.object({ file: z.string(), row: z.number(), col: z.number() });
const errors = z.object({
  errors: z
    .array(
      z.object({
        message: z.string(),
        code: z.string().default(''),
        location: place.optional(),
        stack_trace: z.array(z.object({ location: place.optional() })).optional(),
      }),
    )
    .min(1),
});
type OpaError = z.infer<typeof errors>['errors'][number];

/** Of `opa check` and `opa parse`, which say it on either stream; null when neither has any. */
export function sourceErrors(stdout: string, stderr: string): readonly SourceError[] | null {
  const found = read(stdout) ?? read(stderr);
  return found?.map((error) => ({ message: error.message, ...placeOf(error) })) ?? null;
}

/** Of `opa eval` that did not exit with 0. */
export function evaluationFailure(stdout: string, stderr: string): EvaluationFailure {
  const [error] = read(stdout) ?? read(stderr) ?? [];
  if (error) return { code: codeOf(error.code), message: error.message, ...placeOf(error) };
  if (isOutOfMemory(stderr)) return outOfMemory;
  const unread = /^unable to parse input: (.*)/m.exec(`${stdout}\n${stderr}`);
  if (unread) return { code: 'input', message: 'the input is not JSON' };
  return { code: 'engine', message: firstLine(stderr) ?? firstLine(stdout) ?? 'opa failed without a word' };
}

export const outOfMemory: EvaluationFailure = {
  code: 'memory',
  message: 'the policy needs more memory than it may have',
};

/**
 * Go's last words. The stack is an endless one; the signal comes from within the runtime, whose collector trusts that it
 * gets what it asks the kernel for.
 */
export function isOutOfMemory(stderr: string): boolean {
  return lastWords.test(stderr);
}

const lastWords =
  /^((fatal error|runtime): .*(out of memory|cannot allocate memory|stack exceeds|stack overflow)|SIGSEGV: .*[\s\S]*\bruntime\.)/m;

function codeOf(code: string): EvaluationFailure['code'] {
  if (code.startsWith('rego_')) return 'compile';
  switch (code) {
    case 'eval_builtin_error':
      return 'builtin';
    case 'eval_conflict_error':
      return 'conflict';
    case 'eval_cancel_error':
      return 'timeout';
    default:
      return 'engine';
  }
}

function placeOf({ location, stack_trace: trace = [] }: OpaError): Pick<SourceError, 'line' | 'column'> {
  const known = [location, ...trace.map((frame) => frame.location)].find(
    (at) => at !== undefined && at.row > 0 && at.file === policyFile,
  );
  return known ? { line: known.row, column: known.col } : {};
}

function read(text: string): readonly OpaError[] | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return errors.safeParse(JSON.parse(text)).data?.errors ?? null;
  } catch {
    return null;
  }
}

const lineLimit = 500;

function firstLine(text: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '');
  return line?.slice(0, lineLimit);
}
