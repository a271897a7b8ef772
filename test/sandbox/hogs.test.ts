/** Commands that take all they can get, in ways that limits of a single process do not see. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Limits } from '../../src/sandbox/sandbox.ts';
import { holding, longestPause, usageOf } from './contract.ts';
import {
  createHarness,
  type Harness,
  processesWith,
  runIn,
  script,
  sleepMarker,
  testLimits,
} from './harness.ts';

const mebibyte = 1024 * 1024;
/** Of nobody else: with a server that is root, what one identity runs counts as one user's. */
const own = { key: `hogs-${process.pid}` };
let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness[Symbol.dispose]());

async function run(text: string, limits: Partial<Limits> = {}, network = false) {
  const { result } = await runIn(harness.sandbox, script(text), {
    identity: own,
    limits: { ...testLimits, memoryBytes: 100 * mebibyte, graceMs: 20_000, ...limits },
    ...(network && { network: { mode: 'allowlist', allowedHosts: [] } }),
  });
  return result;
}

describe('the memory of a command', () => {
  it('is that of processes below the limit of each, too', async () => {
    const many = Array.from({ length: 6 }, () => `${holding(30)} &`).join(' ');
    const result = await run(`${many} wait`, { dataBytes: 64 * mebibyte });

    expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
  });

  it('is that of processes that have left their session and their parents', async () => {
    const marker = sleepMarker();
    const daemon = `setsid -f setsid -f bash -c '${holding(200)}; : ${marker}'`;
    const result = await run(`${daemon} >/dev/null 2>&1; sleep 20`);

    expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
    expect(processesWith(marker)).toEqual([]);
  });

  it.for(['/tmp', '/home/runner'])('is what it writes to %s', async (place) => {
    const result = await run(`head -c 50M /dev/zero > ${place}/held; sleep 20`, {
      memoryBytes: 40 * mebibyte,
    });

    expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
    expect(usageOf(result).peakMemoryBytes).toBeGreaterThan(50 * mebibyte);
  });

  it('is what it writes to /dev/shm', async () => {
    const result = await run('head -c 14M /dev/zero > /dev/shm/held; sleep 20', {
      memoryBytes: 12 * mebibyte,
    });

    expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
  });

  it.runIf(existsSync('/usr/bin/python3'))('is what its processes share, once', async () => {
    const shared =
      'import mmap, os, time; m = mmap.mmap(-1, 60 << 20); [m.write(bytes(1 << 20)) for _ in range(60)]';
    const share = `${shared}; [os.fork() for _ in range(2)]`;
    const seenFor = (seconds: number) =>
      `python3 -c '${share}; sum(m[::4096]); time.sleep(${seconds})'; exit 5`;
    const [within, over] = await Promise.all([
      run(seenFor(2)),
      run(seenFor(20), { memoryBytes: 55 * mebibyte }),
    ]);

    expect(within).toMatchObject({ kind: 'exited', exitCode: 5 });
    expect(over).toMatchObject({ kind: 'memory_limit' });
  });

  it('is looked at in a command with a network, too', async () => {
    const result = await run(holding(200), {}, true);

    expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
  });
});

describe('the files of a command', () => {
  it.for(['/tmp', '/dev/shm'])('are few in %s, which is memory, however empty', async (place) => {
    const result = await run(`cd ${place}; seq 200000 | xargs touch; sleep 20`, { temporaryEntries: 20_000 });

    expect(result).toMatchObject({ kind: 'disk_limit', reason: 'temporary', exitCode: null });
  });

  it('are not too large: who is ended for it is named', async () => {
    const result = await run('exec head -c 2M /dev/zero > /tmp/large', { fileBytes: mebibyte });

    expect(result).toMatchObject({ kind: 'disk_limit', reason: 'file', exitCode: 153 });
  });
});

describe('the processes of a command', () => {
  const bomb = (exit: number) =>
    `exec perl -e 'for (1..200) { my $p = fork; last if !defined $p; if (!$p) { sleep 20; exit } } sleep ${longestPause}; exit ${exit}'`;

  it.for([false, true])(
    'are named when it fails with as many as it may have, with network %s',
    async (network) => {
      const result = await run(bomb(3), { processes: 60 }, network);

      expect(result).toMatchObject({ kind: 'process_limit', exitCode: 3 });
      expect(usageOf(result).peakProcesses).toBeGreaterThan(44);
      expect(usageOf(result).peakProcesses).toBeLessThanOrEqual(60);
    },
  );

  it("are nobody's business when it ends well", async () => {
    const result = await run(bomb(0), { processes: 60 });

    expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
  });
});
