import { sql } from 'kysely';
import type { EnvironmentAccess, EnvironmentVariable } from '../stacks/environment.ts';
import type { ManagedBy } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Database } from './database.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';
import { selectStacks, toStack } from './stack-rows.ts';

export function createStackStore(database: Database, box: SecretBox): StackStore {
  const from = (tx?: Parameters<Database['inside']>[0]) => (tx ? database.inside(tx) : database.read);

  return {
    async find(account, id) {
      const row = await selectStacks(database.read)
        .where((where) => where.fn('lower', ['account.login']), '=', account.toLowerCase())
        .where('stack.id', '=', id)
        .executeTakeFirst();
      return row ? toStack(row) : null;
    },

    async findByKey(key, tx) {
      const row = await selectStacks(from(tx)).where('stack.key', '=', key).executeTakeFirst();
      return row ? toStack(row) : null;
    },

    async findAll(keys) {
      if (keys.length === 0) return [];
      return (await selectStacks(database.read).where('stack.key', 'in', keys).execute()).map(toStack);
    },

    async ofAccount(account) {
      const rows = await selectStacks(database.read)
        .where((where) => where.fn('lower', ['account.login']), '=', account.toLowerCase())
        .orderBy('stack.id')
        .execute();
      return rows.map(toStack);
    },

    async findInAccount(accountId, id, tx) {
      const row = await selectStacks(from(tx))
        .where('stack.account_id', '=', accountId)
        .where('stack.id', '=', id)
        .executeTakeFirst();
      return row ? toStack(row) : null;
    },

    async vendorNames() {
      const vendor = sql<string>`json_each.key`.as('vendor');
      const rows = await database.read
        .selectFrom(['stack', sql`json_each(stack.settings, '$.vendor')`.as('json_each')])
        .select(vendor)
        .distinct()
        .execute();
      return rows.map((row) => row.vendor);
    },

    async repositoryIds() {
      const rows = await database.read.selectFrom('stack').select('repository_id').distinct().execute();
      return new Set(rows.map((row) => row.repository_id));
    },

    async ofRepository(repositoryId, tx) {
      const rows = await selectStacks(from(tx))
        .where('stack.repository_id', '=', repositoryId)
        .orderBy('stack.id')
        .execute();
      return rows.map(toStack);
    },

    async insert(tx, stack) {
      const result = await database
        .inside(tx)
        .insertInto('stack')
        .values({
          key: stack.key,
          id: stack.id,
          account_id: stack.accountId,
          repository_id: stack.repositoryId,
          settings: JSON.stringify(stack.settings),
          lock: null,
          managed_by: stack.managedBy ?? null,
          created_at_ms: stack.createdAtMs,
        })
        .onConflict((conflict) => conflict.columns(['account_id', 'id']).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n ? 'inserted' : 'exists';
    },

    async updateSettings(tx, key, settings) {
      const update = database
        .inside(tx)
        .updateTable('stack')
        .set({ settings: JSON.stringify(settings) });
      await update.where('key', '=', key).execute();
    },

    async remove(tx, key) {
      await database.inside(tx).deleteFrom('stack').where('key', '=', key).execute();
    },

    async setManagedBy(tx, key, managedBy) {
      const update = database.inside(tx).updateTable('stack').set({ managed_by: managedBy });
      await update.where('key', '=', key).execute();
    },

    async setLock(tx, key, lock) {
      const update = database
        .inside(tx)
        .updateTable('stack')
        .set({ lock: lock && JSON.stringify(lock) });
      await update.where('key', '=', key).execute();
    },

    async environment(key, tx) {
      const rows = await from(tx)
        .selectFrom('stack_variable')
        .selectAll()
        .where('stack_key', '=', key)
        .orderBy('name')
        .execute();
      return rows.map((row) => ({
        name: row.name,
        value: box.open(purposes.variable(key, row.name), row.value).toString('utf8'),
        secret: row.secret === 1,
        access: row.access as EnvironmentAccess,
        ...(row.managed_by === null ? {} : { managedBy: row.managed_by as ManagedBy }),
      }));
    },

    async putVariable(tx, key, variable: EnvironmentVariable) {
      const columns = {
        secret: variable.secret ? 1 : 0,
        access: variable.access,
        value: box.seal(purposes.variable(key, variable.name), variable.value),
        managed_by: variable.managedBy ?? null,
      } as const;
      await database
        .inside(tx)
        .insertInto('stack_variable')
        .values({ stack_key: key, name: variable.name, ...columns })
        .onConflict((conflict) => conflict.columns(['stack_key', 'name']).doUpdateSet(columns))
        .execute();
    },

    async removeVariable(tx, key, name) {
      const result = await database
        .inside(tx)
        .deleteFrom('stack_variable')
        .where('stack_key', '=', key)
        .where('name', '=', name)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
