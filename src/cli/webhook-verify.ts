import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { signatureNames } from '../webhooks/receiving/given-signature.ts';
import { type SignatureCheck, verifyDelivery } from '../webhooks/receiving/verify.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { fields, outputOf } from './output.ts';
import { secretInput } from './secret-input.ts';

interface VerifyFlags {
  readonly secret: string;
  readonly header: readonly string[];
  readonly body: string;
  readonly at?: string;
}

/** `slipway webhook verify`: whether a delivery is genuine, and if not, where and why. Needs no server. */
export function addVerifyCommand(webhook: Command, context: CliContext): void {
  webhook
    .command('verify')
    .description('check the signatures of a delivery that was received; needs no server')
    .requiredOption('--secret <secret>', 'of the webhook; - reads it from standard input')
    .requiredOption('--header <header>', 'as "Name: value"; once for each header', collected)
    .option('--body <file>', 'the body, byte by byte; - reads standard input', '-')
    .option('--at <seconds>', 'judge webhook-timestamp as of this Unix time, not of now')
    .action(async (flags: VerifyFlags, command: Command) => {
      if (flags.secret === '-' && flags.body === '-')
        throw usageFailure('--secret and --body cannot both come from standard input', 'Give --body a file.');
      const headers = headersOf(flags.header);
      const nowSeconds = secondsOf(flags.at);
      const output = outputOf(context, command);
      const secret = await secretInput(context, output, flags.secret, 'the secret');
      if (flags.body === '-' && context.inputIsTerminal)
        output.note('Type the body, then Ctrl-D; or give it as a file with --body.');
      const body = flags.body === '-' ? await context.readInput() : await contentOf(flags.body);

      const verified = verifyDelivery({ secret, headers, body, nowSeconds });
      output.result(verified, () => verified.checks.map(described).join('\n\n'));
      if (secret === '') output.note('Note: with an empty secret this shows damage, but no forgery.');
      // The result says it all; nothing is printed on top of it.
      if (!verified.valid) throw new CliFailure(exitCodes.failed, '');
    });
}

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function headersOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw usageFailure(
        '--header: must be "Name: value"',
        'For example: --header "X-Signature-256: sha256=..."',
      );
    if (headers.has(name.toLowerCase())) throw usageFailure(`--header: ${name} is given twice`);
    headers.set(name.toLowerCase(), value);
  }
  if (signatureNames.some((name) => headers.has(name))) return headers;
  throw usageFailure(
    'there is no signature among the headers',
    'Give X-Signature-256, X-Signature, or webhook-signature with webhook-id and webhook-timestamp.',
  );
}

function secondsOf(at: string | undefined): number {
  if (at === undefined) return Math.floor(Date.now() / 1000);
  if (!/^\d{1,12}$/.test(at)) throw usageFailure('--at: must be a time in Unix seconds');
  return Number(at);
}

async function contentOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliFailure(exitCodes.failed, `${path}: it cannot be read (${code})`);
  }
}

const shownNames = {
  'x-signature': 'X-Signature',
  'x-signature-256': 'X-Signature-256',
  'webhook-signature': 'webhook-signature',
} as const;

function described({ header, valid, given, expected, differsAt, causes }: SignatureCheck): string {
  if (valid) return `${shownNames[header]}: valid`;
  const facts = fields([
    ['given', given],
    ['expected', expected ?? undefined],
    ['differs', differsAt === null ? undefined : `from character ${differsAt} on`],
    ...causes.map(({ text }) => ['because', text] as const),
  ]);
  return `${shownNames[header]}: not valid\n${facts.replace(/^/gm, '  ')}`;
}
