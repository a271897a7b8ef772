import type { Actor } from '../access/actor.ts';
import { type AuditLog, noSubject } from '../access/audit-log.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Transactions, Tx } from '../tx.ts';
import { commandRefusal } from './command-refusal.ts';

/** What came of a button on GitHub that somebody pressed. */
export type ButtonOutcome =
  /** `run`: the one that was made or moved; null when there was one already. */
  | { readonly kind: 'done'; readonly note: string; readonly run: string | null }
  | { readonly kind: 'refused'; readonly reason: string };

/** What is left to do inside the transaction that decides. What throws has written nothing. */
export type Act = (tx: Tx) => Promise<ButtonOutcome>;

export const refused = (reason: string): ButtonOutcome => ({ kind: 'refused', reason });
export const refusing =
  (reason: string): Act =>
  async () =>
    refused(reason);

export interface Press {
  readonly actor: Actor;
  readonly button: string;
  /** The check run or check suite that shows it, by GitHub's id. */
  readonly shownBy: ShownBy;
  readonly repositoryId: number;
  /** Null: the repository has none like that. */
  readonly stack: Stack | null;
}

export type ShownBy = { readonly checkRun: string } | { readonly checkSuite: string };

/** Does what a press came to, and writes both down in one transaction. A refused command is an outcome, too. */
export function createPressSettler(parts: {
  readonly transactions: Transactions;
  readonly audit: Pick<AuditLog, 'note'>;
}): (press: Press, act: Act) => Promise<ButtonOutcome> {
  const { transactions, audit } = parts;

  async function note(tx: Tx, press: Press, outcome: ButtonOutcome): Promise<void> {
    const { actor, button, shownBy, repositoryId, stack } = press;
    const isDone = outcome.kind === 'done';
    const ofStack = stack && { account: stack.account, stack: stack.id };
    const entry = {
      actor,
      origin: { via: 'check', address: null, forwardedFor: null } as const,
      operation: `check ${button}`,
      params: { ...shownBy },
      subject: { ...noSubject, repositoryId, ...ofStack, run: isDone ? outcome.run : null },
    };
    const reason = isDone ? null : outcome.reason;
    await audit.note(tx, entry, { outcome: isDone ? 'done' : 'refused', note: reason });
  }

  const settle = (press: Press, act: Act): Promise<ButtonOutcome> =>
    transactions.write(async (tx) => {
      const outcome = await act(tx);
      await note(tx, press, outcome);
      return outcome;
    });

  return async (press, act) => {
    try {
      return await settle(press, act);
    } catch (error) {
      return settle(press, refusing(commandRefusal(error).message));
    }
  };
}
