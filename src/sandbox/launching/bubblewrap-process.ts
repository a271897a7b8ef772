/**
 * One launch of bwrap: hands it what it needs on descriptors, gates and signals the command from outside, and tells
 * from bwrap's own report how it ended.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Accounting, combineUsage } from '../accounting.ts';
import { adviceFor } from '../diagnosis/bwrap-errors.ts';
import { removalTimeoutMs } from '../limits.ts';
import { isRunning, type Process, readProcess, readProcesses, sendSignal } from '../process-tree.ts';
import type { Limits, SandboxCommand, SandboxResult, Usage } from '../sandbox.ts';
import { type Ending, endedByUs, supervise } from '../supervise.ts';
import { isOfSandbox, type Look, lookAt } from '../watching/process-use.ts';
import { innermostInit, interruptTargets, isShellCommand } from './interrupt-targets.ts';
import { lowerSession } from './priority.ts';

export interface BubblewrapStart {
  /** From choom to the program. */
  readonly launch: readonly [string, ...string[]];
  /** For the inner bwrap; holds the environment. */
  readonly arguments: readonly string[];
  readonly filter: Uint8Array;
  /** True when the launch has a first bwrap around the second (launch.ts). */
  readonly isStaged: boolean;
  /** RLIMIT_NPROC to set before anything of the command runs; null when the launch sets it. */
  readonly gatedProcesses: number | null;
  readonly command: Pick<SandboxCommand, 'argv' | 'limits' | 'onOutput' | 'signal'>;
  /** Paths inside of the tmpfs that the command may write. */
  readonly temporaries: readonly string[];
  /** The kernel's own account of the command, where there is one; disposed of by whoever made it. */
  readonly accounting?: Accounting;
  /** Called with the first process of the sandbox, as the host numbers it. */
  readonly onStarted?: (init: Process) => void;
  /** See leftovers.ts. */
  readonly mark: Readonly<Record<string, string>>;
  readonly forcedStopMs: number;
}

/** Numbers in the children; what is not piped does not exist there. */
export const descriptors = {
  arguments: 3,
  filter: 4,
  status: 5,
  release: 6,
  outerStatus: 7,
} as const;

/** Nothing of ours: a variable like LD_PRELOAD must not reach the processes before the sandbox. */
export const launcherEnvironment: NodeJS.ProcessEnv = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
};

export async function runBubblewrap(start: BubblewrapStart): Promise<SandboxResult> {
  const { command, gatedProcesses } = start;
  const [program, ...options] = start.launch;
  let child: ChildProcess;
  try {
    child = spawn(program, options, {
      cwd: '/',
      // A group of its own: Ctrl-C on the server must not reach bwrap, which would die without telling the command.
      detached: true,
      env: { ...launcherEnvironment, ...start.mark },
      stdio: [
        ...(['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const),
        gatedProcesses === null ? 'ignore' : 'pipe',
        start.isStaged ? 'pipe' : 'ignore',
      ],
    });
  } catch (error) {
    // E2BIG: a hook longer than the kernel takes as one argument (128 KiB).
    return { kind: 'unavailable', message: messageOf(error), durationMs: 0 };
  }

  const state = { status: '', init: null as Process | null, wasKilled: false, failure: '' };
  const kill = () => {
    state.wasKilled = true;
    // The sandbox's pid 1 takes all its processes along. The group is bwrap outside, should there be no pid 1 yet.
    if (state.init !== null && isRunning(state.init)) sendSignal(state.init.pid, 'SIGKILL');
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      sendSignal(-child.pid, 'SIGKILL');
    }
  };
  const release = async () => {
    if (state.init === null || gatedProcesses === null) return;
    try {
      const limit = `--nproc=${gatedProcesses}:${gatedProcesses}`;
      await promisify(execFile)('prlimit', ['--pid', String(state.init.pid), limit], {
        env: launcherEnvironment,
      });
      writer(child, descriptors.release)?.end('.');
    } catch (error) {
      // When bwrap has given up meanwhile, its own message says more.
      if (!isRunning(state.init)) return;
      state.failure = messageOf(error);
      kill();
    }
  };

  const started = (report: string) => {
    const pid = /"child-pid":\s*(\d+)/.exec(report)?.[1];
    if (state.init !== null || pid === undefined) return;
    state.init = readProcess(Number(pid));
    if (state.init !== null) start.onStarted?.(state.init);
    void release();
  };

  if (child.pid !== undefined) {
    for (const pipe of child.stdio.slice(3)) pipe?.on('error', ignoreBrokenPipe);
    collect(child, descriptors.status, (text) => {
      state.status = text;
      if (!start.isStaged) started(text);
    });
    collect(child, descriptors.outerStatus, started);
    writer(child, descriptors.arguments)?.end(`${start.arguments.join('\0')}\0`);
    writer(child, descriptors.filter)?.end(start.filter);
  }

  const targets = () =>
    state.init === null
      ? []
      : interruptTargets(readProcesses(), {
          init: state.init.pid,
          isStaged: start.isStaged,
          isShell: isShellCommand(command.argv),
        });
  let inner: number | undefined;
  const look: Look = async (limits) => {
    if (state.init === null) return null;
    if (inner === undefined) {
      inner = start.isStaged ? innermostInit(readProcesses(), state.init.pid) : state.init.pid;
      if (inner === undefined) return null;
      lowerSession(inner);
    }
    const root = `/proc/${inner}/root`;
    const directory = `${root}/proc`;
    if (!isOfSandbox(directory)) return null;
    const temporaries = start.temporaries.map((path) => root + path);
    return lookAt({ directory, session: null, temporaries }, limits);
  };
  const ending = await supervise({
    child,
    command,
    look,
    interruptTargets: targets,
    kill,
    environment: launcherEnvironment,
    forcedStopMs: start.forcedStopMs,
  });
  if (state.init !== null) await untilGone(state.init);
  const exitCode = Number(/"exit-code":\s*(\d+)/.exec(state.status)?.[1] ?? Number.NaN);
  const usage = combineUsage(start.accounting?.usage() ?? null, ending.usage);
  return outcome({ ...ending, usage }, command.limits, {
    wasOutOfMemory: start.accounting?.wasOutOfMemory() ?? false,
    exitCode: Number.isNaN(exitCode) ? null : exitCode,
    wasKilled: state.wasKilled,
    failure: state.failure,
    hasStarted: state.init !== null,
  });
}

/** bwrap ends as soon as the command does; what the command left behind dies a moment later with pid 1. */
async function untilGone(init: Process): Promise<void> {
  const deadline = performance.now() + removalTimeoutMs;
  while (isRunning(init) && performance.now() < deadline) await sleep(1);
}

interface Inside {
  readonly exitCode: number | null;
  readonly wasKilled: boolean;
  readonly wasOutOfMemory: boolean;
  readonly failure: string;
  readonly hasStarted: boolean;
}

function outcome(ending: Ending, limits: Limits, inside: Inside): SandboxResult {
  const { reason, exitCode, error, stderrHead, durationMs, usage } = ending;
  if (inside.failure !== '') return { kind: 'unavailable', message: inside.failure, durationMs };
  if (reason !== null) return endedByUs(reason, ending, inside.wasKilled ? null : inside.exitCode);
  if (inside.wasOutOfMemory) return { kind: 'memory_limit', exitCode: null, durationMs, usage };
  if (inside.exitCode !== null) return endedByItself(inside.exitCode, limits, { durationMs, usage });
  // bwrap has told of its child by now and gives up with exit code 1 only before it becomes the command. Otherwise
  // stderr is the command's own, and none of it may end up in a message.
  if (inside.hasStarted && exitCode !== 1) return { kind: 'killed', durationMs, usage };
  // bwrap reports an exit code only for a command that it did start, and the command cannot write the report.
  const message =
    error === null ? stderrHead.trim() || 'the sandbox was ended while it started' : messageOf(error);
  const advice = adviceFor(message, process.getuid?.() === 0);
  return { kind: 'unavailable', message: advice === null ? message : `${message}\n${advice}`, durationMs };
}

/** What else counts as the user of a run: bwrap itself, and the node that holds its network. */
const othersOfRun = 16;
/** Of a shell about what a signal ended: 128 and SIGXFSZ, which the kernel sends whoever writes too large a file. */
const fileTooLarge = 153;

function endedByItself(
  exitCode: number,
  { processes }: Limits,
  ended: { readonly durationMs: number; readonly usage: Usage },
): SandboxResult {
  if (exitCode === fileTooLarge) return { kind: 'disk_limit', reason: 'file', exitCode, ...ended };
  const peak = ended.usage.peakProcesses ?? 0;
  const wasAtLimit = exitCode !== 0 && peak >= processes - othersOfRun;
  return { kind: wasAtLimit ? 'process_limit' : 'exited', exitCode, ...ended };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The other end may be gone before it has read everything; its exit says more. */
function ignoreBrokenPipe(): void {}

// Pipes beyond the fifth are missing in Node's types; all of them are duplex sockets.
function pipe(child: ChildProcess, descriptor: number): Readable | Writable | null {
  const pipes: readonly (Readable | Writable | null | undefined)[] = child.stdio;
  return pipes[descriptor] ?? null;
}

function writer(child: ChildProcess, descriptor: number): Writable | null {
  const found = pipe(child, descriptor);
  return found !== null && 'write' in found ? found : null;
}

/** Calls `onText` with all text so far, each time there is more. */
function collect(child: ChildProcess, descriptor: number, onText: (text: string) => void): void {
  const found = pipe(child, descriptor);
  if (found === null || !('read' in found)) return;
  let text = '';
  found.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    onText(text);
  });
}
