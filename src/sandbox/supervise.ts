/**
 * Watches one started process to its end: passes its output on up to the cap, keeps the clocks, and ends it
 * when a limit is reached or the caller asks. It knows neither driver; how a command is asked to stop and how
 * it is killed is given.
 */
import type { ChildProcess } from 'node:child_process';
import { notMeasured } from './accounting.ts';
import { lateOutputMs } from './limits.ts';
import { sendSignal } from './process-tree.ts';
import type { DiskReason, SandboxCommand, SandboxResult, Usage } from './sandbox.ts';
import { type DiskWatch, watchDisk } from './watching/disk-watch.ts';
import type { Look } from './watching/process-use.ts';
import { type OverReason, watchProcesses } from './watching/process-watch.ts';

export type StopReason =
  | 'stopped'
  | 'timeout'
  | 'silence'
  | 'output_limit'
  | 'disk_limit'
  | 'memory_limit'
  | 'process_limit';

export interface Ending {
  /** Set before the signal was sent, so that no exit code can pretend another. Null: it ended by itself. */
  readonly reason: StopReason | null;
  /** With the reason `disk_limit`: what of it. */
  readonly diskReason: DiskReason | null;
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;
  /** Set when the process could not be started at all. */
  readonly error: Error | null;
  /** The first bytes of stderr, where the launchers say why they failed. */
  readonly stderrHead: string;
  readonly durationMs: number;
  readonly usage: Usage;
}

export interface Supervised {
  readonly child: ChildProcess;
  readonly command: Pick<SandboxCommand, 'limits' | 'onOutput' | 'signal' | 'watched'>;
  /** At what its processes hold. */
  readonly look: Look;
  /** Who gets SIGINT when the command is to stop; none when it has not started yet. */
  readonly interruptTargets: () => readonly number[];
  readonly kill: () => void;
  /** Of programs of ours that look at what it does. */
  readonly environment: DiskWatch['environment'];
  /** See limits.ts. */
  readonly forcedStopMs: number;
  /** Called when the process has ended, while its pipes may still be held open by others. */
  readonly onExit?: () => void;
}

/**
 * How often it is looked who is to be interrupted, until somebody was and for a while after: a shell that forks while the
 * processes are listed would wait for a child that nobody told.
 */
const interruptRetryMs = 20;
const interruptSettlingMs = 500;
const stderrHeadBytes = 2048;
const endsAtOnce: ReadonlySet<StopReason> = new Set(['output_limit', 'memory_limit', 'process_limit']);
const reasonFor: Readonly<Record<OverReason, StopReason>> = {
  memory: 'memory_limit',
  processes: 'process_limit',
  temporary: 'disk_limit',
};
/** Of Node; anything longer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export function supervise(supervised: Supervised): Promise<Ending> {
  const { child, command, interruptTargets, kill, forcedStopMs, onExit } = supervised;
  const { limits, onOutput, signal } = command;
  const startedMs = performance.now();
  const timers = new Set<NodeJS.Timeout>();
  let reason: StopReason | null = null;
  let diskReason: DiskReason | null = null;
  /** Streams of which nothing is read, because the receiver is slower than the command. */
  let held = 0;
  let isRunning = true;
  let bytes = 0;
  let stderrHead = '';

  const after = (ms: number, action: () => void): NodeJS.Timeout => {
    const timer = setTimeout(action, Math.min(ms, longestTimerMs));
    timers.add(timer);
    return timer;
  };
  /** Without a descriptor /proc cannot be read for a while: nobody is found, and it is looked again. */
  const findTargets = () => {
    try {
      return interruptTargets();
    } catch {
      return [];
    }
  };
  const interrupt = (asked = new Set<number>(), roundsLeft = interruptSettlingMs / interruptRetryMs) => {
    const targets = findTargets().filter((pid) => !asked.has(pid));
    for (const pid of targets) {
      sendSignal(pid, 'SIGINT');
      asked.add(pid);
    }
    if (asked.size === 0) after(interruptRetryMs, () => interrupt(asked, roundsLeft));
    else if (roundsLeft > 0) after(interruptRetryMs, () => interrupt(asked, roundsLeft - 1));
  };
  const end = (why: StopReason) => {
    if (reason !== null) return;
    reason = why;
    // Whoever takes without end is not given time to take more.
    if (endsAtOnce.has(why)) return kill();
    interrupt();
    after(limits.graceMs, () => {
      interrupt();
      after(forcedStopMs, kill);
    });
  };
  const stop = () => end('stopped');

  after(limits.wallMs, () => end('timeout'));
  const silence = limits.silenceMs === null ? null : after(limits.silenceMs, () => quiet());
  const quiet = () => (held > 0 ? silence?.refresh() : end('silence'));

  const receive = (stream: 'stdout' | 'stderr', chunk: Uint8Array) => {
    if (reason === null && isRunning) silence?.refresh();
    if (stream === 'stderr' && stderrHead.length < stderrHeadBytes) {
      stderrHead += Buffer.from(chunk).toString('latin1', 0, stderrHeadBytes);
    }
    const rest = limits.outputBytes - bytes;
    bytes += chunk.length;
    if (rest > 0) hold(stream, onOutput(stream, chunk.length > rest ? chunk.subarray(0, rest) : chunk));
    if (bytes <= limits.outputBytes) return;
    if (reason === null) end('output_limit');
    else kill();
  };
  const hold = (stream: 'stdout' | 'stderr', until: void | Promise<void>) => {
    if (until === undefined) return;
    held += 1;
    child[stream]?.pause();
    void until.then(() => {
      held -= 1;
      silence?.refresh();
      child[stream]?.resume();
    });
  };
  child.stdout?.on('data', (chunk: Uint8Array) => receive('stdout', chunk));
  child.stderr?.on('data', (chunk: Uint8Array) => receive('stderr', chunk));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const disk = watchDisk({
    directories: command.watched ?? [],
    limits,
    environment: supervised.environment,
    onOver(why, isUrgent) {
      diskReason ??= why;
      end('disk_limit');
      if (isUrgent) kill();
    },
  });
  const processes = watchProcesses({
    limits,
    look: supervised.look,
    onOver(over) {
      if (over === 'temporary') diskReason ??= over;
      end(reasonFor[over]);
      // Also when it was asked to stop before, for another reason.
      kill();
    },
  });

  return new Promise((resolve) => {
    let exit: Pick<Ending, 'exitCode' | 'exitSignal' | 'error'> | null = null;
    const settle = () => {
      if (exit === null) return;
      for (const timer of timers) clearTimeout(timer);
      // Missing, whatever the types say, when the server is out of descriptors.
      for (const pipe of (child.stdio as ChildProcess['stdio'] | undefined) ?? []) pipe?.destroy();
      const durationMs = performance.now() - startedMs;
      const usage = processes.usage() ?? notMeasured;
      const ending = { reason, diskReason, ...exit, stderrHead, durationMs, usage };
      // Node closes handles at the end of a turn of its loop; a caller should find nothing of ours open.
      setImmediate(() => setImmediate(() => resolve(ending)));
    };
    /** What waits for the receiver is in time. */
    const late = () => (held > 0 ? void after(lateOutputMs, late) : settle());
    const ended = (how: Pick<Ending, 'exitCode' | 'exitSignal' | 'error'>) => {
      if (exit !== null) return;
      exit = how;
      isRunning = false;
      signal.removeEventListener('abort', stop);
      for (const timer of timers) clearTimeout(timer);
      disk[Symbol.dispose]();
      void processes[Symbol.asyncDispose]();
      onExit?.();
      after(lateOutputMs, late);
    };
    child.on('exit', (exitCode, exitSignal) => ended({ exitCode, exitSignal, error: null }));
    child.on('close', settle);
    child.on('error', (error) => {
      // Also emitted when a signal cannot be sent, to a child that runs on.
      if (child.pid !== undefined) return;
      ended({ exitCode: null, exitSignal: null, error });
      settle();
    });
  });
}

/** The outcome of a command that we ended. `exitCode`: its answer to the polite signal, null after SIGKILL. */
export function endedByUs(
  reason: StopReason,
  { diskReason, durationMs, usage }: Ending,
  exitCode: number | null,
): SandboxResult {
  switch (reason) {
    case 'disk_limit':
      return { kind: reason, reason: diskReason ?? 'unreadable', exitCode, durationMs, usage };
    case 'memory_limit':
      return { kind: reason, exitCode: null, durationMs, usage };
    default:
      return { kind: reason, exitCode, durationMs, usage };
  }
}
