import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs: number;
  /** Between two looks; 50 when absent. */
  readonly intervalMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks again and again until there is something to see, and gives it. Null, undefined and false mean not yet.
 * Rejects with a sentence that names what was waited for; `detail` adds what there was instead.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  options: WaitOptions,
  detail: () => string | Promise<string> = () => '',
): Promise<T> {
  const endMs = performance.now() + options.timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (performance.now() > endMs) {
      throw new Error(`waited ${options.timeoutMs / 1000} s in vain for ${what}${await detail()}`);
    }
    await delay(options.intervalMs ?? 50, undefined, options.signal ? { signal: options.signal } : {});
  }
}
