import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { type ApiClient, connect } from './api-client.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { outputOf } from './output.ts';
import { runPath } from './run.ts';
import { serverSentEvents } from './server-sent-events.ts';

interface LogOptions {
  readonly phase?: string;
  readonly offset: string;
  readonly follow?: boolean;
}

export function addLogCommand(run: Command, context: CliContext): void {
  run
    .command('logs')
    .description('what the commands of a run printed')
    .argument('<run>')
    .option('--phase <phase>', 'preparing, initializing, planning, applying, destroying or performing')
    .option('--offset <bytes>', 'begin there', '0')
    .option('-f, --follow', 'go on until the run is over')
    .action(async (id: string, options: LogOptions, command: Command) => {
      const output = outputOf(context, command);
      if (options.follow && output.isJson) throw usageFailure('--follow has no single JSON value to print');
      if (options.follow && options.offset !== '0') throw usageFailure('--follow begins at the beginning');
      await using client = await connect(context);
      if (options.follow) return follow(client, context, id, options.phase);

      const query = new URLSearchParams({ offset: options.offset });
      if (options.phase !== undefined) query.set('phase', options.phase);
      const response = await client.open(`${runPath(id)}/logs?${query}`);
      const nextOffset = Number(response.headers.get('x-next-offset'));
      if (output.isJson) return output.result({ text: await response.text(), nextOffset }, () => '');
      const text = response.body?.pipeThrough(new TextDecoderStream());
      if (text) for await (const piece of text) context.out(piece);
    });
}

const piece = z.object({ text: z.string() });
const over = z.object({ state: z.string().nullable() });

/** A stream may end at any time, and is opened again where it was: that alone is no failure. */
const maxFailures = 5;
const pauseMs = 1000;

async function follow(client: ApiClient, context: CliContext, id: string, phase?: string): Promise<void> {
  const query = phase === undefined ? '' : `?${new URLSearchParams({ phase })}`;
  let lastId = '';
  for (let failures = 0; ; ) {
    try {
      const heads: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const { body } = await client.open(`${runPath(id)}/logs/stream${query}`, heads);
      if (!body) break;
      failures = 0;
      for await (const event of serverSentEvents(body)) {
        lastId = event.id;
        const data: unknown = JSON.parse(event.data);
        if (event.event === 'log') context.out(piece.parse(data).text);
        if (event.event === 'end') {
          context.err(`Run ${id} is ${over.parse(data).state ?? 'gone'}.\n`);
          return;
        }
      }
    } catch (error) {
      const isTemporary = !(error instanceof CliFailure) || error.exitCode === exitCodes.unreachable;
      failures += 1;
      if (!isTemporary || failures >= maxFailures) throw error;
    }
    await wait(pauseMs);
  }
  throw new CliFailure(exitCodes.unreachable, 'The log could not be followed to its end.', {
    hint: `slipway run logs ${id} shows what there is.`,
  });
}
