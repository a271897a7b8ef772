import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import { listAll } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { momentExamples, secondsOf } from './moment.ts';
import { outputOf, table, time } from './output.ts';

const auditObject = z.object({
  at: z.number(),
  actor: z.object({ name: z.string() }),
  via: z.string(),
  address: z.string().nullable(),
  operation: z.string(),
  parameters: z.record(z.string(), z.string()),
  account: z.string().optional(),
  stack: z.string().optional(),
  run: z.string().optional(),
  outcome: z.string(),
  status: z.number().nullable(),
  note: z.string().optional(),
});
type Entry = z.infer<typeof auditObject>;

interface AuditOptions {
  readonly account?: string;
  readonly stack?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
}

/** `slipway audit` */
export function addAuditCommand(program: Command, context: CliContext): void {
  program
    .command('audit')
    .description('who changed what, from where, newest first; of stacks that you administer')
    .option('--account <login>')
    .option('--stack <account/id>', 'or the id alone')
    .option('--actor <name>', 'who; or a key such as person:ada')
    .option('--since <time>', momentExamples)
    .option('--until <time>', momentExamples)
    .option('--limit <number>', 'at most so many', '20')
    .action(async (options: AuditOptions, command: Command) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      const filter = filterOf(options, Date.now());
      await using client = await connect(context);
      const items = await listAll(client.call, '/api/v1/audit', limit, filter);
      const entries = auditObject.array().parse(items);
      outputOf(context, command).result({ items }, () => listed(entries));
    });
}

function filterOf({ since, until, ...options }: AuditOptions, nowMs: number): Record<string, string> {
  const [stack, ofStack] = options.stack?.split('/').toReversed() ?? [];
  const account = options.account ?? ofStack;
  return {
    ...(account === undefined ? {} : { account }),
    ...(stack === undefined ? {} : { stack }),
    ...(options.actor === undefined ? {} : { actor: options.actor }),
    ...(since === undefined ? {} : { since: String(secondsOf(since, nowMs, '--since')) }),
    ...(until === undefined ? {} : { until: String(secondsOf(until, nowMs, '--until')) }),
  };
}

function listed(entries: readonly Entry[]): string {
  if (entries.length === 0) return 'Nothing is written down.';
  return table(
    ['AT', 'WHO', 'VIA', 'FROM', 'WHAT', 'STACK', 'RESULT'],
    entries.map((entry) => [
      time(entry.at),
      entry.actor.name,
      entry.via,
      entry.address ?? '',
      whatOf(entry),
      entry.stack === undefined ? (entry.account ?? '') : `${entry.account}/${entry.stack}`,
      resultOf(entry),
    ]),
  );
}

/** With the parameters in their places; what the operation has no place for stands behind it. */
function whatOf({ operation, parameters, run }: Entry): string {
  const inPlace = operation
    .replace('/api/v1', '')
    .replace(/\{(\w+)\}/g, (place, name: string) => parameters[name] ?? place);
  const others = Object.entries(parameters)
    .filter(([name]) => !operation.includes(`{${name}}`))
    .map(([name, value]) => `${name} ${value}`);
  const made = run === undefined || inPlace.includes(run) ? [] : [`run ${run}`];
  return [inPlace, ...others, ...made].join(', ');
}

const resultOf = ({ outcome, status, note }: Entry): string =>
  `${outcome}${status === null ? '' : ` ${status}`}${note === undefined ? '' : `: ${note}`}`;
