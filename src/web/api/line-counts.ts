import type { LogStore } from '../../runs/log-store.ts';
import type { Phase } from '../../runs/run-store.ts';

/**
 * How many lines of a log end before a place in it. What was counted is kept for the logs that were asked for last: a
 * log only grows, so each byte is looked at about once, however often somebody looks.
 */
export interface LineCounts {
  before(runId: string, phase: Phase, offset: number): Promise<number>;
}

const stepBytes = 1024 * 1024;
const keptLogs = 200;
const newline = 0x0a;

export function createLineCounts(logs: Pick<LogStore, 'read'>): LineCounts {
  /** By run and phase: the lines before each whole step. The one asked for last stands last. */
  const counted = new Map<string, number[]>();

  function stepsOf(key: string): number[] {
    const steps = counted.get(key) ?? [0];
    counted.delete(key);
    counted.set(key, steps);
    const [oldest] = counted.keys();
    if (counted.size > keptLogs && oldest !== undefined) counted.delete(oldest);
    return steps;
  }

  return {
    async before(runId, phase, offset) {
      const steps = stepsOf(`${runId} ${phase}`);
      let index = Math.min(steps.length - 1, Math.floor(offset / stepBytes));
      let lines = steps[index] ?? 0;
      for (;;) {
        const from = index * stepBytes;
        const wanted = Math.min(stepBytes, offset - from);
        if (wanted <= 0) return lines;
        const { bytes } = await logs.read(runId, phase, from, wanted);
        lines += newlinesIn(bytes);
        if (bytes.length < stepBytes) return lines;
        index += 1;
        steps[index] = lines;
      }
    },
  };
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}
