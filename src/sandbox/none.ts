/**
 * No sandbox: commands run as the server itself, and can read its files, its memory and its network. Only for an
 * operator who typed SANDBOX=none and trusts every repository.
 *
 * The same port, with what can be kept of it: exact environment, clocks, output caps, the ladder of signals, and
 * nothing left of the command's session. There are no mounts, so `target` must equal `source`; limits of the kernel,
 * `network` and a private /tmp do not exist. A command that starts a session of its own (setsid) gets away.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { notMeasured } from './accounting.ts';
import { removeDirectory } from './directories.ts';
import { launcherEnvironment } from './launching/bubblewrap-process.ts';
import { isShellCommand } from './launching/interrupt-targets.ts';
import { forcedStopMs, removalTimeoutMs } from './limits.ts';
import { readProcesses, sendSignal, signalNumber } from './process-tree.ts';
import type { Sandbox, SandboxCommand, SandboxResult } from './sandbox.ts';
import { type Ending, endedByUs, supervise } from './supervise.ts';
import { lookAt } from './watching/process-use.ts';

export interface NoSandbox extends Sandbox {
  readonly kind: 'none';
  readonly version: null;
  readonly tier: 'none';
  readonly shortcomings: readonly [];
  readonly hasCgroups: false;
}

export interface NoSandboxOptions {
  /** Between the second SIGINT and SIGKILL; only tests have less patience than limits.ts. */
  readonly forcedStopMs?: number;
}

export function createNoSandbox(options: NoSandboxOptions = {}): NoSandbox {
  return {
    kind: 'none',
    version: null,
    tier: 'none',
    shortcomings: [],
    hasCgroups: false,
    describe: () => 'none: commands run as the server itself, without isolation (SANDBOX=none)',
    async own() {},
    async openNetwork() {
      return { kind: 'network', async [Symbol.asyncDispose]() {} };
    },
    run: (command) => run(command, options.forcedStopMs ?? forcedStopMs),
    remove: (directory) => removeDirectory(directory, launcherEnvironment, () => open(directory)),
  };
}

async function run(command: SandboxCommand, forcedStopMs: number): Promise<SandboxResult> {
  for (const { source, target } of command.mounts) {
    if (source !== target) throw new Error(`without a sandbox ${source} cannot be mounted at ${target}`);
  }
  if (command.signal.aborted) return { kind: 'stopped', exitCode: null, durationMs: 0, usage: notMeasured };
  const [program, ...options] = command.argv;
  let child: ChildProcess;
  try {
    child = spawn(program, options, {
      cwd: command.workingDirectory,
      detached: true,
      env: { ...command.environment, PWD: command.workingDirectory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    return {
      kind: 'unavailable',
      message: error instanceof Error ? error.message : String(error),
      durationMs: 0,
    };
  }
  let wasKilled = false;
  const session = () => (child.pid === undefined ? [] : sessionOf(child.pid));
  const sweep = () => {
    for (const pid of session()) sendSignal(pid, 'SIGKILL');
  };
  const ending = await supervise({
    child,
    command,
    forcedStopMs,
    environment: launcherEnvironment,
    look: async (limits) =>
      child.pid === undefined
        ? null
        : lookAt({ directory: '/proc', session: child.pid, temporaries: [] }, limits),
    interruptTargets: () =>
      isShellCommand(command.argv) || child.pid === undefined ? session() : [child.pid],
    kill: () => {
      wasKilled = true;
      sweep();
    },
    // Before its pipes are waited for, which what is left may hold open.
    onExit: sweep,
  });
  // Again and again, because a process may fork while the list is read.
  const deadline = performance.now() + removalTimeoutMs;
  while (session().length > 0 && performance.now() < deadline) {
    sweep();
    await sleep(1);
  }
  return outcome(ending, wasKilled);
}

/** Nothing of another session can have this number while one process of this one is left. */
function sessionOf(leader: number): number[] {
  return readProcesses()
    .filter(({ session, state }) => session === leader && state !== 'Z' && state !== 'X')
    .map(({ pid }) => pid);
}

function outcome(ending: Ending, wasKilled: boolean): SandboxResult {
  const { reason, error, exitSignal, durationMs, usage } = ending;
  if (error !== null) return { kind: 'unavailable', message: error.message, durationMs };
  const exitCode = ending.exitCode ?? 128 + signalNumber(exitSignal);
  return reason === null
    ? { kind: 'exited', exitCode, durationMs, usage }
    : endedByUs(reason, ending, wasKilled ? null : exitCode);
}

async function open(directory: string): Promise<void> {
  await promisify(execFile)('chmod', ['-R', 'u+rwX', '--', directory], { env: launcherEnvironment });
}
