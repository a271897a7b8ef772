/** A sandbox on real directories, and the ways tests look at it from outside. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bubblewrap, type BubblewrapOptions, createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from '../../src/sandbox/descriptors.ts';
import { defaultLimits } from '../../src/sandbox/limits.ts';
import type {
  ConnectionDecision,
  ConnectionEnd,
  Limits,
  NetworkAccess,
  Sandbox,
  SandboxCommand,
  SandboxResult,
} from '../../src/sandbox/sandbox.ts';

// As every server does first; test runners are started by shells that leave descriptors open.
closeInheritedDescriptors();

/** Of this machine, reachable from it and not loopback: all that proves that a connection works. */
export const ownAddress = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

export const isRoot = process.getuid?.() === 0;
export const identity = { key: 'run-1' };

export const testLimits: Limits = {
  ...defaultLimits,
  wallMs: 30_000,
  graceMs: 300,
  outputBytes: 1024 * 1024,
};

/** What a second SIGINT is given before SIGKILL. */
export const forcedStopMs = 300;

export interface Harness extends Disposable {
  /** 0711: its parents are open, and nothing in it can be listed. */
  readonly root: string;
  readonly sandbox: Bubblewrap;
  /** Owned by the identity; below a directory that only the server may enter. */
  readonly workspace: string;
}

export async function createHarness(options: Partial<BubblewrapOptions> = {}): Promise<Harness> {
  const root = temporaryDirectory();
  const sandbox = createBubblewrap({ directory: join(root, 'sandbox'), forcedStopMs, ...options });
  const closed = join(root, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const workspace = join(closed, 'workspace');
  mkdirSync(workspace);
  await sandbox.own(workspace, identity);
  return {
    root,
    sandbox,
    workspace,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function temporaryDirectory(): string {
  const root = mkdtempSync(join(tmpdir(), 'slipway-sandbox-'));
  chmodSync(root, 0o711);
  return root;
}

export interface Outcome {
  readonly result: SandboxResult;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Change extends Partial<Omit<SandboxCommand, 'network'>> {
  /** Opened for this command alone. */
  readonly network?: NetworkAccess;
  readonly onConnection?: (connection: ConnectionDecision) => void;
  readonly onConnectionEnd?: (end: ConnectionEnd) => void;
}

/** Runs a command in /tmp without mounts or network, unless told otherwise. */
export async function runIn(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  { network: access = { mode: 'none' }, onConnection, onConnectionEnd, ...change }: Change = {},
): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  const told = { ...(onConnection && { onConnection }), ...(onConnectionEnd && { onConnectionEnd }) };
  await using network =
    access.mode === 'none'
      ? null
      : await sandbox.openNetwork(access, {
          identity: change.identity ?? identity,
          ...told,
        });
  const result = await sandbox.run({
    identity,
    argv,
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/tmp',
    mounts: [],
    network,
    limits: testLimits,
    onOutput: (stream, chunk) => {
      output[stream] += Buffer.from(chunk).toString('utf8');
    },
    signal: new AbortController().signal,
    ...change,
  });
  return { result, ...output };
}

export function script(text: string): readonly ['bash', '-c', string] {
  return ['bash', '-c', text];
}

/** Waits for evidence, never for time. */
export async function until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not happen in 15 s`);
    await sleep(5);
  }
}

let numbers = 0;

/** For `sleep`: a number that finds the process among all of the machine. */
export function sleepMarker(): string {
  numbers += 1;
  return `${900_000 + (process.pid % 50_000)}.${Date.now() % 1_000_000}${numbers}`;
}

/** Host pids of living processes with this text in their command line. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}
