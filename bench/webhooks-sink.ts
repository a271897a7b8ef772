/** The receiver of the benchmarks, as the sender's process sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface SinkRequest {
  /** Whether arrivals are noted from now on. */
  readonly keepTimes: boolean;
}

export interface SinkState {
  /** POSTs answered since its start. */
  readonly received: number;
  /** Of each delivery id since the last request; milliseconds of the machine's steady clock. */
  readonly arrivals: readonly (readonly [string, number])[];
}

export interface Sink extends AsyncDisposable {
  readonly origin: string;
  ask(request: SinkRequest): Promise<SinkState>;
}

/** The same clock as the sink's. */
export const steadyMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export async function startSink(): Promise<Sink> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'webhooks-sink-process.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    origin: `http://127.0.0.1:${port}`,
    async ask(request) {
      const answer = once(child, 'message');
      child.send(request);
      const [state] = (await answer) as [SinkState];
      return state;
    },
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}
