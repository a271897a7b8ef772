import { sql } from 'kysely';
import type { InstallationStore } from '../github/installation-store.ts';
import type { Account, Repository } from '../stacks/repository.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Database } from './database.ts';
import type { AccountRow, RepositoryRow } from './schema.ts';

export function createRepositoryStore(database: Database): RepositoryStore & InstallationStore {
  return {
    async find(id) {
      const row = await database.read
        .selectFrom('repository')
        .selectAll()
        .where('id', '=', id)
        .where('removed', '=', 0)
        .executeTakeFirst();
      return row ? toRepository(row) : null;
    },

    async list({ account, after, limit }) {
      let query = database.read
        .selectFrom('repository')
        .innerJoin('account', 'account.id', 'repository.account_id')
        .selectAll('repository')
        .select('account.login')
        .where('repository.removed', '=', 0)
        .where('account.suspended', '=', 0);
      if (after !== null) query = query.where('repository.id', '>', after);
      if (account !== null) {
        query = query.where((where) => where.fn('lower', ['account.login']), '=', account.toLowerCase());
      }
      const rows = await query.orderBy('repository.id').limit(limit).execute();
      return rows.map((row) => ({ account: row.login, repository: toRepository(row) }));
    },

    async findAccount(id) {
      const query = database.read.selectFrom('account').selectAll().where('id', '=', id);
      const row = await query.executeTakeFirst();
      return row ? toAccount(row) : null;
    },

    async listAccounts({ login, after, limit }) {
      let query = database.read.selectFrom('account').selectAll().where('id', '>', after);
      if (login !== null) {
        query = query.where((where) => where.fn('lower', ['login']), '=', login.toLowerCase());
      }
      return (await query.orderBy('id').limit(limit).execute()).map(toAccount);
    },

    async saveAccount(tx, account) {
      const db = database.inside(tx);
      // GitHub gave the name to somebody else, so its former holder has another that we have not heard yet.
      // Under the old one, tokens for the new holder would see the stacks of the former.
      await db
        .updateTable('account')
        .set({ login: sql<string>`'~' || id` })
        .where((where) => where.fn('lower', ['login']), '=', account.login.toLowerCase())
        .where('id', '!=', account.id)
        .execute();
      const row = {
        login: account.login,
        installation_id: account.installationId,
        suspended: account.suspended ? 1 : 0,
      } as const;
      await db
        .insertInto('account')
        .values({ id: account.id, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
    },

    async saveRepository(tx, repository) {
      const row = {
        account_id: repository.accountId,
        installation_id: repository.installationId,
        full_name: repository.fullName,
        default_branch: repository.defaultBranch,
        is_private: repository.isPrivate ? 1 : 0,
        archived: repository.isArchived ? 1 : 0,
        removed: 0,
      } as const;
      const db = database.inside(tx);
      await db
        .insertInto('repository')
        .values({ id: repository.id, file_unread: 0, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      // A transfer takes its stacks along: tokens of the former account must not run them. One whose id the new
      // account has already stays where it is, as two of one name could not be told apart.
      await db
        .updateTable('stack')
        .set({ account_id: repository.accountId })
        .where('repository_id', '=', repository.id)
        .where('account_id', '!=', repository.accountId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('stack as other')
                .select('other.key')
                .whereRef('other.id', '=', 'stack.id')
                .where('other.account_id', '=', repository.accountId),
            ),
          ),
        )
        .execute();
    },

    async markRemoved(tx, repositoryIds) {
      // One at a time: SQLite bounds the number of parameters, GitHub does not bound the list.
      for (const id of repositoryIds) {
        await database
          .inside(tx)
          .updateTable('repository')
          .set({ removed: 1 })
          .where('id', '=', id)
          .execute();
      }
    },

    async forgetInstallation(tx, installationId) {
      const db = database.inside(tx);
      const ofInstallation = ['installation_id', '=', installationId] as const;
      await db
        .updateTable('account')
        .set({ installation_id: null, suspended: 0 })
        .where(...ofInstallation)
        .execute();
      await db
        .updateTable('repository')
        .set({ removed: 1 })
        .where(...ofInstallation)
        .execute();
    },

    async installationIds() {
      const query = database.read.selectFrom('account').select('installation_id').orderBy('id');
      const rows = await query.where('installation_id', 'is not', null).execute();
      return rows.flatMap((row) => row.installation_id ?? []);
    },

    async repositoryIds(installationId) {
      const rows = await database.read
        .selectFrom('repository')
        .select('id')
        .where('installation_id', '=', installationId)
        .where('removed', '=', 0)
        .orderBy('id')
        .execute();
      return rows.map((row) => row.id);
    },
  };
}

function toAccount({ id, login, installation_id: installationId, suspended }: AccountRow): Account {
  return { id, login, installationId, suspended: suspended === 1 };
}

export function toRepository(row: Omit<RepositoryRow, 'removed' | 'file_unread'>): Repository {
  return {
    id: row.id,
    accountId: row.account_id,
    installationId: row.installation_id,
    fullName: row.full_name,
    defaultBranch: row.default_branch,
    isPrivate: row.is_private === 1,
    ...(row.archived === 1 ? { isArchived: true } : {}),
  };
}
