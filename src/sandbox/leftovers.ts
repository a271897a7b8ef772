/**
 * Ends what a server that was killed has left behind. Sandboxes die with their server, save for a moment at the start
 * of bwrap (0.8.0, between its clone and the first thing the clone does) in which nobody tells the clone.
 */
import { readFileSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { readProcesses, sendSignal } from './process-tree.ts';

/** In the environment of every process before the sandbox, and of none in it. */
export function leftoverMark(directory: string): Record<string, string> {
  return { SLIPWAY_SANDBOX: resolve(directory) };
}

/**
 * Call once at the start of a server, with the directory of its sandbox and before the first command: what bears its
 * mark then is of a former life. Never from a program that runs beside a server. Returns how many were ended.
 */
export function endLeftovers(directory: string): number {
  const mark = Object.entries(leftoverMark(directory)).map(([name, value]) => `${name}=${value}`)[0] ?? '';
  const leftovers = readProcesses().filter(
    ({ pid, state }) => pid > 1 && state !== 'Z' && isMarked(pid, mark),
  );
  for (const { pid } of leftovers) sendSignal(pid, 'SIGKILL');
  return leftovers.length;
}

/**
 * Removes the sockets of proxies that nobody listens at any more: a server that is killed leaves those of its runs. Who
 * listens is another process beside the server, `slipway sandbox self-test` for one. Call after `endLeftovers`.
 */
export async function removeLeftoverSockets(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => each.startsWith('proxy-'))) {
    const folder = join(directory, name);
    if (!(await isListening(folder))) await rm(folder, { recursive: true, force: true });
  }
}

/** Through a descriptor, for the reason that proxy.ts has. */
async function isListening(folder: string): Promise<boolean> {
  await using handle = await open(folder);
  return await new Promise((resolve) => {
    const client = connect(`/proc/self/fd/${handle.fd}/socket`);
    client.once('connect', () => resolve(true)).once('error', () => resolve(false));
    client.once('connect', () => client.destroy());
  });
}

function isMarked(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
  } catch {
    return false; // Gone, or of a user whose processes are none of ours.
  }
}
