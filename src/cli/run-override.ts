import type { Command } from 'commander';
import { connect } from './api-client.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';

/** `slipway run override`. */
export function addRunOverrideCommand(run: Command, context: CliContext): void {
  run
    .command('override')
    .description('let the changes pass that plan policies denied')
    .argument('<run>', 'the run that was denied')
    .requiredOption('--reason <text>', 'why; everybody who may read the stack sees it')
    .action(async (id: string, { reason }: { reason: string }, self: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, self);
      const path = `/api/v1/runs/${encodeURIComponent(id)}/override`;
      const made = await client.call('POST', path, { reason });
      output.result(made, () => 'The next run with just these changes is not denied.');
      output.next(`slipway run retry ${id}`);
    });
}
