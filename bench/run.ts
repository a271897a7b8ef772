/** An autodeployed run, from the push to the webhook of its end, against the same work typed by hand. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StackObject } from '../demo/api-objects.ts';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { firstVersion } from '../demo/programs.ts';
import { openTerminal, typeFourCommands } from './by-hand.ts';
import { type Benchmark, type Figure, inSeconds, median } from './figure.ts';

interface Sample {
  readonly name: string;
  readonly projectRoot: string;
  readonly repetitions: number;
  /** What has to be done before Pulumi, on both sides. */
  readonly prepare: readonly string[];
  /** A version of the program that updates one resource. */
  readonly change: { readonly path: string; readonly from: string; to(index: number): string };
}

const samples: readonly Sample[] = [
  {
    name: 'YAML',
    projectRoot: 'yaml',
    repetitions: 5,
    prepare: [],
    change: { path: 'yaml/Pulumi.yaml', from: 'shop:1.0.0', to: (index) => `shop:1.0.${index}` },
  },
  {
    name: 'JavaScript',
    projectRoot: 'javascript',
    repetitions: 4,
    prepare: ['npm', 'ci'],
    change: { path: 'javascript/index.js', from: "label: 'green'", to: (index) => `label: 'green-${index}'` },
  },
];

const passphrase = 'passphrase of the benchmark';
const runWithinMs = 180_000;

export const run: Benchmark = {
  name: 'run',
  about: 'an autodeployed run, push to FINISHED webhook, against the four commands typed by hand',
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const figures: Figure[] = [];
    for (const sample of samples) figures.push(...(await compare(installation, sample, say)));
    return figures;
  },
};

interface Times {
  readonly runMs: number;
  /** Of its commands, the ones in `prepare` apart. */
  readonly runCommandsMs: number;
  readonly runPrepareMs: number;
  readonly handMs: number;
  readonly handPrepareMs: number;
}

async function compare(
  installation: Installation,
  sample: Sample,
  say: (line: string) => void,
): Promise<Figure[]> {
  const { name, projectRoot, repetitions, prepare, change } = sample;
  const files = await firstVersion();
  const repository = await installation.addRepository(`bench-${projectRoot}`, files);
  const stack = await addStack(installation, repository.fullName, sample);
  const dir = join(installation.dir, `by-hand-${projectRoot}`);
  await mkdir(dir);
  const terminal = await openTerminal({ dir, gitDir: repository.gitDir, projectRoot, passphrase });

  const measured: Times[] = [];
  for (let index = 0; index <= repetitions; index += 1) {
    const text = (files[change.path] ?? '').replace(change.from, change.to(index));
    // The first changes nothing in the text of YAML; a file beside it makes it a commit all the same.
    const changed = { [change.path]: text, [`${projectRoot}/round`]: `${index}\n` };
    const { sha, ...run } = await runOnce(installation, stack, repository, changed);
    await terminal.checkOut(sha);
    const handPrepareMs = prepare.length > 0 ? await terminal.type(prepare) : 0;
    const times = { ...run, handMs: await typeFourCommands(terminal), handPrepareMs };
    const [byRun = '', byHand = ''] = [times.runMs, times.handMs + times.handPrepareMs].map(inSeconds);
    say(`${name} ${index === 0 ? 'warm-up' : index}: run ${byRun}, by hand ${byHand}`);
    // The first creates everything, and tries the flag that no released CLI knows.
    if (index > 0) measured.push(times);
  }
  return figuresOf(sample, measured);
}

/** Medians of the rounds' ratios: both sides of a round met the same machine. */
function figuresOf({ name, prepare }: Sample, rounds: readonly Times[]): Figure[] {
  function ratio(
    what: string,
    above: (each: Times) => number,
    below: (each: Times) => number,
    more: string,
  ): Figure {
    const value = median(rounds.map((each) => above(each) / below(each)));
    const [over, under] = [median(rounds.map(above)), median(rounds.map(below))];
    const detail = `${inSeconds(over)} ÷ ${inSeconds(under)}, medians of ${rounds.length}${more}`;
    return { what: `${name}: ${what}`, value, unit: '', detail };
  }
  const runAlone = (each: Times) => each.runMs - each.runPrepareMs;
  const figures = [
    ratio('run ÷ four commands by hand', runAlone, ({ handMs }) => handMs, ''),
    ratio('run ÷ its own four commands', runAlone, ({ runCommandsMs }) => runCommandsMs, ''),
  ];
  if (prepare.length === 0) return figures;
  const whole = `the same with ${prepare.join(' ')} on both sides`;
  const byHand = (each: Times) => each.handMs + each.handPrepareMs;
  return [
    ...figures,
    ratio(whole, ({ runMs }) => runMs, byHand, '; npm by hand has a warm cache, a run never has'),
  ];
}

async function addStack(
  { api, receiver }: Installation,
  repository: string,
  { projectRoot, prepare }: Sample,
): Promise<StackObject> {
  const stack = await api.createStack({
    name: `bench ${projectRoot}`,
    repository,
    projectRoot,
    autodeploy: true,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    hooks: { beforeInit: prepare.length > 0 ? [prepare.join(' ')] : [] },
  });
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase });
  await api.addWebhook(stack, { endpoint: `${receiver.url}/${projectRoot}`, secret: receiver.secret });
  return stack;
}

async function runOnce(
  { api, github, receiver }: Installation,
  stack: StackObject,
  repository: Awaited<ReturnType<Installation['addRepository']>>,
  files: Record<string, string>,
) {
  const { sha, deliveryId } = await github.commitAndPush(repository, {
    branch: 'main',
    message: 'Round',
    files,
  });
  const pushedAtMs = github.deliveries.find(({ guid }) => guid === deliveryId)?.answers[0]?.atMs ?? 0;
  const { id } = await api.waitForRun(stack, sha);
  const { stateVersion } = await api.waitForState(id, 'FINISHED', runWithinMs);
  const received = await receiver.waitForVersions(id, stateVersion);
  const endedAtMs = received.find(({ state }) => state === 'FINISHED')?.receivedAtMs ?? 0;
  const commands = await api.commands(id);
  const sum = (isWanted: (program: string | undefined) => boolean) =>
    commands.filter(({ argv }) => isWanted(argv[0])).reduce((total, { durationMs }) => total + durationMs, 0);
  return {
    sha,
    runMs: endedAtMs - pushedAtMs,
    runCommandsMs: sum((program) => program === 'pulumi'),
    runPrepareMs: sum((program) => program !== 'pulumi'),
  };
}
