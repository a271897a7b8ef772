import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import type { CliContext } from './context.ts';
import { outputOf, table } from './output.ts';
import { runPath } from './run.ts';

const toldObject = z.object({
  complete: z.boolean(),
  webhooks: z.array(
    z.object({
      webhook: z.string(),
      host: z.string(),
      enabled: z.boolean(),
      complete: z.boolean(),
      states: z.array(
        z.object({
          state: z.string(),
          stateVersion: z.number(),
          light: z.string(),
          status: z.string().optional(),
          delivery: z.string().optional(),
        }),
      ),
    }),
  ),
});
type Told = z.infer<typeof toldObject>;

/** `slipway run deliveries` */
export function addRunDeliveriesCommand(run: Command, context: CliContext): void {
  run
    .command('deliveries')
    .description('whether every state of a run reached every webhook')
    .argument('<run>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const answer = await client.call('GET', `${runPath(id)}/deliveries`);
      const told = toldObject.parse(answer);
      output.result(answer, () => shown(told));
      const missing = told.webhooks.flatMap(({ states }) => states).find(({ light }) => light === 'red');
      if (missing?.delivery !== undefined) output.next(`slipway webhook delivery ${missing.delivery}`);
    });
}

function shown({ complete, webhooks }: Told): string {
  if (webhooks.length === 0) return 'The stack has no webhooks.';
  const rows = webhooks.flatMap(({ webhook, host, states }) =>
    states.map(({ state, stateVersion, light, status, delivery }) => [
      webhook,
      host,
      String(stateVersion),
      state,
      light,
      status ?? (light === 'red' ? 'never queued' : 'not wanted'),
      delivery ?? '',
    ]),
  );
  const head = ['WEBHOOK', 'HOST', 'VERSION', 'STATE', 'LIGHT', 'STATUS', 'DELIVERY'];
  return `${table(head, rows)}\n\n${complete ? 'Everything arrived.' : 'Not everything arrived.'}`;
}
