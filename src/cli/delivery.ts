import { type Command, Option } from 'commander';
import { connect } from './api-client.ts';
import { deliveryObject, listAll, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { deliveryDetails, described } from './delivery-details.ts';
import { usageFailure } from './failure.ts';
import { forTerminal, outputOf, table, time } from './output.ts';

const deliveryPath = (id: string): string => `/api/v1/deliveries/${encodeURIComponent(id)}`;

interface ListOptions {
  readonly limit: string;
  readonly status?: string;
  readonly run?: string;
}

/** `slipway webhook deliveries|delivery|resend|curl`: what was sent, and what to do about it. */
export function addDeliveryCommands(webhook: Command, context: CliContext): void {
  webhook
    .command('deliveries')
    .description('what was sent, newest first')
    .argument('<webhook>')
    .addOption(
      new Option('--status <status>').choices(['pending', 'delivered', 'failed', 'exhausted', 'skipped']),
    )
    .option('--run <run>', 'only those of a run')
    .option('--limit <number>', 'at most so many', '20')
    .action(async (id: string, options: ListOptions, command: Command) => {
      const { limit: wanted, ...filter } = options;
      const limit = Number(wanted);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, `${webhookPath(id)}/deliveries`, limit, { ...filter });
      const deliveries = deliveryObject.array().parse(items);
      output.result({ items }, () => listed(deliveries));
      const failed = deliveries.find(({ status }) => status === 'failed' || status === 'exhausted');
      if (failed) output.next(`slipway webhook delivery ${failed.id}`);
    });

  webhook
    .command('delivery')
    .description('one delivery with its attempts, and what to do about those that failed')
    .argument('<delivery>')
    .option('--body', 'what is sent instead, byte for byte')
    .action(async (id: string, options: { body?: boolean }, command: Command) => {
      await using client = await connect(context);
      if (options.body) {
        const body = await (await client.open(`${deliveryPath(id)}/body`)).text();
        context.out(context.outputIsTerminal ? `${forTerminal(body)}\n` : body);
        return;
      }
      const found = await client.call('GET', deliveryPath(id));
      const output = outputOf(context, command);
      const delivery = deliveryDetails.parse(found);
      output.result(found, () => described(delivery));
      if (delivery.status !== 'delivered' && delivery.status !== 'pending')
        output.next(`slipway webhook resend ${id}`);
    });

  webhook
    .command('resend')
    .description('send a delivery again')
    .argument('<delivery>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const answer = await client.call('POST', `${deliveryPath(id)}/resend`);
      outputOf(context, command).result(answer, () => `Delivery ${id} will be sent again.`);
    });

  webhook
    .command('curl')
    .description('a shell command that sends an attempt again, with the same bytes and headers')
    .argument('<delivery>')
    .option('--attempt <number>', 'default: the last')
    .action(async (id: string, options: { attempt?: string }, command: Command) => {
      await using client = await connect(context);
      const query =
        options.attempt === undefined ? '' : `?${new URLSearchParams({ attempt: options.attempt })}`;
      const text = await (await client.open(`${deliveryPath(id)}/curl${query}`)).text();
      outputOf(context, command).result({ command: text }, () => text.trimEnd());
    });
}

function listed(items: readonly ReturnType<typeof deliveryObject.parse>[]): string {
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
