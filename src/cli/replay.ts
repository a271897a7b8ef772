import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { type ApiClient, connect } from './api-client.ts';
import { listAll, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { momentExamples, secondsOf } from './moment.ts';
import { outputOf, table, time } from './output.ts';

const startedObject = z.object({
  count: z.number(),
  states: z.record(z.string(), z.number()),
  oldest: z.number().nullable(),
  replay: z.string().optional(),
});

const replayObject = z.object({
  id: z.string(),
  status: z.string(),
  since: z.number(),
  until: z.number(),
  state: z.string().optional(),
  failedOnly: z.boolean(),
  total: z.number(),
  queued: z.number(),
  createdBy: z.string(),
});
type Replay = z.infer<typeof replayObject>;

interface ReplayOptions {
  readonly since: string;
  readonly until?: string;
  readonly state?: string;
  readonly failedOnly?: boolean;
  readonly dryRun?: boolean;
  readonly follow?: boolean;
}

/** `slipway webhook replay|replays|cancel-replay` */
export function addReplayCommands(webhook: Command, context: CliContext): void {
  webhook
    .command('replay')
    .description('send the state changes of a while again, little by little')
    .argument('<webhook>')
    .requiredOption('--since <time>', momentExamples)
    .option('--until <time>', 'default: now')
    .option('--state <state>', 'only changes to that state')
    .option('--failed-only', 'only what was not delivered')
    .option('--dry-run', 'only count')
    .option('-f, --follow', 'wait until all of it is queued')
    .action(async (id: string, options: ReplayOptions, command: Command) => {
      const { since, until, state, failedOnly = false, dryRun = false, follow = false } = options;
      const nowMs = Date.now();
      const body = {
        since: secondsOf(since, nowMs, '--since'),
        ...(until === undefined ? {} : { until: secondsOf(until, nowMs, '--until') }),
        ...(state === undefined ? {} : { state: state.toUpperCase() }),
        failedOnly,
        dryRun,
      };
      await using client = await connect(context);
      const output = outputOf(context, command);
      const answer = await client.call('POST', `${webhookPath(id)}/replay`, body);
      const started = startedObject.parse(answer);
      output.result(answer, () => announced(started, body.since, dryRun));
      if (started.replay === undefined) return;
      if (follow) await toTheEnd(client, context, id, started.replay);
      else output.next(`slipway webhook replays ${id}`);
    });

  webhook
    .command('replays')
    .description('replays of a webhook, newest first')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, `${webhookPath(id)}/replays`);
      outputOf(context, command).result({ items }, () => listed(replayObject.array().parse(items)));
    });

  webhook
    .command('cancel-replay')
    .description('queue no more of a replay; what is queued is sent')
    .argument('<webhook>')
    .argument('<replay>')
    .action(async (id: string, replay: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const path = `${webhookPath(id)}/replays/${encodeURIComponent(replay)}/cancel`;
      const answer = await client.call('POST', path);
      const { status, queued, total } = replayObject.parse(answer);
      outputOf(context, command).result(
        answer,
        () => `Replay ${replay} is ${status}: ${queued} of ${total}.`,
      );
    });
}

function announced(started: z.infer<typeof startedObject>, since: number, dryRun: boolean): string {
  const { count, states, oldest, replay } = started;
  const note = oldest !== null && oldest > since ? [`Nothing before ${time(oldest)} is kept.`] : [];
  if (count === 0) return ['Nothing to send.', ...note].join('\n');
  const each = Object.entries(states).map(([state, number]) => `  ${state} ${number}`);
  const changes = count === 1 ? '1 state change' : `${count} state changes`;
  const head = dryRun
    ? `${changes} would be sent.`
    : `${changes} will be sent${replay ? ` by replay ${replay}` : ''}.`;
  return [head, ...each, ...note].join('\n');
}

function listed(replays: readonly Replay[]): string {
  if (replays.length === 0) return 'No replays yet.';
  return table(
    ['REPLAY', 'STATUS', 'QUEUED', 'SINCE', 'UNTIL', 'BY', 'ONLY'],
    replays.map(({ id, status, queued, total, since, until, createdBy, state, failedOnly }) => [
      id,
      status,
      `${queued} of ${total}`,
      time(since),
      time(until),
      createdBy,
      [state, failedOnly ? 'undelivered' : undefined].filter(Boolean).join(', '),
    ]),
  );
}

const pollMs = 500;
/** Without any progress for so long, nobody is there who would make some. */
const patienceMs = 120_000;

async function toTheEnd(client: ApiClient, context: CliContext, webhook: string, id: string): Promise<void> {
  let [queued, changedAt] = [-1, performance.now()];
  while (performance.now() - changedAt < patienceMs) {
    const items = await listAll(client.call, `${webhookPath(webhook)}/replays`, 20);
    const replay = replayObject
      .array()
      .parse(items)
      .find((one) => one.id === id);
    if (!replay) throw new CliFailure(exitCodes.notFound, `Replay ${id} is gone.`);
    if (replay.queued !== queued) {
      [queued, changedAt] = [replay.queued, performance.now()];
      context.err(`${queued} of ${replay.total} queued\n`);
    }
    if (replay.status === 'done') return;
    if (replay.status !== 'running') throw new CliFailure(exitCodes.failed, `Replay ${id} was canceled.`);
    await wait(pollMs);
  }
  throw new CliFailure(exitCodes.failed, `Replay ${id} makes no progress.`, {
    hint: `Is the server running, and does the receiver answer? slipway webhook deliveries ${webhook}`,
  });
}
