import { realpath, stat } from 'node:fs/promises';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { pureCapabilities } from './capabilities.ts';
import type { EngineStanding } from './engine.ts';
import { createOpaProcess, type OpaProcess } from './opa-process.ts';

/** The opa program of this machine, asked once what it is and can do; again when another takes its place. */
export interface OpaBinary {
  ready(): Promise<ReadyOpa | Extract<EngineStanding, { kind: 'unavailable' }>>;
  sweep(): Promise<void>;
}

export interface ReadyOpa {
  readonly kind: 'ready';
  /** E.g. "opa 1.22.0". */
  readonly engine: string;
  readonly path: string;
  readonly process: OpaProcess;
  /** What policies may use, as opa reads it. */
  readonly capabilities: string;
}

export interface OpaBinaryOptions {
  /** Null: there is none. */
  readonly path: string | null;
  readonly sandbox: Sandbox;
  /** For the private folders of evaluations; created. Only the server may write it or its parents. */
  readonly directory: string;
}

export const capabilitiesFile = 'capabilities.json';

const notInstalled =
  'policy engine not installed: opa was not found (set OPA_PATH, or run: npm run setup -- --with opa)';
const questionMs = 15_000;
const answerBytes = 4 * 1024 * 1024;

export function createOpaBinary({ path, sandbox, directory }: OpaBinaryOptions): OpaBinary {
  let known: { readonly print: string; readonly asked: Promise<ReadyOpa> } | null = null;

  return {
    async ready() {
      if (path === null) return { kind: 'unavailable', reason: notInstalled };
      try {
        const real = await realpath(path);
        const { dev, ino, size, mtimeMs } = await stat(real);
        const print = [real, dev, ino, size, mtimeMs].join(' ');
        if (known?.print !== print) known = { print, asked: ask(real) };
        return await known.asked;
      } catch (error) {
        // The next question asks again: what was missing may be there by then.
        known = null;
        const message = error instanceof Error ? error.message : String(error);
        return { kind: 'unavailable', reason: `opa cannot be used: ${message}` };
      }
    },
    sweep: () => createOpaProcess({ path: path ?? '', sandbox, directory }).sweep(),
  };

  async function ask(real: string): Promise<ReadyOpa> {
    const process = createOpaProcess({ path: real, sandbox, directory });
    const [versions, current] = await Promise.all([
      answer(process, ['version']),
      answer(process, ['capabilities', '--current']),
    ]);
    const version = /^Version: (\S+)/m.exec(versions)?.[1];
    if (version === undefined) throw new Error('it does not tell its version');
    const capabilities = pureCapabilities(current);
    return { kind: 'ready', engine: `opa ${version}`, path: real, process, capabilities };
  }
}

async function answer(process: OpaProcess, argv: readonly string[]): Promise<string> {
  const outcome = await process.run({
    ...{ argv, files: {}, timeLimitMs: questionMs, outputBytes: answerBytes },
    signal: new AbortController().signal,
  });
  if (outcome.kind === 'failed') throw new Error(outcome.failure.message);
  if (outcome.exitCode === 0) return outcome.stdout;
  throw new Error(`opa ${argv.join(' ')} exited with ${outcome.exitCode}`);
}
