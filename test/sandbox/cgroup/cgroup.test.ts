/** The kernel itself, where it lets the tests have a cgroup v2; what is decided before that is in delegation.test.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { isRoot, processesWith, sleepMarker, temporaryDirectory, until } from '../harness.ts';
import { findPlace, makeCgroup, startIn } from './delegated-place.ts';

const place = findPlace();
const mebibyte = 1024 * 1024;

async function answerOf(server: ChildProcess) {
  const [stdout, stderr] = await Promise.all([
    server.stdout ? text(server.stdout) : '',
    server.stderr ? text(server.stderr) : '',
  ]);
  return JSON.parse(stdout || JSON.stringify(stderr));
}

describe('a server with a delegated cgroup v2', () => {
  it.runIf('reason' in place)(`cannot be tried here: ${'reason' in place && place.reason}`, ({ skip }) =>
    skip(),
  );
  if ('reason' in place) return;

  it('has the kernel limit and count all processes of a command together', async () => {
    await using cgroup = makeCgroup(place.directory);
    const directory = temporaryDirectory();
    const answer = await answerOf(startIn(cgroup.directory, 'cgroup', directory));

    expect(answer).toMatchObject({
      delegation: { kind: 'delegated', directory: cgroup.directory, hasCpu: true },
      tier: `${isRoot ? 'root' : 'unprivileged'}, cgroup v2`,
      description: expect.stringContaining(', cgroup v2'),
      selfTest: { ok: true, failures: [] },
      alone: { kind: 'exited', exitCode: 0, output: `${60 * mebibyte}\n` },
      together: { kind: 'memory_limit', output: '' },
      inTemporary: { kind: 'memory_limit', output: '' },
      refused: { kind: 'process_limit', usage: { peakProcesses: 40 } },
      held: { kind: 'exited', exitCode: 0 },
      left: { kind: 'exited', exitCode: 0 },
      // A namespace of cgroups: nothing of the machine's tree can be seen.
      joined: { kind: 'exited', exitCode: 4, output: '0::/\n' },
    });
    expect(answer.together.usage.peakMemoryBytes).toBeGreaterThan(90 * mebibyte);
    expect(answer.together.usage.peakMemoryBytes).toBeLessThan(97 * mebibyte);
    // Two that spin for a second, and half a processor for both.
    expect(answer.held.usage.cpuMs).toBeGreaterThan(200);
    expect(answer.held.usage.cpuMs).toBeLessThan(0.5 * answer.held.durationMs + 200);
    expect(answer.cgroupsOfNetwork).toHaveLength(1);
    expect(readdirSync(cgroup.directory).filter((name) => name.startsWith('sandbox-'))).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  it('puts every process of a command into its cgroup, also those before the sandbox', async () => {
    await using cgroup = makeCgroup(place.directory);
    const directory = temporaryDirectory();
    const marker = sleepMarker();
    const server = startIn(cgroup.directory, 'cgroup-sleep', directory, marker);
    const gone = new Promise((resolve) => server.once('exit', resolve));
    const found = await until('the sleeping', () => {
      const pids = processesWith(marker).filter((pid) => pid !== server.pid);
      return processesWith(`sleep\0${marker}`).length >= 2 && pids;
    });
    const cgroupOf = (pid: number) => readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('/').at(-1);

    expect(new Set(found.map(cgroupOf))).toEqual(new Set([`sandbox-${server.pid}-1`]));
    expect(server.pid && cgroupOf(server.pid)).toBe('supervisor');
    server.kill('SIGKILL');
    await gone;
    await until('the end of the sandbox', () => processesWith(marker).length === 0);
    rmSync(directory, { recursive: true });
  });

  it('removes at its start what a killed server left, processes included', async () => {
    await using cgroup = makeCgroup(place.directory);
    const directory = temporaryDirectory();
    const marker = sleepMarker();
    const server = startIn(cgroup.directory, 'cgroup-sleep', directory, marker);
    const gone = new Promise((resolve) => server.once('exit', resolve));
    await until('the sleeping', () => processesWith(`sleep\0${marker}`).length >= 2);
    server.kill('SIGKILL');
    await gone;
    // The kernel ends the sandbox with its server; this stands for what it could not end in time.
    const orphaned = join(cgroup.directory, `sandbox-${server.pid}-2`);
    mkdirSync(orphaned);
    const survivor = sleepMarker();
    const orphan = spawn('sh', [
      '-c',
      'echo 0 > "$0/cgroup.procs" && exec "$@"',
      orphaned,
      'sleep',
      survivor,
    ]);
    const ended = new Promise((resolve) => orphan.once('exit', (_code, signal) => resolve(signal)));
    await until('the survivor', () => processesWith(`sleep\0${survivor}`).length === 1);

    const supervisor = join(cgroup.directory, 'supervisor');
    const answer = await answerOf(startIn(supervisor, 'cgroup-leftovers', directory));

    expect(answer.removed).toBe(2);
    expect(answer.left.filter((name: string) => name.startsWith('sandbox-'))).toEqual([]);
    expect(await ended).toBe('SIGKILL');
    rmSync(directory, { recursive: true });
  });
});
