import { randomUUID } from 'node:crypto';
import { defaultLimits } from '../limits.ts';
import type { Limits, OpenNetwork, RunIdentity, Sandbox, SandboxCommand, SandboxResult } from '../sandbox.ts';

/** Of this server alone: a user counts its processes for all servers of the machine, and two may start at once. */
export const probeIdentity: RunIdentity = { key: `self-test-${randomUUID()}` };

/** `processes` is far from what the machine gives anyway, so that it is seen to hold. */
export const probeLimits: Limits = {
  ...defaultLimits,
  wallMs: 20_000,
  graceMs: 1000,
  processes: 200,
  fileBytes: 64 * 1024 * 1024,
};

export interface Question {
  readonly argv: SandboxCommand['argv'];
  readonly environment?: Readonly<Record<string, string>>;
  readonly network?: OpenNetwork | null;
  readonly limits?: Partial<Limits>;
  /** Called with each piece of output. */
  readonly onText?: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly result: SandboxResult;
  /** Of both streams. */
  readonly output: string;
}

/** Runs one probe in the sandbox; what is printed is judged outside. */
export async function ask(sandbox: Sandbox, question: Question): Promise<Answer> {
  let output = '';
  const result = await sandbox.run({
    identity: probeIdentity,
    argv: question.argv,
    environment: { PATH: '/usr/bin:/bin', ...question.environment },
    workingDirectory: '/tmp',
    mounts: [],
    network: question.network ?? null,
    limits: { ...probeLimits, ...question.limits },
    onOutput(stream, chunk) {
      const text = Buffer.from(chunk).toString('utf8');
      output += text;
      question.onText?.(stream, text);
    },
    signal: question.signal ?? new AbortController().signal,
  });
  return { result, output };
}

/** Null for a command that came to its end by itself. */
export function troubleOf({ result }: Answer): string | null {
  if (result.kind === 'exited') return null;
  if (result.kind === 'unavailable') return result.message;
  return `A command that should take milliseconds ended by ${result.kind}.`;
}
