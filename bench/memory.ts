/** The most memory that a run takes: of the server, and of all processes below it, which are those of its sandboxes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { type Benchmark, type Figure, median } from './figure.ts';
import { descendantsOf, processes } from './process-memory.ts';
import { addStack, runOnce } from './run-round.ts';
import { filesOfRound, type Sample, samples } from './run-samples.ts';

const repetitions = 3;
const everyMs = 25;
const mib = 1024 * 1024;

export const memory: Benchmark = {
  name: 'memory',
  about: `the most memory of the server and of a run's processes, sampled every ${everyMs} ms, per language and tool`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const figures: Figure[] = [];
    for (const sample of samples) {
      try {
        figures.push(...(await measureSample(installation, sample, say)));
      } catch (error) {
        say(`not measured: ${sample.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (figures.length === 0) throw new Error('no sample could be run');
    return figures;
  },
};

interface Peak {
  server: number;
  sandboxes: number;
  processes: number;
}

async function measureSample(
  installation: Installation,
  sample: Sample,
  say: (line: string) => void,
): Promise<Figure[]> {
  const name = `memory-${sample.name.toLowerCase()}`;
  const repository = await installation.addRepository(name, await filesOfRound(sample, 0));
  const stack = await addStack(installation, repository.fullName, sample, name);
  const peaks: Peak[] = [];
  for (let index = 0; index < repetitions; index += 1) {
    const files = await filesOfRound(sample, index + 1);
    const peak = await peakDuring(installation.server.pid, () =>
      runOnce(installation, stack, repository, files),
    );
    say(`${sample.name}: server ${inMib(peak.server)}, sandboxes ${inMib(peak.sandboxes)}`);
    peaks.push(peak);
  }
  const of = (key: keyof Peak) => median(peaks.map((peak) => peak[key]));
  const detail = `resident, the most of ${repetitions} runs (median); a page that processes share counts in each`;
  return [
    {
      what: `${sample.name}: processes of a run`,
      value: of('sandboxes') / mib,
      unit: 'MB',
      detail: `${of('processes')} at once; ${detail}`,
    },
    { what: `${sample.name}: server meanwhile`, value: of('server') / mib, unit: 'MB', detail },
  ];
}

async function peakDuring(serverPid: number, work: () => Promise<unknown>): Promise<Peak> {
  const peak: Peak = { server: 0, sandboxes: 0, processes: 0 };
  const stop = new AbortController();
  async function sample(): Promise<void> {
    while (!stop.signal.aborted) {
      const all = await processes();
      const below = descendantsOf(serverPid, all);
      peak.server = Math.max(peak.server, all.find(({ pid }) => pid === serverPid)?.rss ?? 0);
      peak.sandboxes = Math.max(
        peak.sandboxes,
        below.reduce((sum, { rss }) => sum + rss, 0),
      );
      peak.processes = Math.max(peak.processes, below.length);
      await sleep(everyMs);
    }
  }
  const sampling = sample();
  try {
    await work();
  } finally {
    stop.abort();
    await sampling;
  }
  return peak;
}

const inMib = (bytes: number) => `${(bytes / mib).toFixed(0)} MB`;
