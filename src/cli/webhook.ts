import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { listAll, webhookObject, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';
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
}
