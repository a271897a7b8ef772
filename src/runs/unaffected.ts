import type { Stack } from '../stacks/stack.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { RunStore } from './run-store.ts';

/** A commit that starts nothing for a stack, because of what it changes, or by its push policies. */
export interface Unaffected {
  readonly stack: Stack;
  readonly commit: string;
  /** Of the run that there would be. */
  readonly type: 'TRACKED' | 'PROPOSED';
  /** Without a full stop. */
  readonly reason: string;
  /** Left out: it is none of the stack's concern. Else what push policies want to be shown. */
  readonly policies?: { readonly isFailure: boolean; readonly messages: readonly string[] };
}

/**
 * Shows it where runs are shown, for those who wait for the stack's check of every commit. Called inside a
 * transaction; only writes rows. Safe to repeat.
 */
export type ShowUnaffected = (tx: Tx, unaffected: Unaffected) => Promise<void>;

/** Shows it unless another event has made a run of the commit: what that says counts. */
export function createUnaffected(parts: {
  readonly runs: Pick<RunStore, 'newestOfCommit'>;
  readonly show: ShowUnaffected;
}): ShowUnaffected {
  return async (tx, unaffected) => {
    const { stack, type, commit } = unaffected;
    if (await parts.runs.newestOfCommit(stack.key, type, commit, 'any', tx)) return;
    await parts.show(tx, unaffected);
  };
}

/** Of a stack that an event leaves out: many ask for no such check. */
export async function showIfWanted(
  parts: { readonly unaffected: ShowUnaffected; readonly transactions: Transactions },
  notice: Unaffected,
): Promise<void> {
  if (!notice.stack.settings.unaffectedChecks) return;
  await parts.transactions.write((tx) => parts.unaffected(tx, notice));
}
