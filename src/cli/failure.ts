import { z } from 'zod';
import { hintOfTheSystem, isOfTheSystem, UserError } from '../user-error.ts';
import { type ExitCode, exitCodeOfStatus, exitCodes } from './exit-codes.ts';

/** Why a command failed, as it is told: a line, a hint, an exit code, and what `--json` prints. */
export class CliFailure extends Error {
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly json: Readonly<Record<string, unknown>>;

  constructor(
    exitCode: ExitCode,
    message: string,
    options: { hint?: string | undefined; json?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
    this.name = 'CliFailure';
    this.exitCode = exitCode;
    this.hint = options.hint;
    this.json = options.json ?? { code: 'failed', detail: message, hint: options.hint };
  }
}

export function usageFailure(message: string, hint?: string): CliFailure {
  return new CliFailure(exitCodes.usage, message, { hint, json: { code: 'usage', detail: message, hint } });
}

const problem = z.looseObject({
  detail: z.string(),
  hint: z.string().optional(),
  errors: z
    .array(
      z.object({
        path: z.string(),
        message: z.string(),
        line: z.number().optional(),
        column: z.number().optional(),
      }),
    )
    .optional(),
});

/** An answer of the API that is no success. */
export async function failureOfResponse(response: Response): Promise<CliFailure> {
  const exitCode = exitCodeOfStatus(response.status);
  const text = await response.text();
  const parsed = problem.safeParse(parse(text));
  if (!parsed.success)
    return strangeAnswer(`The server answered ${response.status}, and not as Slipway does.`, exitCode);
  const { detail, hint, errors = [] } = parsed.data;
  // One wrong field stands in `detail` already.
  const fields =
    errors.length > 1
      ? errors
          .map(({ path, message, line }) => `${line === undefined ? path : `line ${line}`}: ${message}`)
          .join('; ')
      : undefined;
  return new CliFailure(exitCode, detail, { hint: fields ?? hint, json: parsed.data });
}

/** Somebody else answers at that address, or another version of us. */
export function strangeAnswer(message: string, exitCode: ExitCode = exitCodes.failed): CliFailure {
  return new CliFailure(exitCode, message, { hint: 'Is SLIPWAY_URL the address of the server itself?' });
}

export function failureOf(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof z.ZodError) return strangeAnswer('The answer of the server is not as expected.');
  if (error instanceof UserError) {
    const { code, message, hint } = error;
    const exitCode = code === 'config-invalid' ? exitCodes.usage : exitCodes.failed;
    return new CliFailure(exitCode, message, { hint, json: { code, detail: message, hint } });
  }
  if (isOfTheSystem(error)) return new CliFailure(exitCodes.failed, error.message, { hint: hintOfTheSystem });
  const message = error instanceof Error ? error.message : String(error);
  return new CliFailure(exitCodes.failed, `Internal error: ${message}`, {
    hint: 'This is a bug; please report it with the command.',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
