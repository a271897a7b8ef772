import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { listAll, type RunObject, runObject, stateObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { fields, outputOf, table, time } from './output.ts';
import { addRunExplainCommands } from './run-explain.ts';
import { addRunOverrideCommand } from './run-override.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';

/** `slipway run ...`; its logs are in run-logs.ts. */
export function addRunCommands(run: Command, context: CliContext): void {
  run
    .command('list')
    .description('runs of a stack, newest first')
    .argument(...stackArgument)
    .option('--limit <number>', 'at most so many', '20')
    .action(async (name: string, options: { limit: string }, command: Command) => {
      const limit = wholeNumber(options.limit, '--limit');
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, `${await stackPathOf(client, name)}/runs`, limit);
      output.result({ items }, () => listed(runObject.array().parse(items)));
      if (items.length === 0) output.next(`slipway run trigger ${name}`);
    });

  run
    .command('trigger')
    .description('start a run')
    .argument(...stackArgument)
    .option('--type <type>', 'TRACKED, PROPOSED (preview only), TASK or DESTROY', 'TRACKED')
    .option('--branch <name>', 'default: the tracked branch')
    .option('--sha <commit>', 'a commit of the branch; default: its head')
    .option('--command <command>', 'for a TASK')
    .action(async (name: string, options: TriggerOptions, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const body = { ...options, type: options.type.toUpperCase() };
      const made = await client.call('POST', `${await stackPathOf(client, name)}/runs`, body);
      const { id } = runObject.parse(made);
      output.result(made, () => `Started run ${id}.`);
      output.next(`slipway run logs ${id} --follow`);
    });

  run
    .command('show')
    .description('where a run stands')
    .argument('<run>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const found = await client.call('GET', runPath(id));
      const parsed = runObject.parse(found);
      output.result(found, () => described(parsed));
      const next = nextStep(parsed);
      if (next !== undefined) output.next(next);
    });

  run
    .command('states')
    .description('the state changes of a run, oldest first')
    .argument('<run>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, `${runPath(id)}/states`);
      outputOf(context, command).result({ items }, () =>
        table(
          ['VERSION', 'STATE', 'TIME', 'BY', 'NOTE'],
          stateObject
            .array()
            .parse(items)
            .map((change) => [
              String(change.stateVersion),
              change.state,
              time(change.timestamp),
              change.actor,
              change.note ?? '',
            ]),
        ),
      );
    });

  const actions = {
    approve: 'approve a run that waits for approval policies',
    reject: 'reject a run that waits for approval policies',
    confirm: 'apply what was planned',
    discard: 'do not apply what was planned',
    cancel: 'end a run that no worker has yet',
    stop: 'end a run before it changes anything',
    retry: 'a new run like one that is over',
    prioritize: 'put a QUEUED run in front of what else waits in its stack',
  };
  for (const [action, description] of Object.entries(actions)) {
    const command = run
      .command(action)
      .description(description)
      .argument('<run>')
      .option('--state-version <number>', 'only if the run still has that version');
    if (action !== 'prioritize') command.option('--note <text>', 'why');
    if (action === 'confirm') command.option('--confirmation <name>', 'of the stack, for a DESTROY run');
    command.action(async (id: string, options: ActionOptions, self: Command) => {
      const { stateVersion, ...rest } = options;
      const version =
        stateVersion === undefined ? {} : { stateVersion: wholeNumber(stateVersion, '--state-version') };
      await using client = await connect(context);
      const output = outputOf(context, self);
      const changed = await client.call('POST', `${runPath(id)}/${action}`, { ...rest, ...version });
      const parsed = runObject.parse(changed);
      output.result(changed, () => `Run ${parsed.id} is ${parsed.state}.`);
      if (action === 'retry' || action === 'confirm') output.next(`slipway run logs ${parsed.id} --follow`);
    });
  }
  addRunExplainCommands(run, context);
  addRunOverrideCommand(run, context);
}

interface TriggerOptions {
  readonly type: string;
  readonly branch?: string;
  readonly sha?: string;
  readonly command?: string;
}

interface ActionOptions {
  readonly stateVersion?: string;
  readonly note?: string;
  readonly confirmation?: string;
}

export const runPath = (id: string): string => `/api/v1/runs/${encodeURIComponent(id)}`;

function wholeNumber(text: string, option: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw usageFailure(`${option}: must be a number above 0`);
}

function listed(runs: readonly RunObject[]): string {
  if (runs.length === 0) return 'No runs yet.';
  return table(
    ['RUN', 'TYPE', 'STATE', 'CHANGES', 'COMMIT', 'BY', 'CREATED', 'WHY'],
    runs.map((run) => [
      run.id,
      run.type,
      run.state,
      changes(run),
      run.commit.hash.slice(0, 7),
      run.triggeredBy,
      time(run.createdAt),
      why(run),
    ]),
  );
}

/** Why it stands where it stands, as far as there is something to say. */
function why(run: RunObject): string {
  const blocked = blocker(run);
  return [run.outcome, run.note, blocked && `waits for ${blocked}`].filter(Boolean).join(': ');
}

function described(run: RunObject): string {
  const [subject] = run.commit.message.split('\n');
  return fields([
    ['run', run.id],
    ['stack', `${run.stack.account}/${run.stack.id}`],
    ['type', run.type],
    ['state', `${run.state} (version ${run.stateVersion})`],
    ['waits for', blocker(run)],
    ['note', run.note],
    ['outcome', run.outcome],
    ['changes', changes(run)],
    ['command', run.command],
    ['branch', run.branch],
    ['pull request', pullRequest(run)],
    ['trust', trust(run)],
    ['commit', `${run.commit.hash} ${subject} (${run.commit.authorName})`],
    ['page', run.commit.url],
    ['by', run.triggeredBy],
    ['created', time(run.createdAt)],
  ]);
}

/** A newer server may know other words. */
const trusts: Readonly<Record<string, string>> = {
  untrusted: 'sees no secrets: it comes from a fork, or from a bot that is not trusted',
  branch: 'sees the variables of access all',
  tracked: 'sees the variables of access all and tracked, and once it applies those of apply',
  apply: 'sees the variables of access all, tracked and apply',
};

function trust({ trust: word }: RunObject): string | undefined {
  const meaning = word && trusts[word];
  return meaning ? `${word}, ${meaning}` : word;
}

function pullRequest({ pullRequest: of }: RunObject): string | undefined {
  return of && `#${of.number} ${of.title} (${of.author}, for ${of.base}${of.isFork ? ', of a fork' : ''})`;
}

function blocker({ blockedBy }: RunObject): string | undefined {
  if (!blockedBy) return undefined;
  if (blockedBy.kind === 'run') return `run ${blockedBy.run}, which is ${blockedBy.state}`;
  if (blockedBy.kind === 'repository') return blockedBy.reason;
  if (blockedBy.kind === 'approval') return `approval: ${blockedBy.reason}`;
  return `the lock of ${blockedBy.holder}: ${blockedBy.reason || 'no reason given'}`;
}

function changes({ delta }: RunObject): string {
  return delta ? `+${delta.added} ~${delta.changed} -${delta.deleted}` : '';
}

function nextStep({ id, state, type, stack, blockedBy }: RunObject): string | undefined {
  if (blockedBy?.kind === 'approval') return `slipway run approve ${id}, or slipway run reject ${id}`;
  switch (state) {
    case 'UNCONFIRMED':
      return type === 'DESTROY'
        ? `slipway run confirm ${id} --confirmation '${stack.name}', or slipway run discard ${id}`
        : `slipway run confirm ${id}, or slipway run discard ${id}`;
    case 'FAILED':
      return `slipway run explain ${id}`;
    default:
      return undefined;
  }
}
