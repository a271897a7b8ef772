import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { CliContext } from './context.ts';
import { addDoctorCommand } from './doctor.ts';
import { exitCodes } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { oneLine } from './output.ts';
import { addRunCommands } from './run.ts';
import { addLogCommand } from './run-logs.ts';
import { addStackCommands } from './stack.ts';
import { addEnvironmentCommands } from './stack-environment.ts';
import { addTokenCommands } from './token.ts';
import { addWebhookCommands } from './webhook.ts';

const environmentHelp = `
Without SLIPWAY_URL and SLIPWAY_TOKEN, commands work on the data directory of this machine (DATA_DIR).
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 input refused, 7 unreachable.`;

/** Runs one command line (without node and script) and resolves with the exit code. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  let served: number = exitCodes.ok;
  const program = new Command('slipway')
    .description('Runs of infrastructure stacks, from Git repositories.')
    .version(version())
    .option('--json', 'print exactly one JSON value')
    .addHelpText('after', environmentHelp)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: context.out, writeErr: () => {} })
    .exitOverride();

  program
    .command('serve')
    .description('the server, from the environment, until SIGTERM or SIGINT')
    .action(async () => {
      served = await context.serve();
    });
  addDoctorCommand(program, context);
  addTokenCommands(program.command('token').description('API tokens'), context);
  const stack = program.command('stack').description('stacks');
  addStackCommands(stack, context);
  addEnvironmentCommands(stack, context);
  const run = program.command('run').description('runs of stacks');
  addRunCommands(run, context);
  addLogCommand(run, context);
  addWebhookCommands(
    program.command('webhook').description('webhooks of stacks, and what they sent'),
    context,
  );

  try {
    await program.parseAsync(argv, { from: 'user' });
    return served;
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, argv, context);
    return tell(error, argv, context);
  }
}

function tell(error: unknown, argv: readonly string[], context: CliContext): number {
  const failure = failureOf(error);
  if (failure.message === '') return failure.exitCode;
  context.err(`slipway: ${oneLine(failure.message)}\n`);
  if (failure.hint !== undefined) context.err(`         ${oneLine(failure.hint)}\n`);
  if (argv.includes('--json')) context.out(`${JSON.stringify(failure.json, null, 2)}\n`);
  return failure.exitCode;
}

function usage(error: CommanderError, argv: readonly string[], context: CliContext): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const isHelp = error.code === 'commander.help';
  const message = isHelp ? 'which command?' : error.message.replace(/^error: /, '');
  context.err(
    `slipway: ${oneLine(message)}\n         See: ${['slipway', ...commandWords(argv), '--help'].join(' ')}\n`,
  );
  if (argv.includes('--json'))
    context.out(`${JSON.stringify({ code: 'usage', detail: message }, null, 2)}\n`);
  return exitCodes.usage;
}

function commandWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return argv.slice(0, end < 0 ? 2 : Math.min(end, 2));
}

function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
