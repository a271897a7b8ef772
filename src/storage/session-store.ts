import { grantsSchema } from '../access/grants.ts';
import type { SessionRecord, SessionStore } from '../access/session-store.ts';
import type { SessionRow } from './access-rows.ts';
import type { Database } from './database.ts';

export function createSessionStore(database: Database): SessionStore {
  return {
    async insert(tx, { id, hash, userId, login, email, userAgent, createdAtMs, lastUsedAtMs, grants }) {
      await database
        .inside(tx)
        .insertInto('session')
        .values({
          ...{ id, hash, user_id: userId, login, email, user_agent: userAgent },
          created_at_ms: createdAtMs,
          last_used_at_ms: lastUsedAtMs,
          grants: grants === null ? null : JSON.stringify(grants),
        })
        .execute();
    },

    async findByHash(hash) {
      const query = database.read.selectFrom('session').selectAll().where('hash', '=', hash);
      const row = await query.executeTakeFirst();
      return row ? toSession(row) : null;
    },

    async listOf(userId) {
      const query = database.read.selectFrom('session').selectAll().where('user_id', '=', userId);
      return (await query.orderBy('id', 'desc').execute()).map(toSession);
    },

    async setUsed(tx, id, atMs) {
      const query = database.inside(tx).updateTable('session').set({ last_used_at_ms: atMs });
      await query.where('id', '=', id).execute();
    },

    async removeByHash(tx, hash) {
      await database.inside(tx).deleteFrom('session').where('hash', '=', hash).execute();
    },

    async remove(tx, userId, id) {
      const query = database.inside(tx).deleteFrom('session').where('id', '=', id);
      return (await query.where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n;
    },

    async removeAllOf(tx, userId) {
      const query = database.inside(tx).deleteFrom('session').where('user_id', '=', userId);
      return Number((await query.executeTakeFirst()).numDeletedRows);
    },

    async removeOthers(tx, keptId) {
      const all = database.inside(tx).deleteFrom('session');
      const query = keptId === null ? all : all.where('id', '!=', keptId);
      return Number((await query.executeTakeFirst()).numDeletedRows);
    },

    async removeExpired(tx, createdBeforeMs, unusedSinceMs) {
      const query = database
        .inside(tx)
        .deleteFrom('session')
        .where(({ eb, or }) =>
          or([eb('created_at_ms', '<=', createdBeforeMs), eb('last_used_at_ms', '<=', unusedSinceMs)]),
        );
      return Number((await query.executeTakeFirst()).numDeletedRows);
    },
  };
}

function toSession(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    userId: row.user_id,
    login: row.login,
    email: row.email,
    userAgent: row.user_agent,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    grants: row.grants === null ? null : grantsSchema.parse(JSON.parse(row.grants)),
  };
}
