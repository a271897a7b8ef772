import type { Phase } from './run-store.ts';

/**
 * The output of a run's commands, one append-only log for each phase. What arrives here is redacted. Offsets
 * and sizes are in bytes.
 */
export interface LogStore {
  /**
   * Stores `bytes` at `offset`, which is where the log ends. Whoever got no answer says the same again: what
   * is stored already changes nothing, the rest of it is added. Survives the process at once, and a power cut
   * about a second later.
   */
  append(runId: string, phase: Phase, offset: number, bytes: Uint8Array): Promise<Appended>;
  /** At most `maxBytes` from `offset`; `size` is what the log holds now. Zero bytes at or past the end. */
  read(
    runId: string,
    phase: Phase,
    offset: number,
    maxBytes: number,
  ): Promise<{ bytes: Uint8Array; size: number }>;
  /**
   * Nothing follows in this log: it is on the disk when this resolves, and further appends are refused. Once
   * more, or for a phase that never wrote, it changes nothing.
   */
  seal(runId: string, phase: Phase): Promise<void>;
  /** What is appended to a run after that begins new logs at 0. */
  remove(runId: string): Promise<void>;
}

/** `size` is that of the log after the call. */
export type Appended =
  | { readonly kind: 'stored'; readonly size: number }
  /** `gap`: the log ends before `offset`. `different`: other bytes are stored there. Nothing was changed. */
  | { readonly kind: 'refused'; readonly reason: 'gap' | 'different' | 'sealed'; readonly size: number };
