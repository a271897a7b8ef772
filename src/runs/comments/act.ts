import type { Role } from '../../access/actor.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { Outcome, Refusal, RunReference } from '../conversation.ts';
import type { Run } from '../run.ts';
import type { UnderstoodCommand } from './command.ts';
import type { PullRequestComment } from './comment.ts';

/** A command whose writer may give it. */
export interface Order {
  readonly comment: PullRequestComment;
  readonly command: UnderstoodCommand;
  readonly role: Role;
}

/** Does the command for one stack, as it is inside the transaction. What throws has written nothing. */
export type Act = (tx: Tx, stack: Stack) => Promise<Outcome>;

/** Asks GitHub what has to be asked, before any transaction. Rejects when it cannot be asked: try again. */
export type Prepare = (stack: Stack, order: Order) => Promise<Act>;

/** For people: a run with the address of its page. */
export type Reference = (run: Run) => RunReference;

export const refused = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });
