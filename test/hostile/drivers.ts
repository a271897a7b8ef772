/** Two servers: one that starts commands as its own children, as most would write it, and Slipway's. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { userOfRun, userRange } from '../../src/sandbox/launching/run-identity.ts';
import { defaultLimits } from '../../src/sandbox/limits.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import type { Limits } from '../../src/sandbox/sandbox.ts';
import type { Command, Driver, Outcome } from './scene.ts';

const workspaceInside = '/workspace';
const keptOutput = 2000;
/** A server that waits for the pipes of a daemon waits for ever. */
const plainPatienceMs = 3000;
/** Enough to be seen, little enough to be harmless where nothing limits it. */
export const temporaryBytes = 32 * 1024 * 1024;

/** No attack goes on for longer by itself. */
export const ordinaryLimits: Limits = { ...defaultLimits, wallMs: 10_000, graceMs: 300 };

export function createPlainDriver(): Driver {
  return {
    kind: 'plain',
    sandbox: createNoSandbox(),
    userOf: () => process.getuid?.() ?? 0,
    own: async () => {},
    remove: (directory) => rm(directory, { recursive: true }),
    run: runPlain,
  };
}

async function runPlain({ argv, environment, workspace, limits, signal }: Command): Promise<Outcome> {
  const startedMs = performance.now();
  const received = collect();
  const [program, ...options] = argv;
  const child = spawn(program, options, {
    cwd: workspace,
    env: { ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limits.wallMs,
    killSignal: 'SIGKILL',
  });
  child.stdout.on('data', received.take);
  child.stderr.on('data', received.take);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const exited = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  const stop = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  await exited;
  signal.removeEventListener('abort', stop);
  const enough = new AbortController();
  await Promise.race([closed, delay(signal.aborted ? 0 : plainPatienceMs, null, { signal: enough.signal })]);
  enough.abort();
  child.stdout.destroy();
  child.stderr.destroy();
  return { kind: 'exited', durationMs: performance.now() - startedMs, ...received.sum() };
}

export function createSandboxDriver(root: string): Driver {
  const sandbox = createBubblewrap({ directory: join(root, 'sandbox'), forcedStopMs: 300, temporaryBytes });
  const own = process.getuid?.() ?? 0;
  const range = own === 0 ? userRange(readFileSync('/proc/self/uid_map', 'utf8')) : null;
  return {
    kind: 'bubblewrap',
    sandbox,
    userOf: (run) => (range === null ? own : userOfRun(run, range)),
    own: (directory, run) => sandbox.own(directory, { key: run }),
    remove: (directory, run) => sandbox.remove(directory, { key: run }),
    async run({ argv, environment, workspace, run, limits, access, signal }) {
      const received = collect();
      const identity = { key: run };
      await using network = access === null ? null : await sandbox.openNetwork(access, { identity });
      const result = await sandbox.run({
        ...{ argv, environment, identity, network, limits, signal },
        workingDirectory: workspaceInside,
        mounts: [{ source: workspace, target: workspaceInside, writable: true }],
        watched: [workspace],
        onOutput: (_stream, chunk) => received.take(chunk),
      });
      if (result.kind === 'unavailable') received.take(Buffer.from(result.message));
      return { kind: result.kind, durationMs: result.durationMs, ...received.sum() };
    },
  };
}

function collect() {
  let receivedBytes = 0;
  let output = '';
  return {
    take(chunk: Uint8Array) {
      receivedBytes += chunk.length;
      if (output.length < keptOutput) output += Buffer.from(chunk).toString('latin1', 0, keptOutput);
    },
    sum: () => ({ receivedBytes, output }),
  };
}
