/**
 * The product as a process of its own, as an operator runs it: `node src/main.ts` with nothing but an environment. What
 * it says goes to a file, so that no pipe can fill up and a killed server's last words are kept.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { waitFor } from './wait.ts';

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly logPath: string;
  /** Of the process that runs now. */
  readonly pid: number;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** SIGTERM, and its exit code: null when it had to be killed. */
  stop(): Promise<number | null>;
  /** SIGKILL: no chance to say goodbye. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
  /** Everything it wrote, in all its lives. */
  log(): Promise<string>;
}

/** The self-test of the sandbox is part of the start. */
const readyWithinMs = 60_000;
/** A phase that runs may finish first. */
const stopWithinMs = 40_000;

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export function createServerProcess(options: {
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly url: string;
  /** Its working directory, where it looks for a `.env`. */
  readonly directory: string;
  readonly logPath: string;
  readonly signal?: AbortSignal | undefined;
}): ServerProcess {
  const { url, logPath } = options;
  let child: ChildProcess | null = null;
  const hasEnded = () => child === null || child.exitCode !== null || child.signalCode !== null;
  // Whatever ends this process must not leave a server behind.
  const onExit = () => child?.kill('SIGKILL');

  async function log(): Promise<string> {
    return readFile(logPath, 'utf8').catch(() => '');
  }

  async function lastLines(): Promise<string> {
    return (await log()).trimEnd().split('\n').slice(-25).join('\n');
  }

  async function isReady(): Promise<boolean> {
    if (hasEnded()) throw new Error(`the server ended at its start:\n${await lastLines()}`);
    try {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) });
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL', withinMs: number): Promise<number | null> {
    const running = child;
    if (!running || hasEnded()) return running?.exitCode ?? null;
    const exited = once(running, 'exit');
    running.kill(signal);
    const timer = setTimeout(() => running.kill('SIGKILL'), withinMs);
    await exited;
    clearTimeout(timer);
    return running.exitCode;
  }

  async function start(): Promise<void> {
    if (!hasEnded()) throw new Error('the server runs already');
    const out = openSync(logPath, 'a');
    child = spawn(process.execPath, [program], {
      cwd: options.directory,
      env: { ...options.environment },
      stdio: ['ignore', out, out],
      // Ctrl-C is for whoever started this: a second signal would cut the server's clean stop short.
      detached: true,
    });
    closeSync(out);
    process.once('exit', onExit);
    try {
      await waitFor('the server to be ready', isReady, { timeoutMs: readyWithinMs, signal: options.signal });
    } catch (error) {
      await end('SIGKILL', stopWithinMs);
      throw new Error(`the server did not become ready:\n${await lastLines()}`, { cause: error });
    }
  }

  async function stop(): Promise<number | null> {
    const exitCode = await end('SIGTERM', stopWithinMs);
    process.off('exit', onExit);
    return exitCode;
  }

  return {
    url,
    logPath,
    get pid() {
      return child?.pid ?? 0;
    },
    start,
    stop,
    log,
    async kill9() {
      await end('SIGKILL', stopWithinMs);
      process.off('exit', onExit);
    },
    async restart() {
      await stop();
      await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/**
 * A port that is free now. The server must keep it over a restart, because GitHub knows its address; so it is taken from
 * below the range out of which systems choose ports for outgoing connections, where it would soon be somebody else's.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries += 1) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error('no port between 15000 and 32000 is free');
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
