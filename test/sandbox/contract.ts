/** What every driver of the port does, run on each (drivers.test.ts). */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notMeasured } from '../../src/sandbox/accounting.ts';
import type { Limits, Mount, Sandbox, SandboxResult, Usage } from '../../src/sandbox/sandbox.ts';
import {
  forcedStopMs,
  identity,
  processesWith,
  runIn,
  script,
  sleepMarker,
  testLimits,
  until,
} from './harness.ts';

export interface Driver extends Disposable {
  readonly sandbox: Sandbox;
  /** A directory the command may write, and how it is mounted. */
  readonly workspace: string;
  readonly mount: Mount;
}

const mebibyte = 1024 * 1024;
/** See process-watch.ts. */
const firstLookMs = 250;

/** A program that waits for the end of a line as long as that, and so keeps it. */
export const holding = (megabytes: number): string =>
  `(head -c ${megabytes}M /dev/zero; sleep 20) | tail -n 1 >/dev/null`;

/** Goes on once the last program that was put into the background holds as much. */
const untilHeld = (megabytes: number): string =>
  `until [ "$(grep '^RssAnon:' "/proc/$!/status" | tr -dc 0-9)" -gt ${megabytes * 1024} ]; do sleep 0.05; done`;

/** Seconds in which processes are looked at on any machine: looks are two seconds apart at most. */
export const longestPause = 3;

export function usageOf(result: SandboxResult): Usage {
  if (result.kind === 'unavailable') throw new Error(result.message);
  return result.usage;
}

export function describeDriver(name: string, create: () => Promise<Driver>): void {
  describe(name, () => {
    let driver: Driver;
    beforeAll(async () => {
      driver = await create();
    });
    afterAll(() => driver[Symbol.dispose]());

    const run: typeof runIn = (sandbox, argv, change = {}) =>
      runIn(sandbox, argv, { mounts: [driver.mount], workingDirectory: driver.mount.target, ...change });

    it('reports exit codes as they are', async () => {
      for (const code of [0, 1, 3, 127, 255]) {
        const { result } = await run(driver.sandbox, script(`exit ${code}`));

        expect(result).toMatchObject({ kind: 'exited', exitCode: code });
      }
    });

    it('reports a command that a signal ended as 128 + signal', async () => {
      const { result } = await run(driver.sandbox, script('kill -SEGV $$'));

      expect(result).toMatchObject({ kind: 'exited', exitCode: 139 });
    });

    it('keeps stdout and stderr apart and gives no input', async () => {
      const { stdout, stderr } = await run(driver.sandbox, script('cat; echo out; echo err >&2'));

      expect(stdout).toBe('out\n');
      expect(stderr).toBe('err\n');
    });

    it('gives the environment as it is, with PWD', async () => {
      const environment = {
        PATH: '/usr/bin:/bin',
        EMPTY: '',
        'with-dash': 'a=b\nc',
        LONG: 'x'.repeat(100_000),
      };
      const { stdout } = await run(driver.sandbox, ['env', '-0'], { environment });

      const seen = Object.fromEntries(
        stdout
          .split('\0')
          .filter((line) => line !== '')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      expect(seen).toEqual({ ...environment, PWD: driver.mount.target });
    });

    it('starts in the working directory, which it may write', async () => {
      const { result } = await run(driver.sandbox, script('echo here > written'));

      expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
      expect(readFileSync(join(driver.workspace, 'written'), 'utf8')).toBe('here\n');
    });

    it('says that a program is missing instead of inventing an exit code', async () => {
      const { result } = await run(driver.sandbox, ['no-such-program']);

      expect(result).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('no-such-program'),
      });
    });

    it('says that a working directory is missing', async () => {
      const { result } = await run(driver.sandbox, ['true'], { workingDirectory: '/no/such/place' });

      expect(result.kind).toBe('unavailable');
    });

    it('says that an argument is longer than the kernel takes', async () => {
      const { result } = await run(driver.sandbox, script(`true ${'x'.repeat(200_000)}`));

      expect(result).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('E2BIG') });
    });

    it('does not start when it was stopped before', async () => {
      const { result } = await run(driver.sandbox, script('echo > started'), { signal: AbortSignal.abort() });

      expect(result).toMatchObject({ kind: 'stopped', exitCode: null });
      expect(() => readFileSync(join(driver.workspace, 'started'))).toThrow();
    });

    it('asks a tool to stop by SIGINT and passes on what it answers', async () => {
      const tool = join(driver.workspace, 'tool.sh');
      writeFileSync(
        tool,
        'trap "echo saved > saved; exit 42" INT\necho ready\nwhile :; do sleep 0.02; done\n',
      );
      const stop = new AbortController();
      const { result } = await run(driver.sandbox, ['bash', join(driver.mount.target, 'tool.sh')], {
        signal: stop.signal,
        limits: { ...testLimits, graceMs: 20_000 },
        onOutput: () => stop.abort(),
      });

      expect(result).toMatchObject({ kind: 'stopped', exitCode: 42 });
      expect(readFileSync(join(driver.workspace, 'saved'), 'utf8')).toBe('saved\n');
    });

    it('asks again after the grace, and kills what still does not listen', async () => {
      const tool = join(driver.workspace, 'deaf.sh');
      writeFileSync(
        tool,
        'trap "echo asked >> asked" INT\ntrap "" TERM HUP\necho ready\nwhile :; do sleep 0.02; done\n',
      );
      const stop = new AbortController();
      const { result } = await run(driver.sandbox, ['bash', join(driver.mount.target, 'deaf.sh')], {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });

      expect(result).toMatchObject({ kind: 'stopped', exitCode: null });
      expect(readFileSync(join(driver.workspace, 'asked'), 'utf8')).toBe('asked\nasked\n');
      expect(result.durationMs).toBeGreaterThanOrEqual(testLimits.graceMs + forcedStopMs);
    });

    it('interrupts what a shell runs, too, because shells tell nobody', async () => {
      const stop = new AbortController();
      const marker = sleepMarker();
      const running = run(driver.sandbox, script(`(sleep ${marker}; true) & sleep ${marker}; true`), {
        signal: stop.signal,
        limits: { ...testLimits, graceMs: 20_000 },
      });
      await until('the sleeping', () => processesWith(marker).length >= 3);
      stop.abort();
      const { result } = await running;

      expect(result.kind).toBe('stopped');
      expect(result.durationMs).toBeLessThan(15_000);
      expect(processesWith(marker)).toEqual([]);
    });

    it('stops a command that takes too long, by the same ladder', async () => {
      const { result } = await run(
        driver.sandbox,
        script('trap "exit 5" INT; while :; do sleep 0.02; done'),
        {
          limits: { ...testLimits, wallMs: 300, graceMs: 20_000 },
        },
      );

      expect(result).toMatchObject({ kind: 'timeout', exitCode: 5 });
    });

    it('stops a command that says nothing for too long, and no other', async () => {
      const limits = { ...testLimits, silenceMs: 400 };
      const talking = script('for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done');
      const [silent, busy] = await Promise.all([
        run(driver.sandbox, ['sleep', '20'], { limits }),
        run(driver.sandbox, talking, { limits }),
      ]);

      expect(silent.result).toMatchObject({ kind: 'silence' });
      expect(busy.result).toMatchObject({ kind: 'exited', exitCode: 0 });
    });

    it('kills a command that writes without end, and keeps exactly the cap', async () => {
      const { result, stdout } = await run(driver.sandbox, script('trap "" INT TERM PIPE; yes'), {
        limits: { ...testLimits, outputBytes: 100_000 },
      });

      expect(result).toMatchObject({ kind: 'output_limit', exitCode: null });
      expect(stdout.length).toBe(100_000);
    });

    it('lets a command wait for a receiver that is slow; its silence does not count meanwhile', async () => {
      let received = 0;
      let waiting = 0;
      const written = join(driver.workspace, 'written-so-far');
      const { result } = await run(
        driver.sandbox,
        script(
          'for i in 1 2 3 4 5 6 7 8; do head -c 100000 /dev/zero; echo $i > written-so-far; done; exit 6',
        ),
        {
          limits: { ...testLimits, silenceMs: 1000 },
          async onOutput(_stream, chunk) {
            waiting += 1;
            expect(waiting).toBe(1);
            received += chunk.length;
            if (received === chunk.length) {
              await new Promise((resolve) => setTimeout(resolve, 1500));
              // What a pipe holds and one chunk, not all of it.
              expect(readFileSync(written, 'utf8')).not.toBe('8\n');
            }
            waiting -= 1;
          },
        },
      );

      expect(result).toMatchObject({ kind: 'exited', exitCode: 6 });
      expect(received).toBe(800_000);
    });

    it('keeps the last output for a receiver that is slower than the end of the command', async () => {
      let received = 0;
      // More than one chunk, and less than a chunk and a pipe: the command ends while the rest waits.
      const { result } = await run(driver.sandbox, script('head -c 120000 /dev/zero'), {
        async onOutput(_stream, chunk) {
          received += chunk.length;
          if (received === chunk.length) await new Promise((resolve) => setTimeout(resolve, 2500));
        },
      });

      expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
      expect(received).toBe(120_000);
    });

    describe('watches a directory', () => {
      const place = () => {
        const source = mkdtempSync(join(driver.workspace, 'watched-'));
        const target = driver.mount.source === driver.mount.target ? source : '/watched';
        return { source, target, writable: true };
      };
      async function watched(text: string, limits: Partial<Limits>) {
        const mount = place();
        await driver.sandbox.own(mount.source, identity);
        const { result } = await run(driver.sandbox, script(text), {
          mounts: [mount],
          workingDirectory: mount.target,
          watched: [mount.source],
          limits: { ...testLimits, graceMs: 20_000, ...limits },
        });
        await driver.sandbox.remove(mount.source, identity);
        return result;
      }

      it('and asks a command to stop that fills it', async () => {
        const result = await watched(
          'trap "exit 9" INT; head -c 3000000 /dev/zero > large; while :; do sleep 0.02; done',
          {
            diskBytes: 2_000_000,
          },
        );

        expect(result).toMatchObject({ kind: 'disk_limit', reason: 'bytes', exitCode: 9 });
      });

      it('and kills at twice as much who does not listen', async () => {
        const result = await watched(
          'trap "" INT TERM; while :; do head -c 300000 /dev/zero >> large; sleep 0.05; done',
          {
            diskBytes: 2_000_000,
          },
        );

        expect(result).toMatchObject({ kind: 'disk_limit', reason: 'bytes', exitCode: null });
        expect(result.durationMs).toBeLessThan(15_000);
      });

      it('and counts names, however deep they lie and whatever links there are', async () => {
        const deep = 'for i in $(seq 300); do mkdir d; cd -P d; done; sleep 20';
        const result = await watched(`ln -s / root; ln -s . self; ${deep}`, { diskEntries: 250 });

        expect(result).toMatchObject({ kind: 'disk_limit', reason: 'entries' });
      });

      it('and lets be who stays within, links and names of one file and all', async () => {
        const result = await watched(
          'head -c 900000 /dev/zero > a; for i in $(seq 20); do ln a $i; done; ln -s / root; sleep 2.5; exit 3',
          { diskBytes: 1_500_000, diskEntries: 30 },
        );

        expect(result).toMatchObject({ kind: 'exited', exitCode: 3 });
      });

      it('and kills at once when the disk runs full, unless that is to be borne', async () => {
        const [killed, borne] = await Promise.all([
          watched('trap "" INT; sleep 20', { freeBytes: 2 ** 60 }),
          watched('sleep 2.5', { freeBytes: null }),
        ]);

        expect(killed).toMatchObject({ kind: 'disk_limit', reason: 'free_space', exitCode: null });
        expect(borne).toMatchObject({ kind: 'exited', exitCode: 0 });
      });
    });

    describe('watches its processes', () => {
      const limits = { ...testLimits, memoryBytes: 100 * mebibyte, graceMs: 20_000 };

      it('and says what they used', async () => {
        const busy = 'for i in $(seq 100000); do :; done';
        const text = `${busy}; ${holding(30)} & ${untilHeld(30)}; sleep ${longestPause}; exit 4`;
        const { result } = await run(driver.sandbox, script(text), { limits });

        expect(result).toMatchObject({ kind: 'exited', exitCode: 4 });
        const { peakMemoryBytes, peakProcesses, cpuMs } = usageOf(result);
        expect(peakMemoryBytes).toBeGreaterThan(30 * mebibyte);
        expect(peakMemoryBytes).toBeLessThan(60 * mebibyte);
        // The shell, its own copy for the pipe, tail and a sleep.
        expect(peakProcesses).toBeGreaterThanOrEqual(4);
        expect(cpuMs).toBeGreaterThan(0);
      });

      it('and says nothing of what was over before it was looked at', async () => {
        const { result } = await run(driver.sandbox, ['true']);

        // On a busy machine the start alone may take longer than to the first look.
        const used = result.durationMs < firstLookMs ? usageOf(result) : notMeasured;
        expect(used).toEqual({ peakMemoryBytes: null, peakProcesses: null, cpuMs: null });
      });

      it('and kills at once a command that holds too much', async () => {
        const { result } = await run(driver.sandbox, script(`trap "exit 0" INT TERM; ${holding(200)}`), {
          limits,
        });

        expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
        expect(usageOf(result).peakMemoryBytes).toBeGreaterThan(100 * mebibyte);
        expect(result.durationMs).toBeLessThan(15_000);
      });

      it('and adds up what many hold', async () => {
        const many = Array.from({ length: 6 }, () => `${holding(25)} &`).join(' ');
        const { result } = await run(driver.sandbox, script(`${many} wait`), { limits });

        expect(result).toMatchObject({ kind: 'memory_limit', exitCode: null });
      });

      it('and counts once what processes share', async () => {
        const sharing = `vec(my $x, 40 << 20, 8) = 1; for (1..4) { fork or do { sleep ${longestPause}; exit } }`;
        const { result } = await run(
          driver.sandbox,
          script(`perl -e '${sharing} 1 while wait > 0; exit 7'`),
          {
            limits,
          },
        );

        expect(result).toMatchObject({ kind: 'exited', exitCode: 7 });
        expect(usageOf(result).peakMemoryBytes).toBeGreaterThan(40 * mebibyte);
        expect(usageOf(result).peakMemoryBytes).toBeLessThan(100 * mebibyte);
      });
    });

    it('ends with the command, although something it started holds its pipes', async () => {
      const marker = sleepMarker();
      const { result } = await run(driver.sandbox, script(`trap "" INT; sleep ${marker} & echo done`));

      expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
      expect(result.durationMs).toBeLessThan(5000);
      expect(processesWith(marker)).toEqual([]);
    });

    it('removes a directory with closed directories, long paths and many files', async () => {
      const place = join(driver.workspace, 'mess');
      mkdirSync(place);
      await driver.sandbox.own(place, identity);
      const mess = {
        source: place,
        target: driver.mount.source === driver.mount.target ? place : '/mess',
        writable: true,
      };
      // Three chains of 1,000, hung into each other: no single path is too long to make them.
      const chain = 'p=$(printf "d/%.0s" {1..1000}); mkdir -p a/$p b/$p c/$p';
      const deep = `${chain}; mv b a/$p; mv a c/$p`;
      const { result } = await runIn(
        driver.sandbox,
        script(
          `set -e; mkdir -p closed/inner; touch closed/inner/file; seq 20000 | xargs touch; ${deep}; chmod 000 closed/inner closed`,
        ),
        { mounts: [mess], workingDirectory: mess.target },
      );
      expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });

      await driver.sandbox.remove(place, identity);

      expect(() => readFileSync(place)).toThrow('ENOENT');
    });

    it('removes symlinks, never what they point at', async () => {
      const outside = join(driver.workspace, 'outside');
      const place = join(driver.workspace, 'links');
      mkdirSync(outside);
      mkdirSync(place);
      writeFileSync(join(outside, 'file'), 'kept');
      await driver.sandbox.own(place, identity);
      const mount = {
        source: place,
        target: driver.mount.source === driver.mount.target ? place : '/links',
        writable: true,
      };
      await runIn(driver.sandbox, script(`ln -s ${outside} a; ln -s ${join(outside, 'file')} b; ln -s / c`), {
        mounts: [mount],
        workingDirectory: mount.target,
      });

      await driver.sandbox.remove(place, identity);

      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('kept');
    });
  });
}
