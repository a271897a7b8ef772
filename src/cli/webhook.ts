import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { deliveryObject, listAll, webhookObject, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { outputOf, table, time } from './output.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';
import { addWebhookChangeCommands } from './webhook-change.ts';
import { addWebhookSecretCommands } from './webhook-secret.ts';
import { describedWebhook, listedWebhooks } from './webhook-text.ts';

/** `slipway webhook ...` */
export function addWebhookCommands(webhook: Command, context: CliContext): void {
  webhook
    .command('list')
    .description('webhooks of a stack')
    .argument(...stackArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, `${await stackPathOf(client, name)}/webhooks`);
      output.result({ items }, () => listedWebhooks(webhookObject.array().parse(items)));
      if (items.length === 0) output.next(`slipway webhook add ${name} https://receiver.example/path`);
    });

  webhook
    .command('show')
    .description('one webhook, with its secret')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const found = await client.call('GET', webhookPath(id));
      outputOf(context, command).result(found, () => describedWebhook(webhookObject.parse(found)));
    });

  addWebhookChangeCommands(webhook, context);

  webhook
    .command('delete')
    .description('delete a webhook with its deliveries')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', webhookPath(id));
      outputOf(context, command).result({ deleted: true }, () => `Deleted webhook ${id}.`);
    });

  addWebhookSecretCommands(webhook, context);

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
