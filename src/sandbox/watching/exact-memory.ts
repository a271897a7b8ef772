/** What processes hold together when each page counts once, however many of them share it. Slower than their own figures. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface Held {
  /** Of the process: its folder in proc. */
  readonly path: string;
  /** In memory or swapped out; shared ones are in the figures of each process that has them. */
  readonly pageBytes: number;
  /** What the kernel needs to find them. */
  readonly tableBytes: number;
}

/** Only of the largest: what the others share with each other is little. */
const largest = 32;
/**
 * The kernel walks 1 GiB in 10 to 20 ms, and waits for a process that is changing its memory map. Whoever makes it wait longer has
 * the rough figures hold.
 */
const timeLimitMs = 1000;
const kibibyte = 1024;

/** Never too little. */
export function roughMemory(held: readonly Held[]): number {
  return held.reduce((total, { pageBytes, tableBytes }) => total + pageBytes + tableBytes, 0);
}

/** Never rejects, and never says more than the rough sum. */
export async function exactMemory(held: readonly Held[]): Promise<number> {
  const stop = new AbortController();
  const rough = roughMemory(held);
  const tooLong = delay(timeLimitMs, rough, { signal: stop.signal, ref: false }).catch(() => rough);
  const bytes = await Promise.race([refine(held, stop.signal), tooLong]);
  stop.abort();
  return bytes;
}

async function refine(held: readonly Held[], signal: AbortSignal): Promise<number> {
  const ranked = held.toSorted((a, b) => b.pageBytes - a.pageBytes);
  let bytes = roughMemory(ranked);
  for (const process of ranked.slice(0, largest)) {
    if (signal.aborted) break;
    bytes -= process.pageBytes - Math.min(process.pageBytes, await shareOf(process));
  }
  return bytes;
}

/** A page that n processes have counts an n-th for each. */
async function shareOf({ path, pageBytes }: Held): Promise<number> {
  const text = await readFile(`${path}/smaps_rollup`, 'latin1').catch(() => '');
  const parts = Array.from(text.matchAll(/^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$/gm), ([, amount]) =>
    Number(amount),
  );
  // Older kernels tell one figure with the pages of files.
  return parts.length < 3 ? pageBytes : parts.reduce((a, b) => a + b, 0) * kibibyte;
}
