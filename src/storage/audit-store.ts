import { sql } from 'kysely';
import type { Actor } from '../access/actor.ts';
import type { AuditResult, AuditRow, AuditStore } from '../access/audit-log.ts';
import type { Way } from '../access/origin.ts';
import type { Database } from './database.ts';
import type { AuditTableRow } from './schema.ts';

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

    async list({ account, stack, actor, sinceMs, untilMs, before, limit }) {
      let query = database.read.selectFrom('audit').selectAll().orderBy('seq', 'desc').limit(limit);
      if (account !== null) query = query.where(sql`lower(account)`, '=', account.toLowerCase());
      if (stack !== null) query = query.where('stack', '=', stack);
      if (actor !== null) {
        query = query.where(({ or, eb }) =>
          or([
            eb(sql`lower(actor_name)`, '=', actor.toLowerCase()),
            eb(sql`lower(actor_key)`, '=', actor.toLowerCase()),
          ]),
        );
      }
      if (sinceMs !== null) query = query.where('at_ms', '>=', sinceMs);
      if (untilMs !== null) query = query.where('at_ms', '<', untilMs);
      if (before !== null) query = query.where('seq', '<', before);
      return (await query.execute()).map(toRow);
    },

    async removeBefore(tx, beforeMs, limit) {
      const db = database.inside(tx);
      const old = db.selectFrom('audit').select('seq').where('at_ms', '<', beforeMs).limit(limit);
      const result = await db.deleteFrom('audit').where('seq', 'in', old).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

function toRow(row: Omit<AuditTableRow, 'seq'> & { seq: number }): AuditRow {
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
