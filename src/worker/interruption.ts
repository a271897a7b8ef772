import type { DiskReason, Limits, SandboxResult } from '../sandbox/sandbox.ts';
import { failed, over, type PhaseContext, type StepFailure } from './run-context.ts';

/**
 * What ended a command other than its own exit, in words: which command, which limit, and what a person can
 * do about it.
 */

/** As the outcome of the run; null when it simply exited. `called`: which command, as the subject of a sentence. */
export function interruption(
  result: SandboxResult,
  called: string,
  phase: PhaseContext,
): StepFailure | { readonly kind: 'over' } | null {
  const what = `${called} was stopped`;
  const { total } = phase.budget;
  // Retrying a preview is harmless; behind a half-done change it is not.
  const aftermath =
    phase.half === 'apply' ? ' What it did until then stays done: check the real state first.' : '';
  switch (result.kind) {
    case 'exited':
      return null;
    case 'stopped':
      return over;
    case 'timeout':
      return failed(
        'timeout',
        `${what}: the phase ${phase.phase} may take ${duration(total.wallMs)} in all, its hooks included.`,
        `The log shows where the time went; make that shorter, or split the stack.${aftermath}`,
      );
    case 'silence':
      return failed(
        'timeout',
        `${what}: it wrote nothing for ${duration(total.silenceMs ?? 0)}.`,
        `A command that waits for an answer gets none; one that works should say so now and then.${aftermath}`,
      );
    case 'output_limit':
      return failed(
        'output_limit',
        `${what}: the phase ${phase.phase} may write ${size(total.outputBytes)} of output in all.`,
        `Make its commands less talkative, or send their output to a file.${aftermath}`,
      );
    case 'disk_limit':
      return failed(
        'disk_limit',
        `${result.reason === 'file' ? `${called} failed (exit code ${result.exitCode})` : what}: ${diskReason(result.reason, total)}.`,
        `${diskAdvice[result.reason]}${aftermath}`,
      );
    case 'memory_limit':
      return failed(
        'out_of_memory',
        `${what}: ${memoryReason(result, total)}.`,
        `Make it do less at a time, or have an operator raise SANDBOX_MEMORY_MB.${aftermath}`,
      );
    case 'process_limit':
      return failed(
        'process_limit',
        `${result.exitCode === null ? what : `${called} failed (exit code ${result.exitCode})`}: ${processReason(result, total)}.`,
        `Make it start fewer at a time, or have an operator raise SANDBOX_PROCESSES.${aftermath}`,
      );
    case 'killed':
      return failed(
        'worker_lost',
        'The sandbox was ended from outside: by the kernel for lack of memory, or by the operator.',
        'Look at the memory of the server, then retry the run.',
      );
    case 'unavailable':
      return failed(
        'sandbox_unavailable',
        `${called} could not be started: ${result.message}`,
        '`slipway doctor` on the server shows what is wrong with the sandbox.',
      );
  }
}

/** For the end of a command's section of the log. */
export function describeResult(result: SandboxResult, phase: PhaseContext): string {
  const { total } = phase.budget;
  switch (result.kind) {
    case 'exited':
      return `exit ${result.exitCode}`;
    case 'unavailable':
      return `not started: ${result.message}`;
    case 'killed':
      return 'ended from outside';
    case 'output_limit':
      return `output_limit: more than ${size(total.outputBytes)} in this phase; what followed is not kept. Stopped`;
    case 'disk_limit':
      return `disk_limit: ${diskReason(result.reason, total)}. ${result.reason === 'file' ? `Exit ${result.exitCode}` : 'Stopped'}`;
    case 'memory_limit':
      return `out_of_memory: ${memoryReason(result, total)}. Killed`;
    case 'process_limit':
      return `process_limit: ${processReason(result, total)}. ${result.exitCode === null ? 'Killed' : `Exit ${result.exitCode}`}`;
    case 'timeout':
      return `timeout: more than ${duration(total.wallMs)} in this phase. Stopped`;
    case 'silence':
      return `timeout: no output for ${duration(total.silenceMs ?? 0)}. Stopped`;
    case 'stopped':
      return result.exitCode === null ? 'stopped' : `stopped, exit ${result.exitCode}`;
  }
}

type Measured = Pick<Exclude<SandboxResult, { kind: 'unavailable' }>, 'usage'>;

function memoryReason({ usage: { peakMemoryBytes } }: Measured, { memoryBytes }: Limits): string {
  const held = peakMemoryBytes === null ? 'held too much' : `held ${size(peakMemoryBytes)} of`;
  return `its processes together ${held} memory, files in /dev/shm included, and may hold ${size(memoryBytes)}`;
}

function processReason({ usage: { peakProcesses } }: Measured, { processes }: Limits): string {
  const had = peakProcesses === null ? '' : `had ${peakProcesses} processes and threads at once and `;
  return `it ${had}may have ${processes}, those of its sandbox included`;
}

function diskReason(
  reason: DiskReason,
  { diskBytes, diskEntries, freeBytes, fileBytes, temporaryEntries }: Limits,
): string {
  switch (reason) {
    case 'bytes':
      return `the workspace grew over ${size(diskBytes)}`;
    case 'entries':
      return `the workspace has more than ${diskEntries} files and directories`;
    case 'unreadable':
      return 'the size of the workspace could not be told: it has directories that nobody may read (mode 000)';
    case 'unwatched':
      return 'the server could not measure the workspace, again and again';
    case 'temporary':
      return `it made more than ${temporaryEntries} files and directories in memory (/dev/shm)`;
    case 'file':
      return `one of its files grew over ${size(fileBytes)}, the most that a single file may have`;
    case 'free_space':
      return `less than ${size(freeBytes ?? 0)} was left on the disk of the server`;
  }
}

const diskAdvice: Readonly<Record<DiskReason, string>> = {
  bytes: 'Fetch and keep less in it.',
  entries: 'Fetch and keep less in it.',
  unreadable: 'Leave its directories open to their owner: chmod -R u+rwX.',
  unwatched:
    'An operator must look at the load of the server, its descriptors and its disk; then retry the run.',
  temporary: 'Make fewer, or make them in the workspace.',
  file: 'Write less, or in parts.',
  free_space: 'An operator must make room; then retry the run.',
};

function duration(ms: number): string {
  const [amount, unit] = ms >= 120_000 ? [ms / 60_000, 'minute'] : [ms / 1000, 'second'];
  return `${Number(amount.toFixed(1))} ${unit}${amount === 1 ? '' : 's'}`;
}

function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
