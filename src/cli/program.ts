import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './audit.ts';
import { addCheckFileCommand } from './check-file.ts';
import { addCompletionCommand } from './completion.ts';
import type { CliContext } from './context.ts';
import { addDatabaseCommands } from './database.ts';
import { addDeliveryCommands } from './delivery.ts';
import { addDoctorCommand } from './doctor.ts';
import { addEventsCommand } from './events.ts';
import { exitCodes } from './exit-codes.ts';
import { type CliFailure, failureOf, usageFailure } from './failure.ts';
import { addInboxCommands } from './inbox.ts';
import { oneLine } from './output.ts';
import { addPolicyCommands } from './policy.ts';
import { addReplayCommands } from './replay.ts';
import { addRunCommands } from './run.ts';
import { addRunDeliveriesCommand } from './run-deliveries.ts';
import { addRunDetailCommands } from './run-details.ts';
import { addLogCommand } from './run-logs.ts';
import { addSandboxCommands } from './sandbox.ts';
import { addSetupCommand } from './setup.ts';
import { addSimulateCommand } from './simulate.ts';
import { addStackCommands } from './stack.ts';
import { addEnvironmentCommands } from './stack-environment.ts';
import { addImportCommand } from './stack-import.ts';
import { addTokenCommands } from './token.ts';
import { addWebhookCommands } from './webhook.ts';
import { addFixturesCommand } from './webhook-fixtures.ts';
import { addWebhookTestCommand } from './webhook-test.ts';
import { addVerifyCommand } from './webhook-verify.ts';

const environmentHelp = `
Without SLIPWAY_URL and SLIPWAY_TOKEN, commands work on the data directory of this machine (DATA_DIR).
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 input refused, 7 unreachable.`;

/** Runs one command line (without node and script) and resolves with the exit code. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  let served: number = exitCodes.ok;
  const program = createProgram(context, (exitCode) => {
    served = exitCode;
  });
  try {
    const { known, unknown } = followed(program, argv);
    // Before parsing: with `--help` behind it, an unknown command would print help and be a success.
    if (unknown !== undefined) throw usageFailure(`unknown command '${unknown}'`, seeHelp(known));
    await program.parseAsync(argv, { from: 'user' });
    return served;
  } catch (error) {
    if (!(error instanceof CommanderError)) return tell(error, argv, context);
    return error.exitCode === 0 ? exitCodes.ok : tell(usageOf(error, program, argv), argv, context);
  }
}

/** Every command there is; docs/cli.md names them. */
export function createProgram(context: CliContext, onServed: (exitCode: number) => void): Command {
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
      onServed(await context.serve());
    });
  addSetupCommand(program, context);
  addDoctorCommand(program, context);
  addSandboxCommands(
    program.command('sandbox').description('what keeps the code of repositories in'),
    context,
  );
  addSimulateCommand(program, context);
  addTokenCommands(program.command('token').description('API tokens'), context);
  const stack = program.command('stack').description('stacks');
  addStackCommands(stack, context);
  addEnvironmentCommands(stack, context);
  addCheckFileCommand(stack, context);
  addImportCommand(stack, context);
  const run = program.command('run').description('runs of stacks');
  addRunCommands(run, context);
  addRunDetailCommands(run, context);
  addRunDeliveriesCommand(run, context);
  addLogCommand(run, context);
  addEventsCommand(program, context);
  const webhook = program.command('webhook').description('webhooks of stacks, and what they sent');
  addWebhookCommands(webhook, context);
  addFixturesCommand(webhook, context);
  addVerifyCommand(webhook, context);
  addWebhookTestCommand(webhook, context);
  addDeliveryCommands(webhook, context);
  addReplayCommands(webhook, context);
  addPolicyCommands(program.command('policy').description('policies: rules that judge what runs'), context);
  addDatabaseCommands(
    program.command('db').description('the database: backup, check, restore, key'),
    context,
  );
  addAuditCommand(program, context);
  addInboxCommands(program.command('inbox').description("GitHub's deliveries, to see and replay"), context);
  addCompletionCommand(program, context);
  return program;
}

function tell(error: unknown, argv: readonly string[], context: CliContext): number {
  const failure = failureOf(error);
  if (failure.message === '') return failure.exitCode;
  context.err(`slipway: ${oneLine(failure.message)}\n`);
  if (failure.hint !== undefined) context.err(`         ${oneLine(failure.hint)}\n`);
  if (argv.includes('--json')) context.out(`${JSON.stringify(failure.json, null, 2)}\n`);
  return failure.exitCode;
}

function usageOf(error: CommanderError, program: Command, argv: readonly string[]): CliFailure {
  const isHelp = error.code === 'commander.help';
  const message = isHelp ? 'which command?' : error.message.replace(/^error: /, '');
  return usageFailure(message, seeHelp(followed(program, argv).known));
}

const seeHelp = (words: readonly string[]): string => `See: ${['slipway', ...words, '--help'].join(' ')}`;

/** The words that lead down the tree of commands, and the first one that leads nowhere. */
function followed(program: Command, argv: readonly string[]): { known: string[]; unknown?: string } {
  const known: string[] = [];
  let command = program;
  for (const word of argv) {
    if (word.startsWith('-')) continue;
    if (command.commands.length === 0 || word === 'help') break;
    const next = command.commands.find((child) => child.name() === word);
    if (!next) return { known, unknown: word };
    known.push(word);
    command = next;
  }
  return { known };
}

function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
