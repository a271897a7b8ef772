import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defaultLimits } from '../sandbox/limits.ts';
import type { Sandbox, SandboxResult } from '../sandbox/sandbox.ts';
import type { EvaluationFailure } from './engine.ts';
import { isOutOfMemory, outOfMemory } from './opa-errors.ts';

/** Runs opa once: in the sandbox, without network, in a folder of its own that it can only read. */
export interface OpaProcess {
  run(job: OpaJob): Promise<OpaOutcome>;
  /** Removes what a former life has left. Nothing may run meanwhile. */
  sweep(): Promise<void>;
}

export interface OpaJob {
  /** Without the program. Paths are relative to the folder of `files`. */
  readonly argv: readonly string[];
  /** By relative path. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly timeLimitMs: number;
  /** What the files make it need beyond its usual memory; default 0. */
  readonly inputBytes?: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export type OpaOutcome = { readonly durationMs: number } & (
  | { readonly kind: 'exited'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'failed'; readonly failure: EvaluationFailure }
);

export interface OpaProcessOptions {
  /** The program, absolute. */
  readonly path: string;
  readonly sandbox: Sandbox;
  /** For the private folders; created. Only the server may write it or its parents. */
  readonly directory: string;
}

const mebibyte = 1024 * 1024;
/** opa compiles in 40 MiB. A rule that joins 10,000 steps with each other stays below 300 MiB; a bomb does not. */
const usualDataBytes = 512 * mebibyte;
/** JSON of n bytes is 17 n in opa's memory (10 MB: 170 MB), and garbage comes on top. */
const dataPerInputByte = 24;

const opaInside = '/opt/opa/opa';
const filesInside = '/policy';
/** opa has nothing to leave behind cleanly. */
const graceMs = 500;

export function createOpaProcess({ path, sandbox, directory }: OpaProcessOptions): OpaProcess {
  const isSandboxed = sandbox.kind !== 'none';
  return {
    async run(job) {
      let folder: string | null = null;
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        // Closed to all but the server; what is in it is open to the user that the sandbox runs as.
        folder = await mkdtemp(join(directory, 'run-'));
        const files = join(folder, 'files');
        await lay(files, job.files);
        return await runIn(files, job);
      } catch (error) {
        // A full disk, for one.
        const message = error instanceof Error ? error.message : String(error);
        return { kind: 'failed', failure: { code: 'unavailable', message }, durationMs: 0 };
      } finally {
        // What cannot be removed is swept at the next start.
        if (folder !== null) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
      }
    },
    async sweep() {
      const names = await readdir(directory).catch(() => []);
      for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
    },
  };

  async function runIn(files: string, job: OpaJob): Promise<OpaOutcome> {
    const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
    const dataBytes = usualDataBytes + dataPerInputByte * (job.inputBytes ?? 0);
    const result = await sandbox.run({
      identity: { key: `policy-${randomUUID()}` },
      argv: [isSandboxed ? opaInside : path, ...job.argv],
      environment: environmentOf(dataBytes),
      workingDirectory: isSandboxed ? filesInside : files,
      mounts: isSandboxed
        ? [
            { source: path, target: opaInside, writable: false },
            { source: files, target: filesInside, writable: false },
          ]
        : [],
      network: null,
      limits: {
        ...defaultLimits,
        ...{ wallMs: job.timeLimitMs, silenceMs: null, outputBytes: job.outputBytes },
        ...{ processes: 256, memoryBytes: dataBytes, dataBytes, fileBytes: mebibyte, graceMs },
      },
      onOutput: (stream, chunk) => void output[stream].push(Uint8Array.from(chunk)),
      signal: job.signal,
    });
    return outcomeOf(result, text(output.stdout), text(output.stderr), job);
  }
}

/** Fewer and later collections make it a fifth faster; near its limit it collects all the same. */
function environmentOf(dataBytes: number): Record<string, string> {
  return { GOGC: '400', GOMEMLIMIT: String(Math.floor(dataBytes * 0.75)), HOME: '/nonexistent' };
}

async function lay(folder: string, files: OpaJob['files']): Promise<void> {
  const folders = new Set([
    folder,
    ...Object.keys(files).flatMap((name) => parents(folder, join(folder, name))),
  ]);
  for (const path of folders) {
    await mkdir(path, { recursive: true });
    // Whatever the umask of the server: the sandbox may have another user.
    await chmod(path, 0o755);
  }
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content);
    await chmod(join(folder, name), 0o644);
  }
}

function parents(top: string, path: string): string[] {
  const parent = dirname(path);
  return parent === top ? [] : [...parents(top, parent), parent];
}

const text = (chunks: readonly Uint8Array[]): string => Buffer.concat(chunks).toString('utf8');

function outcomeOf(result: SandboxResult, stdout: string, stderr: string, job: OpaJob): OpaOutcome {
  const { durationMs } = result;
  const failed = (code: EvaluationFailure['code'], message: string): OpaOutcome => ({
    ...{ kind: 'failed', failure: { code, message }, durationMs },
  });
  switch (result.kind) {
    case 'exited':
      if (result.exitCode !== 0 && isOutOfMemory(stderr)) {
        return { kind: 'failed', failure: outOfMemory, durationMs };
      }
      return { kind: 'exited', exitCode: result.exitCode, stdout, stderr, durationMs };
    case 'timeout':
    case 'silence':
      return failed('timeout', tooSlow(job.timeLimitMs));
    case 'output_limit':
      return failed('output', `the answer has more than ${job.outputBytes} bytes`);
    case 'stopped':
      return failed('stopped', 'the evaluation was stopped');
    case 'memory_limit':
      return { kind: 'failed', failure: outOfMemory, durationMs };
    case 'process_limit':
      return failed('engine', 'opa started more threads than it may');
    case 'killed':
      return failed('memory', 'opa was killed, most likely for lack of memory');
    case 'unavailable':
      return failed('unavailable', result.message);
    case 'disk_limit':
      return failed('engine', 'the disk is full');
  }
}

export const tooSlow = (timeLimitMs: number): string => `the policy took longer than ${timeLimitMs / 1000} s`;
