import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import { runObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';

const explanation = z.object({
  happened: z.string(),
  note: z.string().optional(),
  next: z.array(z.object({ text: z.string(), command: z.string().optional() })),
  mend: z.object({ command: z.string().optional() }).optional(),
});

/** `slipway run explain` and `slipway run mend`. */
export function addRunExplainCommands(run: Command, context: CliContext): void {
  run
    .command('explain')
    .description('what happened to a run and what to do next')
    .argument('<run>')
    .action(async (id: string, _options: unknown, self: Command) => {
      await using client = await connect(context);
      const found = await client.call('GET', `/api/v1/runs/${encodeURIComponent(id)}/explanation`);
      const parsed = explanation.parse(found);
      outputOf(context, self).result(found, () => explained(parsed));
    });

  run
    .command('mend')
    .description('start the task that mends the state which a run found locked or half done')
    .argument('<run>', 'the run that met the trouble')
    .action(async (id: string, _options: unknown, self: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, self);
      const made = await client.call('POST', `/api/v1/runs/${encodeURIComponent(id)}/mend`);
      const task = runObject.parse(made);
      output.result(made, () => `Started the task ${task.id}: ${task.command ?? ''}`);
      output.next(`slipway run logs ${task.id} --follow, then slipway run retry ${id}`);
    });
}

function explained({ happened, note, next, mend }: z.infer<typeof explanation>): string {
  const steps = next.map(({ text, command }, index) => {
    const lines = [`${index + 1}. ${text}`, ...(command === undefined ? [] : [`   ${command}`])];
    return lines.join('\n');
  });
  return [
    happened,
    ...(note === undefined ? [] : [note]),
    ...(steps.length > 0 ? ['', 'What to do next:', ...steps] : []),
    ...(mend?.command === undefined ? [] : ['', `The task would run: ${mend.command}`]),
  ].join('\n');
}
