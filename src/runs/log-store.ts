import type { Phase } from './run-store.ts';

/** The output of a run's commands, one append-only log for each phase. What arrives here is redacted. */
export interface LogStore {
  append(runId: string, phase: Phase, bytes: Uint8Array): Promise<void>;
  /** At most `maxBytes` from `offset`; `size` is what the log holds now. Zero bytes at or past the end. */
  read(
    runId: string,
    phase: Phase,
    offset: number,
    maxBytes: number,
  ): Promise<{ bytes: Uint8Array; size: number }>;
  remove(runId: string): Promise<void>;
}
