import type { Actor, Role } from '../access/actor.ts';
import type { Access } from '../access/roles.ts';
import type { Stack } from '../stacks/stack.ts';
import { UserError } from '../user-error.ts';

/**
 * What they are there, if that lets them start, confirm and end its runs, else null: asked live. Rejects when GitHub
 * cannot be asked: try again.
 */
export async function writerRole(
  access: Pick<Access, 'require'>,
  actor: Actor,
  stack: Pick<Stack, 'account' | 'repository' | 'id'>,
): Promise<Role | null> {
  try {
    return await access.require(actor, stack, 'writer');
  } catch (error) {
    if (error instanceof UserError && error.code === 'forbidden') return null;
    throw error;
  }
}

export const isWriter = async (...asked: Parameters<typeof writerRole>): Promise<boolean> =>
  (await writerRole(...asked)) !== null;
