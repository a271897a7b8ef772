import type { RepositoryFileStore } from '../github/repository-file/repository-file-store.ts';
import type { FileProblem } from '../stacks/file-problems.ts';
import type { Database } from './database.ts';

export function createRepositoryFileStore(database: Database): RepositoryFileStore {
  return {
    async find(repositoryId, tx) {
      const row = await (tx ? database.inside(tx) : database.read)
        .selectFrom('repository_file')
        .selectAll()
        .where('repository_id', '=', repositoryId)
        .executeTakeFirst();
      if (!row) return null;
      const problems = JSON.parse(row.problems) as readonly FileProblem[];
      return { repositoryId, commit: row.commit_hash, blob: row.blob_hash, problems };
    },

    async save(tx, { repositoryId, commit, blob, problems }) {
      const row = { commit_hash: commit, blob_hash: blob, problems: JSON.stringify(problems) };
      await database
        .inside(tx)
        .insertInto('repository_file')
        .values({ repository_id: repositoryId, ...row })
        .onConflict((conflict) => conflict.column('repository_id').doUpdateSet(row))
        .execute();
    },

    async remove(tx, repositoryId) {
      await database
        .inside(tx)
        .deleteFrom('repository_file')
        .where('repository_id', '=', repositoryId)
        .execute();
    },

    async isUnread(repositoryId) {
      const query = database.read.selectFrom('repository').select('file_unread');
      return (await query.where('id', '=', repositoryId).executeTakeFirst())?.file_unread === 1;
    },

    async setUnread(tx, repositoryId, isUnread) {
      const update = database.inside(tx).updateTable('repository');
      await update
        .set({ file_unread: isUnread ? 1 : 0 })
        .where('id', '=', repositoryId)
        .execute();
    },
  };
}
