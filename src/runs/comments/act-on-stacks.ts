import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Transactions, Tx } from '../../tx.ts';
import type { AnswerBody, Outcome, StackOutcome } from '../conversation.ts';
import { type Act, type Order, type Prepare, refused } from './act.ts';
import type { CommandAudit } from './command-audit.ts';
import { outcomeOfError } from './outcome-of-error.ts';

/** Every other writer waits for a transaction; more stacks than this take several. */
const mostInOne = 25;

interface Prepared {
  readonly stack: Stack;
  readonly act: Act;
}

/**
 * Does a command for one stack after the other; the last of them in the transaction that answers. Who asks again after
 * a crash between two transactions does no harm: a comment makes one run of a stack, and everything else is about what
 * there was when it was written.
 */
export function createActOnStacks(parts: {
  stackStore: Pick<StackStore, 'findByKey'>;
  transactions: Transactions;
  audit: Pick<CommandAudit, 'ofStack'>;
}) {
  const { stackStore, transactions, audit } = parts;

  async function done(tx: Tx, { stack: { key }, act }: Prepared): Promise<Outcome> {
    // As it is now: GitHub was asked meanwhile.
    const stack = await stackStore.findByKey(key, tx);
    if (!stack) return refused({ code: 'removed' });
    try {
      return await act(tx, stack);
    } catch (error) {
      return outcomeOfError(error, stack);
    }
  }

  async function allDone(
    tx: Tx,
    { comment }: Order,
    some: readonly Prepared[],
  ): Promise<readonly StackOutcome[]> {
    const outcomes: StackOutcome[] = [];
    for (const each of some) {
      const outcome = await done(tx, each);
      await audit.ofStack(tx, comment, each.stack, outcome);
      outcomes.push({ stack: each.stack.id, ...outcome });
    }
    return outcomes;
  }

  return async (
    stacks: readonly Stack[],
    order: Order,
    prepare: Prepare,
  ): Promise<(tx: Tx) => Promise<AnswerBody>> => {
    const left: Prepared[] = [];
    for (const stack of stacks) left.push({ stack, act: await prepare(stack, order) });
    const before: StackOutcome[] = [];
    while (left.length > mostInOne) {
      const some = left.splice(0, mostInOne);
      before.push(...(await transactions.write((tx) => allDone(tx, order, some))));
    }
    return async (tx) => ({ kind: 'acted', outcomes: [...before, ...(await allDone(tx, order, left))] });
  };
}
