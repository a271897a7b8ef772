import { takeTurns } from '../runs/plan/turns.ts';
import { createLogSink, type OutputSink } from './output-sinks.ts';
import type { PhaseContext, RunContext } from './run-context.ts';

/** Output that waits until it is known what of it is secret. */
export interface HeldBack {
  /** Into the log, by what is known now. Does nothing when nothing waits. */
  release(): Promise<void>;
  /** It will never be shown; a line says why. */
  drop(why: string): void;
}

/** A line that is longer is nothing that a tool says while it works: it may be what has to wait. */
const longestLine = 64 * 1024;
const pieceBytes = 64 * 1024;

/**
 * Passes whole lines on until one holds a marker. From the beginning of that line on all bytes wait, `maxBytes` at most;
 * what comes then is dropped, and a line says so.
 */
export function createHoldBack(
  context: Pick<RunContext, 'secrets' | 'vendor'>,
  phase: Pick<PhaseContext, 'log'>,
  { markers, called, maxBytes }: { markers: readonly string[]; called: string; maxBytes: number },
): OutputSink & HeldBack {
  const live = createLogSink(context, phase);
  const longestMarker = Math.max(0, ...markers.map((marker) => Buffer.byteLength(marker)));
  /** Of the line that is not at its end. */
  let line = Buffer.alloc(0);
  let waiting: Buffer[] | null = null;
  let waitingBytes = 0;
  let droppedBytes = 0;
  let wasCutShort = false;

  function wait(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, Math.max(0, maxBytes - waitingBytes));
    if (kept.length > 0) waiting?.push(Buffer.from(kept));
    waitingBytes += kept.length;
    droppedBytes += bytes.length - kept.length;
  }

  function holdFrom(start: number, bytes: Buffer): void {
    live.write(bytes.subarray(0, start));
    // A secret may begin before it and end in it.
    live.end(true);
    line = Buffer.alloc(0);
    waiting = [];
    wait(bytes.subarray(start));
  }

  function lineStart(bytes: Buffer, at: number): number {
    return at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1;
  }

  return {
    write(chunk) {
      if (waiting) return wait(chunk);
      // What of it was searched before can only be the beginning of a marker.
      const from = Math.max(0, line.length - longestMarker + 1);
      const bytes = Buffer.concat([line, chunk]);
      const found = markers.map((marker) => bytes.indexOf(marker, from)).filter((at) => at !== -1);
      if (found.length > 0) return holdFrom(lineStart(bytes, Math.min(...found)), bytes);
      const end = bytes.lastIndexOf(0x0a) + 1;
      if (bytes.length - end > longestLine) return holdFrom(end, bytes);
      live.write(bytes.subarray(0, end));
      line = bytes.subarray(end);
    },
    end(isCutShort) {
      wasCutShort = isCutShort;
      if (waiting) return;
      live.write(line);
      live.end(isCutShort);
    },
    tail: () => live.tail(),

    async release() {
      if (waitingBytes === 0) return;
      const held = Buffer.concat(waiting ?? []);
      waiting = [];
      waitingBytes = 0;
      const othersGoOn = takeTurns();
      phase.log.line(`[what ${called} said, without what the tool calls secret]`);
      for (let start = 0; start < held.length; start += pieceBytes) {
        live.write(held.subarray(start, start + pieceBytes));
        await phase.log.pressure();
        await othersGoOn();
      }
      live.end(wasCutShort || droppedBytes > 0);
      if (droppedBytes > 0) {
        phase.log.line(
          `[${droppedBytes} bytes more are missing: too much had to wait for the plan to be read]`,
        );
      }
    },
    drop(why) {
      if (waitingBytes === 0) return;
      waiting = [];
      waitingBytes = 0;
      phase.log.line(`[what ${called} said is not shown: ${why}]`);
    },
  };
}
