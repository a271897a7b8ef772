/** Runs of several stacks at once: what they get done together, against one at a time. */
import { cpus } from 'node:os';
import type { StackObject } from '../demo/api-objects.ts';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { type Benchmark, type Figure, inSeconds, median } from './figure.ts';
import { addStack, runOnce } from './run-round.ts';
import { filesOfRound, type Sample, samples } from './run-samples.ts';

const widths = [1, 2, 4] as const;
const repetitions = 3;
/** One that is all waiting for the tool, one that is all small commands. */
const measured = ['YAML', 'Terraform'];

export const parallel: Benchmark = {
  name: 'parallel',
  about: `runs of ${widths.join(', ')} stacks at once: runs per second, against one at a time`,
  async measure(say) {
    const most = Math.max(...widths);
    const settings = { LOG_LEVEL: 'warn', WORKERS: String(most) };
    await using installation = await startInstallation({ settings });
    const figures: Figure[] = [];
    for (const sample of samples.filter(({ name }) => measured.includes(name))) {
      figures.push(...(await compare(installation, sample, say)));
    }
    return figures;
  },
};

interface Lane {
  readonly stack: StackObject;
  readonly repository: Awaited<ReturnType<Installation['addRepository']>>;
}

async function compare(
  installation: Installation,
  sample: Sample,
  say: (line: string) => void,
): Promise<Figure[]> {
  const lanes: Lane[] = [];
  for (let index = 0; index < Math.max(...widths); index += 1) {
    const name = `parallel-${sample.program}-${index}`;
    const repository = await installation.addRepository(name, await filesOfRound(sample, 0));
    lanes.push({ repository, stack: await addStack(installation, repository.fullName, sample, name) });
  }
  let round = 0;
  /** Seconds that a run takes of the machine when `width` of them go on. */
  async function secondsEach(width: number): Promise<number> {
    round += 1;
    const files = await filesOfRound(sample, round);
    const startedAt = performance.now();
    const chosen = lanes.slice(0, width);
    await Promise.all(chosen.map(({ stack, repository }) => runOnce(installation, stack, repository, files)));
    return (performance.now() - startedAt) / 1000 / width;
  }

  // The first creates everything, in each of them.
  await secondsEach(lanes.length);
  const rounds: Map<number, number>[] = [];
  for (let index = 0; index < repetitions; index += 1) {
    const each = new Map<number, number>();
    for (const width of widths) each.set(width, await secondsEach(width));
    rounds.push(each);
    say(
      `${sample.name}: ${[...each].map(([width, seconds]) => `${width} at once ${inSeconds(seconds * 1000)} each`).join(', ')}`,
    );
  }
  const seconds = (width: number) => rounds.map((each) => each.get(width) ?? Number.NaN);
  return widths
    .filter((width) => width > 1)
    .map((width) => ({
      what: `${sample.name}: throughput of ${width} at once ÷ one at a time`,
      value: median(rounds.map((each) => (each.get(1) ?? Number.NaN) / (each.get(width) ?? Number.NaN))),
      unit: '',
      detail: `${inSeconds(median(seconds(1)) * 1000)} alone, ${inSeconds(median(seconds(width)) * 1000)} for each; ${cpus().length} cores`,
    }));
}
