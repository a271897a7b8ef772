import type { Actor } from '../access/actor.ts';
import type { Access } from '../access/roles.ts';
import type { Stack } from '../stacks/stack.ts';
import { UserError } from '../user-error.ts';

/** Whether they may start, confirm and end its runs: asked live. Rejects when GitHub cannot be asked: try again. */
export async function isWriter(
  access: Pick<Access, 'require'>,
  actor: Actor,
  stack: Pick<Stack, 'account' | 'repository' | 'id'>,
): Promise<boolean> {
  try {
    return (await access.require(actor, stack, 'writer')) !== null;
  } catch (error) {
    if (error instanceof UserError && error.code === 'forbidden') return false;
    throw error;
  }
}
