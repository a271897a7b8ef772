/** One look, at folders that are made as the kernel makes those of processes. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOfSandbox, lookAt } from '../../../src/sandbox/watching/process-use.ts';
import { createHarness, processesWith, runIn, script, sleepMarker, temporaryDirectory } from '../harness.ts';

interface Shape {
  readonly name?: string;
  readonly session?: number;
  readonly threads?: number;
  readonly ticks?: readonly [number, number, number, number];
  /** In kB: anonymous pages, shared ones, swapped ones, tables. */
  readonly status?: readonly [number, number, number, number];
  /** In kB: anonymous, shared, swapped; null: it cannot be told. */
  readonly share?: readonly [number, number, number] | null;
}

let proc: string;
let lastPid = 1;
beforeEach(() => {
  proc = temporaryDirectory();
  mkdirSync(join(proc, 'sys'));
});
afterEach(() => rmSync(proc, { recursive: true }));

function add({ name = 'node', session = 7, threads = 1, ticks = [0, 0, 0, 0], ...memory }: Shape): void {
  const [anonymous, shared, swapped, tables] = memory.status ?? [0, 0, 0, 0];
  lastPid += 1;
  const path = join(proc, String(lastPid));
  mkdirSync(path);
  const before = `S 1 ${lastPid} ${session} 0 -1 4194304 100 0 0 0`;
  writeFileSync(
    join(path, 'stat'),
    `${lastPid} (${name}) ${before} ${ticks.join(' ')} 20 0 ${threads} 0 12345\n`,
  );
  writeFileSync(
    join(path, 'status'),
    `Name:\t${name}\nVmRSS:\t  999999 kB\nRssAnon:\t ${anonymous} kB\nRssFile:\t 888888 kB\nRssShmem:\t ${shared} kB\nVmPTE:\t ${tables} kB\nVmSwap:\t ${swapped} kB\nThreads:\t${threads}\n`,
  );
  if (!memory.share) return;
  const [ownAnonymous, ownShared, ownSwapped] = memory.share;
  writeFileSync(
    join(path, 'smaps_rollup'),
    `Rss: 1 kB\nPss:  777777 kB\nPss_Anon: ${ownAnonymous} kB\nPss_File: 66666 kB\nPss_Shmem: ${ownShared} kB\nSwap: 5555 kB\nSwapPss: ${ownSwapped} kB\n`,
  );
}

const limits = { memoryBytes: 10 * 1024 * 1024, processes: 100 };
const look = (change: Partial<typeof limits> = {}, session: number | null = null) =>
  lookAt({ directory: proc, session, temporaries: [] }, { ...limits, ...change });

describe('a look at processes', () => {
  it('adds up what they hold, their threads and their time', async () => {
    add({ threads: 3, ticks: [1, 2, 3, 4], status: [1, 10, 100, 1000] });
    add({ threads: 0, ticks: [5, 0, 0, 0], status: [2000, 0, 0, 0] });

    expect(await look()).toEqual({
      ...{ memoryBytes: 3111 * 1024, processes: 4, cpuMs: 150, temporaryEntries: 0 },
    });
  });

  it('reads names that are made to be misread', async () => {
    add({ name: 'a) S 1 1 1 0 -1 0 0 0 0 0 9 9 9 9 20 0 99', threads: 2, ticks: [1, 0, 0, 0] });
    add({ name: ') (', threads: 2 });

    expect(await look()).toMatchObject({ processes: 4, cpuMs: 10 });
  });

  it('counts those of one session where that is asked for', async () => {
    add({ session: 7, threads: 2, status: [100, 0, 0, 0] });
    add({ session: 8, threads: 5, status: [5000, 0, 0, 0] });

    expect(await look({}, 7)).toMatchObject({ processes: 2, memoryBytes: 100 * 1024 });
  });

  it('counts what is shared once before it says that it is too much, but the tables of each', async () => {
    for (let i = 0; i < 4; i += 1) add({ status: [2000, 900, 100, 50], share: [500, 225, 25] });
    const rough = 4 * 3050 * 1024;

    expect(await look()).toMatchObject({ memoryBytes: 4 * 800 * 1024 });
    expect(await look({ memoryBytes: rough })).toMatchObject({ memoryBytes: rough });
  });

  it('believes the process where the kernel does not tell its share', async () => {
    add({ status: [20_000, 0, 0, 50], share: null });

    expect(await look()).toMatchObject({ memoryBytes: 20_050 * 1024 });
  });

  it('reads no further once there are more than there may be', async () => {
    for (let i = 0; i < 30; i += 1) add({ threads: 2 });

    expect(await look({ processes: 9 })).toMatchObject({ processes: 10 });
  });

  it('sees nothing where there is nothing to be seen', async () => {
    expect(await lookAt({ directory: join(proc, 'gone'), session: null, temporaries: [] }, limits)).toBe(
      null,
    );
  });
});

describe('the /proc of a sandbox', () => {
  it('is told from that of the machine, which a bwrap that is starting still has', async () => {
    using harness = await createHarness();
    const marker = sleepMarker();
    const stop = new AbortController();
    const seen: boolean[] = [];
    await runIn(harness.sandbox, script(`sleep ${marker} & echo ready; wait`), {
      signal: stop.signal,
      onOutput() {
        const inside = processesWith(marker).at(-1);
        seen.push(isOfSandbox(`/proc/${inside}/root/proc`));
        stop.abort();
      },
    });

    expect(seen).toEqual([true]);
    expect(isOfSandbox(`/proc/${process.pid}/root/proc`)).toBe(false);
  });
});
