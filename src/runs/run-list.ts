import type { Run, RunState, RunType } from './run.ts';

/** What is left out does not matter. */
export interface RunFilter {
  readonly stackKeys?: readonly string[];
  readonly states?: readonly RunState[];
  readonly types?: readonly RunType[];
  readonly branch?: string;
  /** Made then or later. */
  readonly sinceMs?: number;
  /** Made earlier. */
  readonly beforeMs?: number;
}

export interface RunPage {
  readonly runs: readonly Run[];
  /** Older ones come behind this id; null at the end. */
  readonly next: string | null;
}

/** Runs of many stacks, newest first. */
export interface RunList {
  /**
   * At most `limit`, older than the run `before`. Fewer, and still a `next`, where so few of them fit the filter that
   * looking further would take long.
   */
  page(
    filter: RunFilter,
    options: { readonly before: string | null; readonly limit: number },
  ): Promise<RunPage>;
}
