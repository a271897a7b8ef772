import type { Phase } from '../runs/run-store.ts';
import { hideSecrets, secretsOf } from './redaction.ts';
import type { Assignment, ServerApi } from './server-api.ts';

/** The log of one phase, on its way to the server: in order, batched while an append is under way. */
export interface PhaseLog {
  /** Redacted bytes. */
  write(bytes: Uint8Array): void;
  /** A line of ours between the output of commands. */
  line(text: string): void;
  /** Resolves when everything written so far is stored. */
  flush(): Promise<void>;
}

export function createPhaseLog(server: ServerApi, assignment: Assignment, phase: Phase): PhaseLog {
  const secrets = secretsOf(assignment);
  let waiting: Uint8Array[] = [];
  let sending: Promise<void> | null = null;
  let lastByte = 0x0a;

  /** Once it failed it stays so: what came later must not stand where something is missing. */
  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = Buffer.concat(waiting);
      waiting = [];
      await server.log(assignment, phase, batch);
    }
    sending = null;
  }

  function write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    lastByte = bytes[bytes.length - 1] ?? lastByte;
    waiting.push(bytes);
    sending ??= Promise.resolve().then(send);
    // The rejection is seen by flush; without a handler it would end the process first.
    sending.catch(() => undefined);
  }

  return {
    write,
    line(text) {
      write(Buffer.from(`${lastByte === 0x0a ? '' : '\n'}${hideSecrets(secrets, text)}\n`));
    },
    async flush() {
      while (sending !== null) await sending;
    },
  };
}
