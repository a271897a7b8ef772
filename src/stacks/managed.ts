import type { Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { Stack } from './stack.ts';
import type { StackStore } from './stack-store.ts';

/** Where the repository file lies: in the default branch, and nowhere else. */
export const repositoryFilePath = '.github/slipway.yml';

/** Throws `managed-by-file` for what the repository file would undo. */
export function refuseManaged({ managedBy, id, repository }: Stack): void {
  if (managedBy === null) return;
  throw new UserError(
    'managed-by-file',
    `The stack ${id} is managed by ${repositoryFilePath} of ${repository.fullName}.`,
    {
      hint: `Change its entry there, on the branch ${repository.defaultBranch}; without the entry the stack can be changed and deleted here.`,
    },
  );
}

/** The same for one variable; others of the stack are free. */
export async function refuseManagedVariable(
  store: Pick<StackStore, 'environment'>,
  tx: Tx,
  stack: Stack,
  name: string,
): Promise<void> {
  const now = (await store.environment(stack.key, tx)).find((variable) => variable.name === name);
  if (!now?.managedBy) return;
  throw new UserError(
    'managed-by-file',
    `The variable ${name} is set by ${repositoryFilePath} of ${stack.repository.fullName}.`,
    { hint: 'Change it there, or take it out of the file first.' },
  );
}
