import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import type { Output } from './output.ts';
import { secretInput } from './secret-input.ts';

/** The settings of a webhook as flags, for `webhook add` and `webhook update`. */
export interface WebhookFlags {
  /** False: `--no-secret`. */
  readonly secret?: string | false;
  readonly state?: readonly string[];
  readonly runType?: readonly string[];
  readonly header?: readonly string[];
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const secretOption = [
  '--secret <secret>',
  'signs what is sent; - reads it from standard input, without its last line break',
] as const;

export function withWebhookFlags(command: Command): Command {
  return command
    .option(...secretOption)
    .option('--state <state>', 'only this state of a run, e.g. FINISHED; repeatable', collect)
    .option('--run-type <type>', 'only runs of this type, e.g. TRACKED; repeatable', collect)
    .option(
      '--header <header>',
      'added to each request, as "Name: value"; repeatable; - reads such lines from standard input',
      collect,
    );
}

/** The part of the request that the flags say; what was not said is not in it. */
export async function webhookBody(
  context: CliContext,
  output: Output,
  flags: WebhookFlags,
): Promise<Record<string, unknown>> {
  const { state: states, runType: runTypes } = flags;
  if (flags.secret === '-' && flags.header?.includes('-')) {
    throw usageFailure(
      '--secret - and --header - both read standard input',
      'Give one of them in a second command.',
    );
  }
  const headers = flags.header && (await headersOf(context, output, flags.header));
  return {
    ...(flags.secret === undefined ? {} : { secret: await secretOf(context, output, flags.secret) }),
    ...(states || runTypes ? { filter: { ...(states && { states }), ...(runTypes && { runTypes }) } } : {}),
    ...(headers && { headers }),
  };
}

async function secretOf(context: CliContext, output: Output, given: string | false): Promise<string | null> {
  return given === false ? null : secretInput(context, output, given, 'the secret');
}

async function headersOf(
  context: CliContext,
  output: Output,
  given: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const lines: string[] = [];
  for (const header of new Set(given)) {
    const text = await secretInput(context, output, header, 'a header');
    lines.push(...text.split(/\r?\n/).filter((line) => line.trim() !== ''));
  }
  const headers = lines.map((line, index) => headerOf(line, index + 1));
  const names = new Set(headers.map(([name]) => name));
  if (names.size < headers.length) throw usageFailure('--header: the same name is given twice');
  return Object.fromEntries(headers);
}

/** A header that is none is not repeated: most of it may be a credential. */
function headerOf(line: string, position: number): [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw usageFailure(`--header: header ${position} must be "Name: value"`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** The server knows the most that is possible. */
export function hoursOf(text: string): number {
  const hours = Number(text);
  if (text.trim() === '' || !Number.isInteger(hours) || hours < 0)
    throw usageFailure('--overlap-hours: must be a number of hours, 0 or more');
  return hours;
}
