import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Result } from './recorder.ts';

const withinMs = 180_000;

export interface Execution {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All of it; a variable without a value is left out. */
  readonly environment: Readonly<Record<string, string | null | undefined>>;
  /** One SIGINT for each of these texts, in their order, as soon as the output shows it. */
  readonly interruptAt?: readonly string[];
  readonly onOutput?: (text: string) => void;
}

/** Runs a command to its end, whatever its exit code; -1 stands for a signal. */
export async function execute(execution: Execution): Promise<Result> {
  const { argv, cwd, environment, interruptAt = [], onOutput } = execution;
  const [program = '', ...args] = argv;
  const variables = Object.entries(environment).filter(([, value]) => typeof value === 'string');
  const child = spawn(program, args, {
    cwd,
    env: Object.fromEntries(variables) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
  });
  const streams = { stdout: '', stderr: '' };
  const waiting = [...interruptAt];
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      streams[stream] += text;
      onOutput?.(text);
      const [next] = waiting;
      if (next === undefined || !streams[stream].includes(next)) return;
      waiting.shift();
      child.kill('SIGINT');
    });
  }
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (waiting.length > 0) throw new Error(`${argv.join(' ')} never said "${waiting[0]}"`);
  return { exitCode: exitCode ?? -1, ...streams };
}
