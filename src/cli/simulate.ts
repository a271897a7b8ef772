import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { withoutCredentials } from '../config/github.ts';
import { readConfig } from '../config.ts';
import type { CommandDecision, Simulation } from '../github/simulate/decision.ts';
import { type SimulatedEvent, simulatedEvents } from '../github/simulate/events.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { fields, oneLine, outputOf, table } from './output.ts';

interface SimulateFlags {
  readonly event: SimulatedEvent;
  readonly payload: string;
  readonly checkout: string;
  readonly stacks?: string;
}

const help = `
Nobody is asked and nothing is changed: what GitHub would be asked is said, and a clone stands in for what it knows.
The stacks are those of .github/slipway.yml as it lies in the checkout, committed or not, and those of --stacks.`;

/** `slipway simulate`: what the server would decide about an event, without GitHub, a database or a network. */
export function addSimulateCommand(program: Command, context: CliContext): void {
  program
    .command('simulate')
    .description('what would become of an event of GitHub, and why; needs no server')
    .addOption(new Option('--event <event>', 'of GitHub').choices(simulatedEvents).makeOptionMandatory())
    .requiredOption('--payload <file>', 'the body of its webhook; - reads standard input')
    .option('--checkout <dir>', 'a clone of the repository', '.')
    .option('--stacks <file>', 'further stacks, as `slipway stack list --json` prints them')
    .addHelpText('after', help)
    .action(async (flags: SimulateFlags, command: Command) => {
      const config = readConfig(withoutCredentials(context.environment()));
      const simulation = await context.simulate(config, {
        event: flags.event,
        payload: await jsonOf(flags.payload, context),
        directory: flags.checkout,
        otherStacks: flags.stacks === undefined ? undefined : await jsonOf(flags.stacks, context),
      });
      outputOf(context, command).result(simulation, () => described(simulation));
      if (simulation.outcome === 'failed') throw new CliFailure(exitCodes.failed, '');
    });
}

async function jsonOf(path: string, context: CliContext): Promise<unknown> {
  const text = path === '-' ? Buffer.from(await context.readInput()).toString() : await textOf(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new CliFailure(exitCodes.failed, `${path === '-' ? 'standard input' : path}: it is not JSON`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliFailure(exitCodes.failed, `${path}: it cannot be read (${code})`);
  }
}

const maxShownPaths = 10;

function described(simulation: Simulation): string {
  const { event, repository, outcome, reason, stacks, changedPaths, command, notes } = simulation;
  const paths = changedPaths?.paths ?? [];
  const more = paths.length > maxShownPaths ? `, and ${paths.length - maxShownPaths} more` : '';
  const shown = `${paths.slice(0, maxShownPaths).join(', ') || 'none'}${more} (${changedPaths?.from})`;
  const parts = [
    fields([
      ['event', `${event} of ${repository}`],
      ['outcome', reason === null ? outcome : `${outcome}: ${reason}`],
      ...commandFields(command),
      ['changed', changedPaths === null ? undefined : changedPaths.from === 'unknown' ? 'unknown' : shown],
    ]),
    stacks.length === 0
      ? ''
      : table(
          ['STACK', 'RUN', 'WHY'],
          stacks.map((each) => [each.stack, runOf(each), each.reason]),
        ),
    notes.map((note) => `- ${oneLine(note)}`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function runOf({ selected, type, trusted }: Simulation['stacks'][number]): string {
  if (!selected) return '-';
  if (type === undefined) return 'yes';
  return trusted ? type : `${type} without secrets`;
}

function commandFields(command: CommandDecision | null): readonly (readonly [string, string | undefined])[] {
  if (command === null) return [];
  const { verb, role, stacks, task, problem } = command;
  return [
    ['command', verb ?? undefined],
    ['needs', role ?? undefined],
    ['glob', stacks ?? undefined],
    ['task', task ?? undefined],
    ['answer', problem ?? undefined],
  ];
}
