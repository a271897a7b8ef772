/** What a killed server leaves to be seen from outside: processes, files of the state directory, webhooks. */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import type { Received } from '../../demo/receiver.ts';
import { waitFor } from '../../demo/wait.ts';
import type { Scenario } from '../support/scenario.ts';

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
  readonly command: string;
}

export function hostProcesses(): HostProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      // The name in brackets may hold anything; what follows the last bracket is fields.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
      const [state, parent, startedAt] = [stat[0], stat[1], stat[19] ?? ''];
      if (state === 'Z' || state === 'X') return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      return [{ pid: Number(pid), parent: Number(parent), startedAt, command }];
    } catch {
      return [];
    }
  });
}

/** The process itself and all that descend from it, sandboxes included. */
export function familyOf(pid: number): HostProcess[] {
  const all = hostProcesses();
  const family = all.filter((each) => each.pid === pid);
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid));
  return family;
}

export function stillAlive(processes: readonly HostProcess[]): HostProcess[] {
  const now = new Map(hostProcesses().map((each) => [each.pid, each.startedAt]));
  return processes.filter(({ pid, startedAt }) => now.get(pid) === startedAt);
}

const goneWithinMs = 5000;

/**
 * SIGKILL for the server and its process group, as a terminal that goes or the kernel would. Gives the processes it had:
 * those of sandboxes are gone with it, a git that fetches is ended by the next start.
 */
export async function killGroup({ server }: Scenario): Promise<readonly HostProcess[]> {
  const family = familyOf(server.pid);
  expect(family.length).toBeGreaterThan(0);
  process.kill(-server.pid, 'SIGKILL');
  await server.kill9();
  // Before any next life has a chance to clear up. A bwrap that had only just been started may miss its parent's
  // death: it runs nothing, and the next start ends it.
  const mayStay = ({ command }: HostProcess) => /^\S*(git|bwrap)[ -]/.test(command);
  const left = () => stillAlive(family).flatMap(({ pid }) => familyOf(pid));
  await waitFor(
    'a killed server to run nothing any more',
    () => left().every(mayStay),
    { timeoutMs: goneWithinMs, intervalMs: 10 },
    () => `: ${JSON.stringify(left())}`,
  );
  return family;
}

export async function untilGone(processes: readonly HostProcess[]): Promise<void> {
  const what = 'processes of a killed server to be gone';
  const rest = () => `: ${JSON.stringify(stillAlive(processes))}`;
  const options = { timeoutMs: goneWithinMs, intervalMs: 10 };
  await waitFor(what, () => stillAlive(processes).length === 0, options, rest);
}

/** A file of the local state of a repository's stacks; empty while there is none. */
export async function stateFile(
  { dataDir }: Scenario,
  repository: Repository,
  path: string,
): Promise<string> {
  const directory = join(dataDir, 'state', String(repository.id));
  for (const name of await readdir(directory).catch(() => [])) {
    const text = await readFile(join(directory, name, path), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return '';
}

/** How often a hook of `countIn` ran. */
export async function timesIn(scenario: Scenario, repository: Repository, file: string): Promise<number> {
  return (await stateFile(scenario, repository, file)).split('\n').filter((line) => line !== '').length;
}

/** Notes in the state that it ran, and the first time goes on for longer than any test. */
export const slowOnce = (file: string): string =>
  `echo ran >> /state/${file}; [ "$(wc -l < /state/${file})" -gt 1 ] || sleep 600`;

export const workspacesOf = ({ dataDir }: Scenario): Promise<string[]> =>
  readdir(join(dataDir, 'workspaces'));

/**
 * State changes without a gap, each delivered at least once under one delivery id of its own, with both signatures
 * right. A server that was killed before it could note an answer sends again, so "once" is too much to ask.
 */
export async function expectTold(
  { api, receiver }: Scenario,
  runId: string,
  withinMs?: number,
): Promise<void> {
  const passed = await api.states(runId);
  expect(passed.map(({ stateVersion }) => stateVersion)).toEqual(passed.map((_, index) => index + 1));
  const received = await receiver.waitForVersions(runId, passed.length, withinMs);
  expect(received.filter(({ verified, verified256 }) => !(verified && verified256))).toEqual([]);
  const byVersion = Map.groupBy(received, ({ stateVersion }) => stateVersion ?? 0);
  expect([...byVersion.keys()].sort((a, b) => a - b)).toEqual(passed.map(({ stateVersion }) => stateVersion));
  const ids = new Set<string | null>();
  for (const { state, stateVersion } of passed) {
    const same: readonly Received[] = byVersion.get(stateVersion) ?? [];
    expect(new Set(same.map((each) => each.state))).toEqual(new Set([state]));
    const deliveries = new Set(same.map(({ delivery }) => delivery));
    expect(deliveries.size).toBe(1);
    for (const id of deliveries) ids.add(id);
  }
  expect(ids.size).toBe(passed.length);
}
