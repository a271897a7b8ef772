import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../access/actor.ts';
import type { AuditQuery, AuditResult, AuditRow, AuditStore } from '../access/audit-log.ts';
import type { Way } from '../access/origin.ts';
import type { AuditTableRow } from './access-rows.ts';
import type { Database } from './database.ts';

export function createAuditStore(database: Database): AuditStore {
  return {
    async add(tx, { actor, origin, subject, params, ...row }) {
      const { seq } = await database
        .inside(tx)
        .insertInto('audit')
        .values({
          at_ms: row.atMs,
          ...{ actor_kind: actor.kind, actor_key: actor.key, actor_name: actor.name },
          ...{ via: origin.via, address: origin.address, forwarded_for: origin.forwardedFor },
          ...{ operation: row.operation, params: JSON.stringify(params) },
          ...{ repository_id: subject.repositoryId, account: subject.account },
          ...{ stack: subject.stack, run_id: subject.run },
          ...{ outcome: row.outcome, status: row.status, note: row.note },
        })
        .returning('seq')
        .executeTakeFirstOrThrow();
      return seq;
    },

    async complete(tx, seq, { outcome, status, note }, subject) {
      await database
        .inside(tx)
        .updateTable('audit')
        .set(({ fn, val }) => ({
          ...{ outcome, status, note },
          repository_id: fn.coalesce('repository_id', val(subject.repositoryId)),
          account: fn.coalesce('account', val(subject.account)),
          stack: fn.coalesce('stack', val(subject.stack)),
          run_id: fn.coalesce('run_id', val(subject.run)),
        }))
        .where('seq', '=', seq)
        .execute();
    },

    async list(query) {
      const found = await Promise.all(
        walksOf(query).map(async (walk) => (await walkAlong(walk, query).execute(database.read)).rows),
      );
      // The name of an actor may be the key of another one.
      const rows = new Map(found.flat().map((row) => [row.seq, row]));
      const newest = [...rows.values()].sort((one, other) => other.seq - one.seq);
      return newest.slice(0, query.limit).map(toRow);
    },

    async removeBefore(tx, beforeMs, limit) {
      const db = database.inside(tx);
      const old = db.selectFrom('audit').select('seq').where('at_ms', '<', beforeMs).limit(limit);
      const result = await db.deleteFrom('audit').where('seq', 'in', old).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

interface Walk {
  /** Null: along the log itself. */
  readonly index: string | null;
  readonly along: RawBuilder<boolean>;
}

/** Each ends with the number of a row, so that nothing has to be sorted, however much the log holds. */
export function walksOf({ account, stack, actor, sinceMs, untilMs }: AuditQuery): readonly Walk[] {
  if (actor !== null) {
    return [
      { index: 'audit_of_actor', along: sql`lower(actor_name) = ${actor.toLowerCase()}` },
      { index: 'audit_of_actor_key', along: sql`lower(actor_key) = ${actor.toLowerCase()}` },
    ];
  }
  if (stack !== null) return [{ index: 'audit_of_stack', along: sql`stack = ${stack}` }];
  const isOfTime = sinceMs !== null || untilMs !== null;
  // To look at each row of an account for its time takes longer than to go through all rows.
  if (account === null || isOfTime) return [{ index: null, along: sql`true` }];
  return [{ index: 'audit_of_account', along: sql`lower(account) = ${account.toLowerCase()}` }];
}

export function walkAlong({ index, along }: Walk, query: AuditQuery): RawBuilder<FoundRow> {
  const { account, stack, sinceMs, untilMs, before, limit } = query;
  const conditions = [along];
  if (account !== null) conditions.push(sql`lower(account) = ${account.toLowerCase()}`);
  if (stack !== null) conditions.push(sql`stack = ${stack}`);
  if (sinceMs !== null) conditions.push(sql`at_ms >= ${sinceMs}`);
  if (untilMs !== null) conditions.push(sql`at_ms < ${untilMs}`);
  if (before !== null) conditions.push(sql`seq < ${before}`);
  return sql`select * from audit ${index === null ? sql`not indexed` : sql`indexed by ${sql.ref(index)}`}
    where ${sql.join(conditions, sql` and `)} order by seq desc limit ${limit}`;
}

type FoundRow = Omit<AuditTableRow, 'seq'> & { readonly seq: number };

function toRow(row: FoundRow): AuditRow {
  return {
    seq: row.seq,
    atMs: row.at_ms,
    actor: { kind: row.actor_kind as Actor['kind'], key: row.actor_key, name: row.actor_name },
    origin: { via: row.via as Way, address: row.address, forwardedFor: row.forwarded_for },
    operation: row.operation,
    params: JSON.parse(row.params) as Record<string, string>,
    subject: {
      ...{ repositoryId: row.repository_id, account: row.account },
      ...{ stack: row.stack, run: row.run_id },
    },
    outcome: row.outcome as AuditResult['outcome'],
    status: row.status,
    note: row.note,
  };
}
