import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type ApiClient, connect } from './api-client.ts';
import { listAll } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, failureOf, usageFailure } from './failure.ts';
import { fields, forTerminal, oneLine, outputOf, shortened, table, time } from './output.ts';

const deliveryObject = z.object({
  id: z.string(),
  event: z.string(),
  state: z.string(),
  attempts: z.number(),
  receivedAt: z.number(),
  nextAt: z.number().optional(),
  note: z.string().optional(),
  size: z.number().nullable(),
});
type Delivery = z.infer<typeof deliveryObject>;

/** Of a note in the table; `show` prints it whole. */
const noteWidth = 100;
const inboxPath = '/api/v1/inbox';
const pathOf = (id: string): string => `${inboxPath}/${encodeURIComponent(id)}`;

/** `slipway inbox ...`: GitHub's deliveries, for administrators of the instance. */
export function addInboxCommands(inbox: Command, context: CliContext): void {
  inbox
    .command('list')
    .description('deliveries, newest first')
    .addOption(new Option('--state <state>').choices(['pending', 'done', 'ignored', 'failed']))
    .option('--event <event>', 'e.g. push')
    .option('--limit <number>', 'at most so many', '20')
    .action(async (options: ListOptions, command: Command) => {
      const { limit: wanted, ...filter } = options;
      const limit = Number(wanted);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, inboxPath, limit, { ...filter });
      const deliveries = deliveryObject.array().parse(items);
      output.result({ items }, () => listed(deliveries));
      const failed = deliveries.find(({ state, size }) => state === 'failed' && size !== null);
      if (failed) output.next(`slipway inbox show ${failed.id}, then slipway inbox replay ${failed.id}`);
    });

  inbox
    .command('show')
    .description('one delivery')
    .argument('<delivery>', 'X-GitHub-Delivery')
    .option('--body', 'its body instead, as GitHub sent it; may hold e-mail addresses')
    .action(async (id: string, options: { body?: boolean }, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      if (options.body) {
        // Not parsed: numbers above 2^53 would change.
        const bytes = await (await client.open(`${pathOf(id)}/body`)).arrayBuffer();
        const body = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        context.out(context.outputIsTerminal ? `${forTerminal(body)}\n` : body);
        return;
      }
      const found = await client.call('GET', pathOf(id));
      output.result(found, () => described(deliveryObject.parse(found)));
    });

  inbox
    .command('replay')
    .description('handle deliveries once more; a push never makes a second run')
    .argument('[delivery]', 'X-GitHub-Delivery')
    .option('--failed', 'all that failed and whose bodies are kept')
    .action(async (id: string | undefined, options: { failed?: boolean }, command: Command) => {
      if ((id === undefined) === (options.failed !== true))
        throw usageFailure('either a delivery or --failed', 'See: slipway inbox replay --help');
      await using client = await connect(context);
      const output = outputOf(context, command);
      if (id !== undefined) {
        const item = await client.call('POST', `${pathOf(id)}/replay`);
        output.result({ items: [item], errors: [] }, () => replayed([id]));
        output.next(`slipway inbox show ${id}`);
        return;
      }
      const { items, ids, errors } = await replayAll(client, await failedIds(client));
      output.result({ items, errors }, () => (errors.length > 0 && ids.length === 0 ? '' : replayed(ids)));
      for (const { delivery, detail } of errors)
        output.note(`Delivery ${oneLine(delivery)}: ${oneLine(detail)}`);
      if (errors.length > 0) throw new CliFailure(exitCodes.failed, '');
      if (ids.length > 0) output.next(`slipway inbox show ${ids[0]}`);
    });
}

interface ListOptions {
  readonly state?: string;
  readonly event?: string;
  readonly limit: string;
}

/** Oldest first, as they came. */
async function failedIds(client: ApiClient): Promise<string[]> {
  const items = await listAll(client.call, inboxPath, Number.POSITIVE_INFINITY, { state: 'failed' });
  const deliveries = deliveryObject.array().parse(items);
  return deliveries
    .filter(({ size }) => size !== null)
    .map(({ id }) => id)
    .reverse();
}

interface Replays {
  readonly items: unknown[];
  readonly ids: string[];
  readonly errors: { readonly delivery: string; readonly code: string; readonly detail: string }[];
}

/** One that somebody else replayed meanwhile, or whose body is gone, does not keep the others from theirs. */
async function replayAll(client: ApiClient, deliveries: readonly string[]): Promise<Replays> {
  const replays: Replays = { items: [], ids: [], errors: [] };
  for (const delivery of deliveries) {
    try {
      replays.items.push(await client.call('POST', `${pathOf(delivery)}/replay`));
      replays.ids.push(delivery);
    } catch (error) {
      const { json, message: detail, exitCode } = failureOf(error);
      replays.errors.push({ delivery, code: String(json['code'] ?? 'failed'), detail });
      // The next one would meet the same.
      if (exitCode === exitCodes.unreachable || exitCode === exitCodes.forbidden) break;
    }
  }
  return replays;
}

function replayed(ids: readonly string[]): string {
  if (ids.length === 0) return 'Nothing failed that could be replayed.';
  return ids.map((id) => `Delivery ${id} will be handled once more.`).join('\n');
}

function listed(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'No deliveries.';
  return table(
    ['DELIVERY', 'EVENT', 'STATE', 'ATTEMPTS', 'RECEIVED', 'NEXT', 'NOTE'],
    deliveries.map(({ id, event, state, attempts, receivedAt, nextAt, note }) => [
      id,
      event,
      state,
      String(attempts),
      time(receivedAt),
      nextAt === undefined ? '' : time(nextAt),
      shortened(note ?? '', noteWidth),
    ]),
  );
}

function described({ id, event, state, attempts, receivedAt, nextAt, note, size }: Delivery): string {
  return fields([
    ['delivery', id],
    ['event', event],
    ['state', state],
    ['note', note],
    ['attempts', String(attempts)],
    ['received', time(receivedAt)],
    ['next', nextAt === undefined ? undefined : time(nextAt)],
    ['body', size === null ? 'dropped for its age' : `${size} bytes`],
  ]);
}
