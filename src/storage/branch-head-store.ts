import { sql } from 'kysely';
import type { BranchHeadStore } from '../runs/branch-heads.ts';
import type { Database } from './database.ts';

const trackedBranch = sql<string>`stack.settings ->> '$.branch'`;

export function createBranchHeadStore(database: Database): BranchHeadStore {
  return {
    async tracked() {
      const rows = await database.read
        .selectFrom('stack')
        .innerJoin('repository', 'repository.id', 'stack.repository_id')
        .innerJoin('account', 'account.id', 'repository.account_id')
        .select([
          'repository.id',
          'repository.account_id',
          'repository.installation_id',
          'repository.full_name',
          'repository.default_branch',
          'repository.is_private',
          trackedBranch.as('branch'),
        ])
        .distinct()
        .where('repository.removed', '=', 0)
        .where('repository.archived', '=', 0)
        .where('account.suspended', '=', 0)
        .orderBy('repository.id')
        .orderBy('branch')
        .execute();
      return rows.map((row) => ({
        repository: {
          id: row.id,
          accountId: row.account_id,
          installationId: row.installation_id,
          fullName: row.full_name,
          defaultBranch: row.default_branch,
          isPrivate: row.is_private === 1,
        },
        branch: row.branch,
      }));
    },

    async find(repositoryId, branch, tx) {
      const row = await (tx ? database.inside(tx) : database.read)
        .selectFrom('branch_head')
        .select(['hash', 'seen_at_ms'])
        .where('repository_id', '=', repositoryId)
        .where('branch', '=', branch)
        .executeTakeFirst();
      return row ? { hash: row.hash, seenAtMs: row.seen_at_ms } : null;
    },

    async save(tx, repositoryId, branch, { hash, seenAtMs }) {
      const row = { hash, seen_at_ms: seenAtMs };
      await database
        .inside(tx)
        .insertInto('branch_head')
        .values({ repository_id: repositoryId, branch, ...row })
        .onConflict((conflict) => conflict.columns(['repository_id', 'branch']).doUpdateSet(row))
        .execute();
    },

    async forgetUntracked(tx) {
      await database
        .inside(tx)
        .deleteFrom('branch_head')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('stack')
                .select('stack.key')
                .whereRef('stack.repository_id', '=', 'branch_head.repository_id')
                .whereRef(trackedBranch, '=', 'branch_head.branch'),
            ),
          ),
        )
        .execute();
    },
  };
}
