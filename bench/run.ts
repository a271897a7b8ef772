/** An autodeployed run, from the push to the webhook of its end, against the same work typed by hand. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { openTerminal } from './by-hand.ts';
import { type Benchmark, type Figure, inMs, inSeconds, median } from './figure.ts';
import { addStack, type RunTimes, runOnce } from './run-round.ts';
import { filesOfRound, type Sample, samples } from './run-samples.ts';

const repetitions = 4;

export const run: Benchmark = {
  name: 'run',
  about:
    'an autodeployed run, push to FINISHED webhook, against the same commands typed by hand, per language and tool',
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const figures: Figure[] = [];
    const problems: string[] = [];
    for (const sample of samples) {
      try {
        figures.push(...figuresOf(sample, await compare(installation, sample, say)));
      } catch (error) {
        // The others can be measured on a machine that lacks what this one needs.
        problems.push(`${sample.name}: ${error instanceof Error ? error.message : String(error)}`);
        say(`not measured: ${problems.at(-1)}`);
      }
    }
    if (figures.length === 0) throw new Error(problems.join('\n'));
    return figures;
  },
};

interface Round {
  readonly run: RunTimes;
  readonly handMs: number;
  readonly handPrepareMs: number;
}

async function compare(
  installation: Installation,
  sample: Sample,
  say: (line: string) => void,
): Promise<readonly Round[]> {
  const slug = sample.name.toLowerCase();
  const repository = await installation.addRepository(`bench-${slug}`, await filesOfRound(sample, 0));
  const stack = await addStack(installation, repository.fullName, sample);
  const dir = join(installation.dir, `by-hand-${slug}`);
  await mkdir(dir);
  const terminal = await openTerminal(sample, { dir, gitDir: repository.gitDir });

  const rounds: Round[] = [];
  for (let index = 0; index <= repetitions; index += 1) {
    const files = await filesOfRound(sample, index + 1);
    const run = await runOnce(installation, stack, repository, files);
    await terminal.checkOut(run.sha);
    const handPrepareMs = await terminal.prepare();
    const handMs = await terminal.typeCommands();
    const [whole, hand] = [run.wholeMs, handMs + handPrepareMs].map(inSeconds);
    say(`${sample.name} ${index === 0 ? 'warm-up' : index}: run ${whole}, by hand ${hand}`);
    // The first creates everything, fills the caches, and tries the flag that no released Pulumi knows.
    if (index > 0) rounds.push({ run, handMs, handPrepareMs });
  }
  return rounds;
}

/** Medians of the rounds' ratios: both sides of a round met the same machine. */
function figuresOf({ name, prepare, target }: Sample, rounds: readonly Round[]): Figure[] {
  function ratio(
    what: string,
    above: (each: Round) => number,
    below: (each: Round) => number,
    more = '',
  ): Figure {
    const value = median(rounds.map((each) => above(each) / below(each)));
    const [over, under] = [median(rounds.map(above)), median(rounds.map(below))];
    const detail = `${inSeconds(over)} ÷ ${inSeconds(under)}, medians of ${rounds.length}${more}`;
    return { what: `${name}: ${what}`, value, unit: '', detail };
  }
  const runAlone = ({ run }: Round) => run.wholeMs - run.hooksMs;
  const wanted = target === null ? '' : `; wanted: ≤ ${target.toFixed(2)}`;
  const figures = [
    ratio('run ÷ typed by hand', runAlone, ({ handMs }) => handMs, wanted),
    ratio('run ÷ its own commands', runAlone, ({ run }) => run.toolMs),
    overheadOf(name, rounds),
  ];
  if (prepare.length === 0) return figures;
  const byHand = (each: Round) => each.handMs + each.handPrepareMs;
  const whole = ratio(
    'the same with its dependencies',
    ({ run }) => run.wholeMs,
    byHand,
    '; caches are warm',
  );
  return [...figures, whole];
}

/** What a run takes besides its commands, in parts. */
function overheadOf(name: string, rounds: readonly Round[]): Figure {
  const part = (key: keyof RunTimes['overhead']) => median(rounds.map(({ run }) => run.overhead[key]));
  const parts = [
    `push to worker ${inMs(part('claimMs'))}`,
    `commit and workspace ${inMs(part('sourceMs'))}`,
    `around the commands ${inMs(part('betweenMs'))}`,
    `to the webhook ${inMs(part('endMs'))}`,
  ];
  const value = median(rounds.map(({ run }) => run.wholeMs - run.toolMs - run.hooksMs));
  return { what: `${name}: run less its commands`, value, unit: 'ms', detail: parts.join(', ') };
}
