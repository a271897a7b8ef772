/** What a benchmark gives: figures of one run on one machine. Ratios travel between machines; the rest explains them. */
export interface Figure {
  /** What is divided by what, or what was measured. */
  readonly what: string;
  readonly value: number;
  /** A ratio has none. */
  readonly unit: '' | 'ms' | 's' | 'MB';
  readonly detail: string;
}

export interface Benchmark {
  readonly name: string;
  /** One line for --help. */
  readonly about: string;
  measure(say: (line: string) => void): Promise<readonly Figure[]>;
}

/** The smallest value that `share` of the values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1));
  const value = sorted[index];
  if (value === undefined) throw new Error('no values to take a percentile of');
  return value;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;
