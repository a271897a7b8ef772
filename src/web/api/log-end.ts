import type { LogStore } from '../../runs/log-store.ts';
import { type Phase, phases } from '../../runs/run-store.ts';
import type { LineCounts } from './line-counts.ts';
import { logSizes, wholeCharacters } from './run-log.ts';

/** The end of one phase's log. Offsets and sizes are in bytes. */
export interface PhaseEnd {
  readonly phase: Phase;
  readonly size: number;
  /** Where `text` begins: at the beginning of a line, if one begins there or later. */
  readonly offset: number;
  /** The number of the line that begins there, from 1. */
  readonly line: number;
  readonly text: string;
}

/** The last `maxBytes` of a run's log, divided by phases; a phase that lies before them has an empty text. */
export async function logEnd(
  { logs, lines }: { readonly logs: LogStore; readonly lines: LineCounts },
  runId: string,
  maxBytes: number,
): Promise<readonly PhaseEnd[]> {
  const sizes = await logSizes(logs, runId, phases);
  const ends: PhaseEnd[] = [];
  let left = maxBytes;
  for (const [index, phase] of [...phases.entries()].reverse()) {
    const size = sizes[index] ?? 0;
    if (size === 0) continue;
    const from = Math.max(0, size - left);
    const { bytes } = await logs.read(runId, phase, from, size - from);
    left -= bytes.byteLength;
    const start = from === 0 ? 0 : lineStart(bytes);
    const shown = bytes.subarray(start, start + wholeCharacters(bytes.subarray(start)));
    const offset = from + start;
    const line = 1 + (await lines.before(runId, phase, offset));
    ends.push({ phase, size, offset, line, text: new TextDecoder().decode(shown) });
  }
  return ends.reverse();
}

/** Of the first line that begins in there; of the first character when none does. */
function lineStart(bytes: Uint8Array): number {
  const newline = bytes.indexOf(0x0a);
  if (newline !== -1) return newline + 1;
  const first = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return first === -1 ? bytes.byteLength : first;
}
