/** Whole milliseconds as nanoseconds. JavaScript rounds the number, its JSON text is exact all the same. */
export const nanosecondsOf = (ms: number): number => Math.trunc(ms) * 1_000_000;
