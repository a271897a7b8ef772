import type { LogStore } from '../../runs/log-store.ts';
import type { Phase } from '../../runs/run-store.ts';

/** A run's output as readers get it: phases one after the other, in bytes. */

/** Large enough to be quick, small enough to hold for every reader at once. */
const chunkBytes = 64 * 1024;

export interface LogPiece {
  readonly phase: Phase;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** How far the log of each phase was read. */
export type LogPosition = readonly number[];

/** The size of each phase's log now. */
export async function logSizes(logs: LogStore, runId: string, phases: readonly Phase[]): Promise<number[]> {
  const reads = await Promise.all(phases.map((phase) => logs.read(runId, phase, 0, 0)));
  return reads.map(({ size }) => size);
}

/** A part of the phases' logs laid end to end, up to `sizes`: what comes later is not waited for. */
export function logText(
  logs: LogStore,
  runId: string,
  phases: readonly Phase[],
  sizes: LogPosition,
  { from, to }: { readonly from: number; readonly to: number },
): ReadableStream<Uint8Array> {
  // The phase that holds `from`, and where in it.
  let index = 0;
  let at = from;
  let left = to - from;
  for (; index < phases.length && at >= (sizes[index] ?? 0); index += 1) at -= sizes[index] ?? 0;

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (; ; index += 1, at = 0) {
        const phase = phases[index];
        if (phase === undefined || left <= 0) return controller.close();
        const wanted = Math.min(chunkBytes, (sizes[index] ?? 0) - at, left);
        const { bytes } = await logs.read(runId, phase, at, wanted);
        if (bytes.byteLength === 0) continue;
        at += bytes.byteLength;
        left -= bytes.byteLength;
        return controller.enqueue(bytes);
      }
    },
  });
}

/**
 * The next piece after `position`, cut between characters. Null when there is nothing new. `isOver`: nothing
 * will follow, so half a character at the end is given out too.
 */
export async function nextPiece(
  logs: LogStore,
  runId: string,
  phases: readonly Phase[],
  position: LogPosition,
  isOver: boolean,
): Promise<LogPiece | null> {
  for (const [index, phase] of phases.entries()) {
    const offset = position[index] ?? 0;
    const { bytes } = await logs.read(runId, phase, offset, chunkBytes);
    const whole = isOver && bytes.byteLength < chunkBytes ? bytes.byteLength : wholeCharacters(bytes);
    if (whole > 0) return { phase, offset, bytes: bytes.subarray(0, whole) };
  }
  return null;
}

/** How many of the bytes are whole UTF-8 characters, not counting what is wrong before the last one. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back += 1) {
    const byte = bytes.at(-back) ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.byteLength - back : bytes.byteLength;
  }
  return bytes.byteLength;
}
