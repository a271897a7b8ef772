import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { outputOf, table, time } from './output.ts';

const maxPage = 200;

const eventObject = z.object({
  cursor: z.string(),
  payload: z.looseObject({
    account: z.string(),
    state: z.string(),
    stateVersion: z.number(),
    timestamp: z.number(),
    run: z.looseObject({ id: z.string(), type: z.string() }),
    stack: z.looseObject({ id: z.string() }),
  }),
});
const page = z.object({
  items: z.array(z.unknown()),
  nextCursor: z.string().nullable(),
  incomplete: z.literal(true).optional(),
});

/** `slipway events`: what webhooks told, for those who were not there. */
export function addEventsCommand(program: Command, context: CliContext): void {
  program
    .command('events')
    .description('every state change of every run that you may see, oldest first')
    .option('--after <cursor>', 'go on behind that one; default: from the beginning')
    .option('--limit <number>', 'at most so many', '50')
    .action(async ({ after, limit: wanted }: { after?: string; limit: string }, command: Command) => {
      const limit = Number(wanted);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items: unknown[] = [];
      let cursor: string | null = after ?? '';
      let incomplete = false;
      while (cursor !== null && items.length < limit) {
        const size = Math.min(maxPage, limit - items.length);
        const query = new URLSearchParams({ after: cursor, limit: String(size) });
        const found = page.parse(await client.call('GET', `/api/v1/events?${query}`));
        items.push(...found.items);
        incomplete ||= found.incomplete === true;
        cursor = found.nextCursor;
      }
      const events = eventObject.array().parse(items);
      const result = { items, nextCursor: cursor, ...(incomplete ? { incomplete } : {}) };
      output.result(result, () => listed(events));
      if (incomplete) output.note('Older state changes were removed for their age.');
      const last = events.at(-1);
      if (last && cursor !== null) output.next(`slipway events --after ${last.cursor}`);
    });
}

function listed(events: readonly z.infer<typeof eventObject>[]): string {
  if (events.length === 0) return 'No state changes.';
  return table(
    ['TIME', 'STACK', 'RUN', 'TYPE', 'VERSION', 'STATE'],
    events.map(({ payload: { account, state, stateVersion, timestamp, run, stack } }) => [
      time(timestamp),
      `${account}/${stack.id}`,
      run.id,
      run.type,
      String(stateVersion),
      state,
    ]),
  );
}
