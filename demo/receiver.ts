/** Starts witness.py and keeps what it reports: the evidence that a webhook came, and that its signatures fit. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { waitFor } from './wait.ts';

const receivedSchema = z.object({
  verified: z.boolean(),
  verified256: z.boolean(),
  state: z.string().nullable(),
  stateVersion: z.number().nullable(),
  run: z.string().nullable(),
  stack: z.string().nullable(),
  delivery: z.string().nullable(),
  attempt: z.number().nullable(),
  receivedAtMs: z.number(),
  body: z.unknown(),
});
export type Received = z.infer<typeof receivedSchema>;

export interface ReceiverProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly secret: string;
  /** In order of arrival. */
  readonly received: readonly Received[];
  /** Those of a run, in order of arrival. */
  of(runId: string): readonly Received[];
  /** Waits until every version from 1 to `stateVersion` of the run was received, and gives them. */
  waitForVersions(runId: string, stateVersion: number, timeoutMs?: number): Promise<readonly Received[]>;
}

const program = fileURLToPath(new URL('witness.py', import.meta.url));
const startWithinMs = 15_000;
const webhooksWithinMs = 15_000;

export async function startReceiver(options: {
  readonly secret: string;
  readonly onReceived?: (received: Received) => void;
}): Promise<ReceiverProcess> {
  const received: Received[] = [];
  let port = 0;
  const child = spawn('python3', [program, '--port', '0', '--secret', options.secret], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C must not take it before the server, which tells its last state changes while it stops.
    detached: true,
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said: unknown = JSON.parse(line);
    const start = z.object({ port: z.number() }).safeParse(said);
    if (start.success) {
      port = start.data.port;
      return;
    }
    const webhook = receivedSchema.parse(said);
    received.push(webhook);
    options.onReceived?.(webhook);
  });
  const failure = once(child, 'error').then(([error]) => error);
  const started = waitFor('the receiver to start', () => port > 0, { timeoutMs: startWithinMs });
  const problem = await Promise.race([started.then(() => null), failure]);
  if (problem !== null) throw new Error('python3 is needed for the receiver', { cause: problem });

  const of = (runId: string) => received.filter(({ run }) => run === runId);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    secret: options.secret,
    received,
    of,
    async waitForVersions(runId, stateVersion, timeoutMs = webhooksWithinMs) {
      const missing = () => {
        const seen = new Set(of(runId).map((each) => each.stateVersion));
        return Array.from({ length: stateVersion }, (_, index) => index + 1).filter((n) => !seen.has(n));
      };
      const what = `the webhooks of run ${runId}`;
      const detail = () => `: ${missing().join(', ')} of ${stateVersion} are missing`;
      await waitFor(what, () => missing().length === 0, { timeoutMs }, detail);
      return of(runId);
    },
    async [Symbol.asyncDispose]() {
      await stop(child);
      process.off('exit', onExit);
    },
  };
}

async function stop(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await exited;
  clearTimeout(timer);
}
