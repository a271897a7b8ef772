/** One run from a push to the webhook of its end, and where its time went. */
import type { StackObject } from '../demo/api-objects.ts';
import type { Installation } from '../demo/installation.ts';
import { passphrase, type Sample } from './run-samples.ts';

type Repository = Awaited<ReturnType<Installation['addRepository']>>;

const runWithinMs = 600_000;

/** Milliseconds. The parts, together with the commands, are the whole. */
export interface RunTimes {
  readonly runId: string;
  readonly sha: string;
  readonly wholeMs: number;
  /** Of the tool's own commands. */
  readonly toolMs: number;
  /** Of hooks. */
  readonly hooksMs: number;
  readonly overhead: {
    /** Until a worker has claimed it: the push is stored, understood, becomes a run, and is started. */
    readonly claimMs: number;
    /** Commit and workspace. */
    readonly sourceMs: number;
    /** From there to the first command, and from command to command: sandboxes, reading the plan, reports. */
    readonly betweenMs: number;
    /** From the end of the last command to the webhook. */
    readonly endMs: number;
  };
}

/** An autodeployed stack of a sample, whose webhooks the receiver gets. */
export async function addStack(
  { api, receiver }: Installation,
  repository: string,
  sample: Sample,
  name = `bench ${sample.name}`,
): Promise<StackObject> {
  const stack = await api.createStack({
    name,
    repository,
    projectRoot: sample.program,
    autodeploy: true,
    vendor: sample.vendor,
    hooks: { beforeInit: sample.prepare },
  });
  if ('pulumi' in sample.vendor)
    await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase });
  await api.addWebhook(stack, { endpoint: `${receiver.url}/${stack.id}`, secret: receiver.secret });
  return stack;
}

export async function runOnce(
  { api, github, receiver }: Installation,
  stack: StackObject,
  repository: Repository,
  files: Record<string, string>,
): Promise<RunTimes> {
  const push = { branch: 'main', message: 'Round', files };
  const { sha, deliveryId } = await github.commitAndPush(repository, push);
  const pushedAtMs = github.deliveries.find(({ guid }) => guid === deliveryId)?.answers[0]?.atMs;
  if (pushedAtMs === undefined) throw new Error('the push was not answered');
  const { id } = await api.waitForRun(stack, sha);
  const { stateVersion } = await api.waitForState(id, 'FINISHED', runWithinMs);
  const received = await receiver.waitForVersions(id, stateVersion);
  const at = (wanted: string): number => {
    const found = received.find(({ state }) => state === wanted);
    if (!found) throw new Error(`no webhook said ${wanted}: the round changed nothing`);
    return found.receivedAtMs;
  };
  // Without an apply the two sides would not do the same.
  at('APPLYING');
  const commands = await api.commands(id);
  // The label of a hook is the hook itself.
  const isHook = ({ argv }: (typeof commands)[number]) => argv[0] === 'bash';
  const sum = (chosen: typeof commands) => chosen.reduce((total, { durationMs }) => total + durationMs, 0);
  const commandsMs = sum(commands);
  const hooksMs = sum(commands.filter(isHook));
  const lastEndMs = Math.max(...commands.map(({ startedAtMs, durationMs }) => startedAtMs + durationMs));
  return {
    runId: id,
    sha,
    wholeMs: at('FINISHED') - pushedAtMs,
    toolMs: commandsMs - hooksMs,
    hooksMs,
    overhead: {
      claimMs: at('PREPARING') - pushedAtMs,
      sourceMs: at('INITIALIZING') - at('PREPARING'),
      betweenMs: lastEndMs - at('INITIALIZING') - commandsMs,
      endMs: at('FINISHED') - lastEndMs,
    },
  };
}
