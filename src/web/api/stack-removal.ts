import type { LogStore } from '../../runs/log-store.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { refuseManaged } from '../../stacks/managed.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Transactions } from '../../tx.ts';
import { UserError } from '../../user-error.ts';

/**
 * Deletes a stack and what belongs to it. It stands here because `stacks` must not know runs: that none is
 * under way is judged in the same transaction, so that none can begin between the look and the deletion.
 */
export async function removeStack(
  parts: { stackStore: StackStore; runs: RunStore; logs: LogStore; transactions: Transactions },
  stack: Stack,
  /** Sees it as it is inside the transaction; what it throws ends it. */
  check?: (now: Stack) => void,
): Promise<void> {
  const { stackStore, runs, logs, transactions } = parts;
  const runIds = await transactions.write(async (tx) => {
    const now = await stackStore.findByKey(stack.key, tx);
    if (now) {
      check?.(now);
      // The next look at the file would make it again, without its history.
      refuseManaged(now);
    }
    const [unfinished] = await runs.unfinished(stack.key, tx);
    if (unfinished) {
      throw new UserError('stack-busy', `The run ${unfinished.id} of the stack is ${unfinished.state}.`, {
        hint: 'Wait for it, or cancel, stop or discard it first.',
      });
    }
    // Here, or the log of a run that was made meanwhile would stay behind.
    const ids = await runs.idsOfStack(tx, stack.key);
    await stackStore.remove(tx, stack.key);
    return ids;
  });
  for (const id of runIds) await logs.remove(id);
}
