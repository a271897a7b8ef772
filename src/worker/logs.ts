import { setTimeout as delay } from 'node:timers/promises';
import type { Phase } from '../runs/run-store.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { Assignment, ServerApi } from './server-api.ts';

/** The log of one phase, on its way to the server: in order, batched while an append is under way. */
export interface PhaseLog {
  /** Redacted bytes. */
  write(bytes: Uint8Array): void;
  /** A line of ours between the output of commands. */
  line(text: string): void;
  /** Null, or what to wait for before more is written: the server is slower than the command. */
  pressure(): Promise<void> | null;
  /** Resolves when everything written so far is stored, or the lease is lost and nobody wants it any more. */
  flush(): Promise<void>;
}

export interface PhaseLogOptions {
  /** Goes before the first output when an earlier attempt has left some. */
  readonly separator?: string;
  /** Nothing ends because output could not be stored: a line says that some is missing. */
  readonly mayHaveGaps?: boolean;
  /** Between the tries of one append; only tests are less patient. */
  readonly retryDelaysMs?: readonly number[];
}

/** Of one phase, beside the pieces that the sandbox holds anyway. */
const maxWaitingBytes = 1024 * 1024;
/** A server that is busy or restarts its storage; whoever is away longer has lost the lease. */
const defaultRetryDelaysMs = [100, 500, 2000];

const ownLine = (text: string): Uint8Array => Buffer.from(`\n${text}\n`);
const gapLine = ownLine('[output is missing here: the server could not store it]');

export function createPhaseLog(
  server: Pick<ServerApi, 'log' | 'logSize'>,
  assignment: Assignment,
  phase: Phase,
  secrets: Pick<KnownSecrets, 'hide'>,
  { separator, mayHaveGaps = false, retryDelaysMs = defaultRetryDelaysMs }: PhaseLogOptions = {},
): PhaseLog {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  /** Null until the server was asked: what a former attempt wrote stays before ours. */
  let offset: number | null = null;
  let startLine = separator === undefined ? null : ownLine(separator);
  let hasGap = false;
  let isLost = false;
  /** Once it failed it stays so: what came later must not stand where something is missing. */
  let failure: { readonly error: unknown } | null = null;
  let sending: Promise<void> | null = null;
  let relief: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  let lastByte = 0x0a;

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      try {
        offset = await store(take());
        isLost = offset === null;
      } catch (error) {
        // A part of it may have arrived: asked again, the server says where the log ends.
        offset = null;
        hasGap = true;
        if (!mayHaveGaps) failure = { error };
      }
      if (failure || isLost) take();
    }
    sending = null;
  }

  async function store(output: Uint8Array): Promise<number | null> {
    const from = offset ?? (await persistently(() => server.logSize(assignment, phase)));
    if (from === null) return null;
    const first = hasGap ? gapLine : from > 0 ? startLine : null;
    const batch = first ? Buffer.concat([first, output]) : output;
    const size = await persistently(() => server.log(assignment, phase, from, batch));
    startLine = null;
    hasGap = false;
    return size;
  }

  function take(): Uint8Array {
    const batch = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    relief?.resolve();
    relief = null;
    return batch;
  }

  /** The same offset each time: what did arrive, although its answer was lost, is not stored twice. */
  async function persistently<T>(work: () => Promise<T>): Promise<T> {
    for (const ms of retryDelaysMs) {
      try {
        return await work();
      } catch {
        await delay(ms);
      }
    }
    return work();
  }

  function write(bytes: Uint8Array): void {
    if (bytes.length === 0 || failure || isLost) return;
    lastByte = bytes[bytes.length - 1] ?? lastByte;
    waiting.push(bytes);
    waitingBytes += bytes.length;
    sending ??= Promise.resolve().then(send);
  }

  return {
    write,
    line(text) {
      write(Buffer.from(`${lastByte === 0x0a ? '' : '\n'}${secrets.hide(text)}\n`));
    },
    pressure() {
      if (waitingBytes < maxWaitingBytes) return null;
      relief ??= Promise.withResolvers<void>();
      return relief.promise;
    },
    async flush() {
      while (sending !== null) await sending;
      if (failure) throw failure.error;
    },
  };
}
