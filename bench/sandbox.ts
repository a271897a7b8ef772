/**
 * What the sandbox costs for each command: a bare spawn of `true`, the same through SANDBOX=none, in the sandbox, and in
 * the sandbox with the network of its run; and, once for each half of a run, what that network costs. Interleaved, so that a busy moment of the machine hits all alike.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrap } from '../src/sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from '../src/sandbox/descriptors.ts';
import { defaultLimits } from '../src/sandbox/limits.ts';
import { createNoSandbox } from '../src/sandbox/none.ts';
import type { OpenNetwork, Sandbox } from '../src/sandbox/sandbox.ts';
import { type Benchmark, inMs, median, percentile } from './figure.ts';

interface Measurement {
  readonly name: string;
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Of the medians, against the bare spawn. */
  readonly ratio: number;
}

async function measureSandbox(rounds: number, say: (line: string) => void): Promise<Measurement[]> {
  closeInheritedDescriptors();
  const directory = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  try {
    const bubblewrap = createBubblewrap({ directory });
    say(`${rounds} rounds of \`true\`, ${bubblewrap.describe()}`);
    await using network = await openAll(bubblewrap);
    const ways: Record<string, () => Promise<void>> = {
      'bare spawn': bareSpawn,
      'SANDBOX=none': () => runTrue(createNoSandbox(), null),
      sandbox: () => runTrue(bubblewrap, null),
      'sandbox with network': () => runTrue(bubblewrap, network),
      'opening and closing a network': () => openAndClose(bubblewrap),
    };
    const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
    // The first round warms the caches and is thrown away.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, way] of Object.entries(ways)) {
        const startedMs = performance.now();
        await way();
        if (round > 0) times.get(name)?.push(performance.now() - startedMs);
      }
    }
    const base = median(times.get('bare spawn') ?? []);
    return [...times].map(([name, values]) => ({
      name,
      medianMs: median(values),
      p95Ms: percentile(values, 0.95),
      ratio: median(values) / base,
    }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function bareSpawn(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin:/bin' } });
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}

const identity = { key: 'bench' };
const openAll = (sandbox: Sandbox) => sandbox.openNetwork({ mode: 'public', allowedHosts: [] }, { identity });

async function openAndClose(sandbox: Sandbox): Promise<void> {
  await using _ = await openAll(sandbox);
}

async function runTrue(sandbox: Sandbox, network: OpenNetwork | null): Promise<void> {
  const result = await sandbox.run({
    identity,
    argv: ['true'],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/tmp',
    mounts: [],
    network,
    limits: defaultLimits,
    onOutput: () => {},
    signal: new AbortController().signal,
  });
  if (result.kind !== 'exited') throw new Error(JSON.stringify(result));
}

export const sandbox: Benchmark = {
  name: 'sandbox',
  about: 'what the sandbox adds to each command, with and without network',
  async measure(say) {
    const measured = await measureSandbox(100, say);
    return measured.map(({ name, medianMs, p95Ms, ratio }) => ({
      what: `${name} / bare spawn`,
      value: ratio,
      unit: '',
      detail: `median ${inMs(medianMs)}, p95 ${inMs(p95Ms)}`,
    }));
  },
};
