import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { deliveryObject, listAll, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { outputOf, table, time } from './output.ts';

/** `slipway webhook deliveries|resend`: what was sent, and what to do about it. */
export function addDeliveryCommands(webhook: Command, context: CliContext): void {
  webhook
    .command('deliveries')
    .description('what was sent, newest first')
    .argument('<webhook>')
    .option('--limit <number>', 'at most so many', '20')
    .action(async (id: string, options: { limit: string }, command: Command) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      await using client = await connect(context);
      const items = await listAll(client.call, `${webhookPath(id)}/deliveries`, limit);
      outputOf(context, command).result({ items }, () => deliveries(deliveryObject.array().parse(items)));
    });

  webhook
    .command('resend')
    .description('send a delivery again')
    .argument('<delivery>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const answer = await client.call('POST', `/api/v1/deliveries/${encodeURIComponent(id)}/resend`);
      outputOf(context, command).result(answer, () => `Delivery ${id} will be sent again.`);
    });
}

function deliveries(items: readonly ReturnType<typeof deliveryObject.parse>[]): string {
  if (items.length === 0) return 'Nothing was sent yet.';
  return table(
    ['DELIVERY', 'RUN', 'VERSION', 'STATUS', 'ATTEMPTS', 'LAST', 'NEXT'],
    items.map(({ id, run, stateVersion, status, attempts, nextAttemptAt }) => {
      const last = attempts.at(-1);
      const result = last && (last.statusCode?.toString() ?? last.detail ?? last.error ?? last.outcome);
      const next = nextAttemptAt === undefined ? '' : time(nextAttemptAt);
      return [id, run, String(stateVersion), status, String(attempts.length), result ?? '', next];
    }),
  );
}
