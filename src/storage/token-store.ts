import type { Role } from '../access/actor.ts';
import type { TokenRecord, TokenStore } from '../access/token-store.ts';
import type { Database } from './database.ts';
import type { TokenRow } from './schema.ts';

export function createTokenStore(database: Database): TokenStore {
  return {
    async insert(tx, token) {
      const { id, name, role, account, hash, createdAtMs } = token;
      await database
        .inside(tx)
        .insertInto('token')
        .values({ id, name, role, account, hash, created_at_ms: createdAtMs })
        .execute();
    },
    async findByHash(hash) {
      const query = database.read.selectFrom('token').selectAll().where('hash', '=', hash);
      const row = await query.executeTakeFirst();
      return row ? toToken(row) : null;
    },
    async list() {
      return (await database.read.selectFrom('token').selectAll().orderBy('id').execute()).map(toToken);
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
  };
}
