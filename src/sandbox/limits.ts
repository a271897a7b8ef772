/**
 * The limits of commands where nobody says otherwise, each with its source. Time and output are enforced by the
 * server (supervise.ts), disk and memory are watched by it (disk-watch.ts, process-watch.ts), the rest is the kernel's: rlimits
 * for each process, tmpfs sizes for the sandbox.
 */
import type { Limits } from './sandbox.ts';

const second = 1000;
const minute = 60 * second;
const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

/**
 * docs/runs.md: 70 minutes for a phase, 10 of them without output for plans. Time and output are those of a phase here; the
 * worker gives each command what the ones before left.
 */
export const defaultLimits: Limits = {
  wallMs: 70 * minute,
  silenceMs: 10 * minute,
  // A real preview of 1,000 resources writes less than 2 MiB.
  outputBytes: 64 * mebibyte,
  // The operator's to say (SANDBOX_PROCESSES). Threads count. A Go or Node process has 10 to 20, and a preview starts the
  // CLI, a language host, the program and a provider or three; `go build` is the hungriest at one compiler for each core.
  processes: 1024,
  // The operator's to say (SANDBOX_MEMORY_MB).
  memoryBytes: 4 * gibibyte,
  dataBytes: dataBytesFor(4 * gibibyte),
  // The largest file a normal run writes is a provider plugin (AWS: 0.8 GiB unpacked).
  fileBytes: 2 * gibibyte,
  // Each is some 1 KiB of the kernel's memory.
  temporaryEntries: 100_000,
  // The plugins of three clouds are 3 GiB unpacked, a large node_modules is 2 GiB, and builds write as much again.
  diskBytes: 10 * gibibyte,
  // The largest node_modules has some 300,000; walking a million takes two seconds.
  diskEntries: 1_000_000,
  // The operator's to say (MIN_FREE_DISK_MB).
  freeBytes: null,
  // At least ten seconds without a process to spare, or five minutes of walks that do not come to their end.
  failedLooks: 10,
  // Time for a preview to give its lock back.
  graceMs: 30 * second,
};

/** Limits on what the processes of a command hold and how many they are, as an operator has them. */
export function processLimits(given: Pick<Limits, 'memoryBytes' | 'processes'>) {
  const { memoryBytes, processes } = given;
  return { memoryBytes, processes, dataBytes: dataBytesFor(memoryBytes) };
}

/**
 * A backstop for each process between two looks at what all of them hold. Twice the memory, so that a command over that is
 * named before one of its allocations fails; and never less than what Node 24 needs to start, 1 GiB, with room to work.
 */
function dataBytesFor(memoryBytes: number): number {
  return Math.max(2 * memoryBytes, 2 * gibibyte);
}

/**
 * An apply may be silent for long (a database takes 40 minutes), is given time to record what it did, and is not cut off
 * because the server is short of something.
 */
export const applyLimits: Limits = {
  ...defaultLimits,
  silenceMs: null,
  failedLooks: null,
  graceMs: 10 * minute,
};

/** Of what holds a network open: it lives as long as the commands that use it, and says one line. */
export const holderLimits: Limits = {
  ...defaultLimits,
  wallMs: Number.POSITIVE_INFINITY,
  silenceMs: null,
  outputBytes: 64 * 1024,
  graceMs: second,
};
/** It has nothing to leave behind cleanly. */
export const holderForcedStopMs = second;

/** A machine on which it takes this long executes nothing in time. */
export const networkOpeningMs = 15 * second;

/** Between the second SIGINT, on which tools give up waiting, and SIGKILL. */
export const forcedStopMs = 15 * second;

/** How long output may still arrive after the command's end; a descendant may hold its pipes for ever. */
export const lateOutputMs = 2 * second;

/** The kernel removes a dead sandbox in 3-14 ms; a disk that hangs can hold one process longer. */
export const removalTimeoutMs = 10 * second;

/** Private tmpfs directories count as memory of the host, so small ones; a caller with a disk budget mounts its own. */
export const temporaryBytes = 256 * mebibyte;
export const homeBytes = 64 * mebibyte;
export const sharedMemoryBytes = 16 * mebibyte;
