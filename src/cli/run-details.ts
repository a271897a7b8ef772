import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import { commandObject, listAll, stepObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { outputOf, table } from './output.ts';
import { runPath } from './run.ts';

/** `slipway run commands` and `slipway run changes`: what a run did, and what it planned. */
export function addRunDetailCommands(run: Command, context: CliContext): void {
  run
    .command('commands')
    .description('what a run executed, hooks included, in order')
    .argument('<run>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, `${runPath(id)}/commands`);
      outputOf(context, command).result({ items }, () => commands(commandObject.array().parse(items)));
    });

  run
    .command('changes')
    .description('the planned steps of a run')
    .argument('<run>')
    .option('--all', 'also what stays as it is')
    .action(async (id: string, options: { all?: boolean }, command: Command) => {
      await using client = await connect(context);
      const path = `${runPath(id)}/changes`;
      const { hasChanges } = planPart.parse(await client.call('GET', `${path}?limit=1`));
      const items = await listAll(client.call, path);
      outputOf(context, command).result({ hasChanges, items }, () =>
        hasChanges === null ? 'Nothing was planned yet.' : steps(stepObject.array().parse(items), options),
      );
    });
}

const planPart = z.object({ hasChanges: z.boolean().nullable() });

function commands(items: readonly z.infer<typeof commandObject>[]): string {
  if (items.length === 0) return 'Nothing was executed yet.';
  return table(
    ['PHASE', 'EXIT', 'SECONDS', 'LABEL', 'COMMAND'],
    items.map(({ phase, label, argv, durationMs, exitCode }) => [
      phase,
      exitCode === null ? 'killed' : String(exitCode),
      (durationMs / 1000).toFixed(1),
      label,
      argv.join(' '),
    ]),
  );
}

function steps(items: readonly z.infer<typeof stepObject>[], { all = false }: { all?: boolean }): string {
  const shown = items.filter(({ op }) => all || op !== 'same');
  if (shown.length === 0) return 'No resource changes.';
  return table(
    ['STEP', 'TYPE', 'RESOURCE'],
    shown.map(({ op, type, urn }) => [op, type, urn]),
  );
}
