import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { deliveryObject, listAll, webhookObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { fields, outputOf, table, time } from './output.ts';
import { secretInput } from './secret-input.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';

interface WebhookFlags {
  readonly endpoint?: string;
  /** False: `--no-secret`. */
  readonly secret?: string | false;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

const secretOption = ['--secret <secret>', 'signs what is sent; - reads it from standard input'] as const;

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
      output.result({ items }, () => listed(webhookObject.array().parse(items)));
      if (items.length === 0) output.next(`slipway webhook add ${name} https://receiver.example/path`);
    });

  webhook
    .command('add')
    .description('send every state change of the runs of a stack to an endpoint')
    .argument(...stackArgument)
    .argument('<endpoint>', 'http or https URL')
    .option(...secretOption)
    .option('--disable', 'send nothing yet')
    .action(async (name: string, endpoint: string, flags: WebhookFlags, command: Command) => {
      const output = outputOf(context, command);
      const secret = await secretOf(flags.secret);
      await using client = await connect(context);
      const body = { endpoint, ...secret, enabled: flags.disable !== true };
      const made = await client.call('POST', `${await stackPathOf(client, name)}/webhooks`, body);
      const { id } = webhookObject.parse(made);
      output.result(made, () => `Added webhook ${id}.`);
      if (flags.secret === undefined)
        output.next(`slipway webhook regenerate-secret ${id}, so that receivers can verify`);

      async function secretOf(given: string | false | undefined): Promise<{ secret?: string | null }> {
        if (given === undefined) return {};
        return { secret: given === false ? null : await secretInput(context, output, given, 'the secret') };
      }
    });

  webhook
    .command('show')
    .description('one webhook, with its secret')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const found = await client.call('GET', webhookPath(id));
      outputOf(context, command).result(found, () => described(webhookObject.parse(found)));
    });

  webhook
    .command('update')
    .description('change what is given, leave the rest')
    .argument('<webhook>')
    .option('--endpoint <url>')
    .option(...secretOption)
    .option('--no-secret', 'sign with the empty string')
    .option('--enable', 'send from now on')
    .option('--disable', 'send nothing, and stop what is pending')
    .action(async (id: string, flags: WebhookFlags, command: Command) => {
      if (flags.enable && flags.disable) throw usageFailure('--enable and --disable contradict each other');
      const output = outputOf(context, command);
      const body = {
        ...(flags.endpoint === undefined ? {} : { endpoint: flags.endpoint }),
        ...(flags.enable ? { enabled: true } : {}),
        ...(flags.disable ? { enabled: false } : {}),
        ...(flags.secret === false ? { secret: null } : {}),
        ...(typeof flags.secret === 'string'
          ? { secret: await secretInput(context, output, flags.secret, 'the secret') }
          : {}),
      };
      if (Object.keys(body).length === 0)
        throw usageFailure('nothing to change', 'See `slipway webhook update --help`.');
      await using client = await connect(context);
      const changed = await client.call('PATCH', webhookPath(id), body);
      output.result(changed, () => described(webhookObject.parse(changed)));
    });

  webhook
    .command('delete')
    .description('delete a webhook with its deliveries')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', webhookPath(id));
      outputOf(context, command).result({ deleted: true }, () => `Deleted webhook ${id}.`);
    });

  webhook
    .command('regenerate-secret')
    .description('a new secret, random unless given; the old one ends at once')
    .argument('<webhook>')
    .option(...secretOption)
    .action(async (id: string, flags: { secret?: string }, command: Command) => {
      const output = outputOf(context, command);
      const given =
        flags.secret === undefined
          ? {}
          : { secret: await secretInput(context, output, flags.secret, 'the secret') };
      await using client = await connect(context);
      const answer = await client.call('POST', `${webhookPath(id)}/secret/regenerate`, given);
      output.result(answer, () => webhookObject.pick({ secret: true }).parse(answer).secret ?? '');
    });

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

const webhookPath = (id: string): string => `/api/v1/webhooks/${encodeURIComponent(id)}`;

type Webhook = ReturnType<typeof webhookObject.parse>;

function standing({ enabled, disabledReason }: Webhook): string {
  if (enabled) return 'enabled';
  return disabledReason === undefined ? 'disabled' : `disabled: ${disabledReason}`;
}

function listed(webhooks: readonly Webhook[]): string {
  if (webhooks.length === 0) return 'No webhooks yet.';
  const rows = webhooks.map((webhook) => [webhook.id, webhook.endpoint, standing(webhook)]);
  return table(['WEBHOOK', 'ENDPOINT', ''], rows);
}

function described(webhook: Webhook): string {
  return fields([
    ['webhook', webhook.id],
    ['endpoint', webhook.endpoint],
    ['standing', standing(webhook)],
    ['secret', webhook.secret ?? '(none)'],
    ['created', time(webhook.createdAt)],
  ]);
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
