import type { Kysely, Selectable } from 'kysely';
import type { ManagedBy, Stack, StackLock, StackSettings } from '../stacks/stack.ts';
import { toRepository } from './repository-store.ts';
import type { AccountRow, RepositoryRow, Schema, StackRow } from './schema.ts';

/** Stacks with their account and repository, for `toStack`. */
export function selectStacks(db: Kysely<Schema>) {
  return db
    .selectFrom('stack')
    .innerJoin('account', 'account.id', 'stack.account_id')
    .innerJoin('repository', 'repository.id', 'stack.repository_id')
    .innerJoin('account as owner', 'owner.id', 'repository.account_id')
    .select([
      'stack.key',
      'stack.id',
      'stack.settings',
      'stack.lock',
      'stack.managed_by',
      'stack.created_at_ms',
      'account.login',
      'repository.id as repository_id',
      'repository.account_id',
      'repository.installation_id',
      'repository.full_name',
      'repository.default_branch',
      'repository.is_private',
      'repository.removed',
      'repository.archived',
      'owner.suspended',
    ]);
}

type JoinedRow = Pick<
  Selectable<StackRow>,
  'key' | 'id' | 'settings' | 'lock' | 'managed_by' | 'created_at_ms'
> &
  Pick<AccountRow, 'login' | 'suspended'> &
  Omit<RepositoryRow, 'id' | 'file_unread'> & { repository_id: number };

export function toStack(row: JoinedRow): Stack {
  return {
    key: row.key,
    account: row.login,
    id: row.id,
    repository: toRepository({ ...row, id: row.repository_id }),
    settings: JSON.parse(row.settings) as StackSettings,
    lock: row.lock === null ? null : (JSON.parse(row.lock) as StackLock),
    // A file that cannot be read any more must not keep people from changing what it left.
    managedBy: row.removed === 1 ? null : (row.managed_by as ManagedBy | null),
    createdAtMs: row.created_at_ms,
    ...awayOf(row),
  };
}

function awayOf({
  removed,
  suspended,
  archived,
}: Pick<JoinedRow, 'removed' | 'suspended' | 'archived'>): Pick<Stack, 'away'> {
  if (removed === 1) return { away: 'removed' };
  if (suspended === 1) return { away: 'suspended' };
  return archived === 1 ? { away: 'archived' } : {};
}
