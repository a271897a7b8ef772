import type { Role } from '../access/actor.ts';
import type { TokenRecord, TokenStore } from '../access/token-store.ts';
import type { TokenRow } from './access-rows.ts';
import type { Database } from './database.ts';

export function createTokenStore(database: Database): TokenStore {
  return {
    async insert(tx, token) {
      const { id, name, role, account, hash, createdAtMs, createdBy, expiresAtMs, lastUsedAtMs } = token;
      await database
        .inside(tx)
        .insertInto('token')
        .values({
          ...{ id, name, role, account, hash, created_at_ms: createdAtMs, created_by: createdBy },
          ...{ expires_at_ms: expiresAtMs, last_used_at_ms: lastUsedAtMs },
        })
        .execute();
    },
    async findByHash(hash) {
      const query = database.read.selectFrom('token').selectAll().where('hash', '=', hash);
      const row = await query.executeTakeFirst();
      return row ? toToken(row) : null;
    },
    async list({ after, limit }) {
      const query = database.read
        .selectFrom('token')
        .selectAll()
        .where('id', '>', after ?? '');
      return (await query.orderBy('id').limit(limit).execute()).map(toToken);
    },
    async setUsed(tx, id, atMs) {
      const query = database.inside(tx).updateTable('token').set({ last_used_at_ms: atMs });
      await query.where('id', '=', id).execute();
    },
    async remove(tx, id) {
      const result = await database.inside(tx).deleteFrom('token').where('id', '=', id).executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

function toToken(row: TokenRow): TokenRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role as Role,
    account: row.account,
    createdAtMs: row.created_at_ms,
    createdBy: row.created_by,
    expiresAtMs: row.expires_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
  };
}
