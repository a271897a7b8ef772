/**
 * A server in the middle of everything at once: a stack, and in it a run, for each point at which a life can end. Every
 * run stands still where it is, held by a real command that sleeps, a pipe nobody writes to, or a GitHub that does not
 * answer, so that the one kill that follows meets each of them exactly there.
 */
import { waitFor } from '../../demo/wait.ts';
import { program, type Scenario, type ScenarioStack, startScenario, stash } from '../support/scenario.ts';
import { familyOf, slowOnce, stateFile, timesIn } from './evidence.ts';
import { type Gate, startGate } from './gate.ts';

export interface Point extends ScenarioStack {
  /** Of the run that the kill meets. */
  readonly runId: string;
}

export interface KillPoints extends AsyncDisposable {
  readonly scenario: Scenario;
  /** What they hold, they hold until they are released. */
  readonly gates: readonly Gate[];
  readonly points: Readonly<Record<PointName, Point>>;
  /** Nothing was pushed to it before `pushLast`, which gives the commit. */
  readonly stored: ScenarioStack;
  pushLast(): Promise<string>;
}

type PointName =
  | ('queued' | 'ready' | 'preparing' | 'initializing' | 'planning' | 'previewing' | 'unconfirmed')
  | ('confirmed' | 'untold')
  | ('applying' | 'creating' | 'applied' | 'finished' | 'performing' | 'destroying');

/** As many as there are runs that hold one at the kill: who comes after them waits for a worker. */
const workers = 10;
const patient = { timeoutMs: 120_000 };

export const simple = program(stash('one', '1'));
/** The second resource is made after the first, and of what a file says. */
const twoSteps = program(
  stash('one', 'first'),
  `  two:\n    type: pulumi:Stash\n    properties:\n      input:\n        fn::join: ["-", ["\${one.output}", {fn::readFile: ./value}]]\n`,
);

export async function startKillPoints(): Promise<KillPoints> {
  await using parts = new AsyncDisposableStack();
  const gate = parts.use(await startGate());
  const receiverGate = parts.use(await startGate());
  const scenario = parts.use(
    await startScenario({ settings: { GHE_HOST: gate.host, WORKERS: String(workers) } }),
  );
  gate.openTo(scenario.github.url);
  receiverGate.openTo(scenario.receiver.url);

  // One after the other: those who hold a worker hold it for ever.
  const waiting = await holdBeforeWorkers(scenario, receiverGate);
  const working = await holdWorkers(scenario, gate);
  const { confirmed } = waiting;
  await scenario.api.act(confirmed.runId, 'confirm');
  const ready = await startOne(scenario, 'ready', { autodeploy: true });
  await scenario.api.waitForState(ready.runId, 'READY');
  const stored = await scenario.addStack('stored', { autodeploy: true });
  // Last, or the webhook would be given up and tried again before the kill.
  receiverGate.hold('/untold');
  await scenario.api.act(waiting.untold.runId, 'confirm');
  await waitFor('a webhook to be under way', () => receiverGate.held('/untold') > 0, patient);

  const ended = parts.move();
  return {
    scenario,
    gates: [gate, receiverGate],
    points: { ...waiting, ...working, ready },
    stored,
    pushLast: () => pushLast(scenario, gate, stored),
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

type Hooks = Record<string, readonly string[]>;

async function startOne(
  scenario: Scenario,
  name: string,
  settings: { readonly autodeploy?: boolean; readonly hooks?: Hooks },
  yaml = simple,
  options: { readonly webhooksTo?: string } = {},
): Promise<Point> {
  const added = await scenario.addStack(name, settings, options);
  return { ...added, runId: (await added.push(yaml)).id };
}

/** Runs that no worker has, because a person or another run has to act first. */
async function holdBeforeWorkers(scenario: Scenario, receiverGate: Gate) {
  const { api } = scenario;
  const hooks = {
    beforePlan: ['echo "kept from planning" > kept; export KEPT="and exported"'],
    beforeApply: ['echo ran >> /state/applied; cat kept; echo "$KEPT"'],
  };
  const webhooksTo = `http://${receiverGate.host}`;
  const [unconfirmed, confirmed, untold] = await Promise.all([
    startOne(scenario, 'unconfirmed', { hooks }),
    startOne(scenario, 'confirmed', { hooks }),
    startOne(scenario, 'untold', { hooks }, simple, { webhooksTo }),
  ]);
  for (const { runId } of [unconfirmed, confirmed, untold]) {
    await api.waitForState(runId, 'UNCONFIRMED', patient.timeoutMs);
  }
  const behind = await unconfirmed.push(program(stash('one', '2')));
  return { unconfirmed, confirmed, untold, queued: { ...unconfirmed, runId: behind.id } };
}

/** The first time that a hook notes in the state that it ran, a pipe; from then on a file. */
const pipeOnce = (file: string): string =>
  `rm -f value; if [ "$(wc -l < /state/${file})" -gt 1 ]; then echo second > value; else mkfifo value; fi`;

async function holdWorkers(scenario: Scenario, gate: Gate) {
  const { api } = scenario;

  async function untilRan(point: Point, file: string): Promise<Point> {
    const ran = async () => (await timesIn(scenario, point.repository, file)) === 1;
    await waitFor(`${file} of ${point.stack.id}`, ran, patient);
    return point;
  }
  async function holdHook(name: string, hook: string): Promise<Point> {
    const hooks = {
      [hook]: [slowOnce(hook)],
      ...(hook === 'afterRun' ? {} : { afterRun: ['echo ran >> /state/ended'] }),
    };
    return untilRan(await startOne(scenario, name, { autodeploy: true, hooks }), hook);
  }
  async function holdFetch(): Promise<Point> {
    gate.hold('/acme/preparing.git/');
    const made = await startOne(scenario, 'preparing', { autodeploy: true });
    await waitFor('the fetch to hang', () => gate.held('/acme/preparing.git/') > 0, patient);
    return made;
  }
  /** Pulumi reads a pipe that nobody writes to, in the middle of its preview. */
  async function holdPreview(): Promise<Point> {
    const beforePlan = `echo ran >> /state/beforePlan; ${pipeOnce('beforePlan')}`;
    const hooks = { beforePlan: [beforePlan] };
    const made = await startOne(scenario, 'previewing', { autodeploy: true, hooks }, twoSteps);
    const isPreviewing = () => {
      const family = familyOf(scenario.server.pid);
      const root = family.find(({ command }) => /^\S*pulumi preview/.test(command));
      return family.some(({ command, parent }) => command.includes('language-yaml') && parent === root?.pid);
    };
    await waitFor('a program that is previewed', isPreviewing, patient);
    return made;
  }
  async function holdCreation(): Promise<Point> {
    const beforeApply = `echo ran >> /state/beforeApply; ${pipeOnce('beforeApply')}`;
    const hooks = { beforePlan: ['echo second > value'], beforeApply: [beforeApply] };
    const made = await startOne(scenario, 'creating', { autodeploy: true, hooks }, twoSteps);
    await api.waitForState(made.runId, 'APPLYING', patient.timeoutMs);
    const isHalfMade = async () => (await stateFile(scenario, made.repository, stackFile)).includes('::one"');
    await waitFor('the first of two resources to be in the state', isHalfMade, patient);
    return made;
  }
  async function holdTask(): Promise<Point> {
    const made = await startOne(scenario, 'performing', { autodeploy: true });
    await api.waitForState(made.runId, 'FINISHED', patient.timeoutMs);
    const { id } = await api.startRun(made.stack, { type: 'TASK', command: slowOnce('perform') });
    return untilRan({ ...made, runId: id }, 'perform');
  }
  async function holdDestroy(): Promise<Point> {
    const hooks = { beforeDestroy: [slowOnce('beforeDestroy')] };
    const made = await startOne(scenario, 'destroying', { autodeploy: true, hooks });
    await api.waitForState(made.runId, 'FINISHED', patient.timeoutMs);
    const { id } = await api.startRun(made.stack, { type: 'DESTROY' });
    await api.waitForState(id, 'UNCONFIRMED', patient.timeoutMs);
    await api.act(id, 'confirm', { confirmation: 'destroying' });
    return untilRan({ ...made, runId: id }, 'beforeDestroy');
  }

  const held = await Promise.all([
    holdTask(),
    holdDestroy(),
    holdCreation(),
    holdPreview(),
    holdHook('initializing', 'beforeInit'),
    holdHook('planning', 'beforePlan'),
    holdHook('applying', 'beforeApply'),
    holdHook('applied', 'afterApply'),
    holdHook('finished', 'afterRun'),
  ]);
  const [performing, destroying, creating, previewing, ...hooked] = held;
  // Last, because the server does not wait for ever for a fetch.
  const preparing = await holdFetch();
  const [initializing, planning, applying, applied, finished] = hooked;
  return {
    ...{ performing, destroying, creating, previewing, preparing, initializing },
    ...{ planning, applying, applied, finished },
  };
}

/** Where pulumi keeps what it made. */
export const stackFile = '.pulumi/stacks/scenario/dev.json';

/** Answered with 202 the moment before the kill; whatever the server would ask GitHub about it hangs. */
async function pushLast({ github }: Scenario, gate: Gate, { repository }: ScenarioStack): Promise<string> {
  gate.hold('/api/v3/');
  const commit = { branch: 'main', message: 'The last', files: { 'Pulumi.yaml': simple }, pusher: 'ada' };
  const { sha, status } = await github.commitAndPush(repository, commit);
  if (status !== 202) throw new Error(`the push was answered with ${status}`);
  return sha;
}
