import type { ListedNotice, NoticeStore, Severity } from '../policies/notice-store.ts';
import type { Database } from './database.ts';
import type { NoticeRow } from './policy-rows.ts';

export function createNoticeStore(database: Database): NoticeStore {
  return {
    async insert(tx, notice) {
      const row: NoticeRow = {
        id: notice.id,
        account_id: notice.accountId,
        stack_key: notice.stackKey,
        run_id: notice.runId,
        policy_id: notice.policyId,
        severity: notice.severity,
        title: notice.title,
        body: notice.body,
        at_ms: notice.atMs,
      };
      await database.inside(tx).insertInto('notice').values(row).execute();
    },

    async isTold(tx, { runId, policyId, title }) {
      const ofRun = database.inside(tx).selectFrom('notice').select('id').where('run_id', '=', runId);
      const same = ofRun.where('policy_id', '=', policyId).where('title', '=', title);
      return (await same.limit(1).executeTakeFirst()) !== undefined;
    },

    async list({ account, stackKey, severity, before, limit }) {
      let query = database.read
        .selectFrom('notice')
        .innerJoin('account', 'account.id', 'notice.account_id')
        .selectAll('notice')
        .select('account.login')
        .orderBy('notice.id', 'desc')
        .limit(limit);
      if (account !== null) {
        query = query.where((where) => where.fn('lower', ['account.login']), '=', account.toLowerCase());
      }
      if (stackKey !== undefined) query = query.where('notice.stack_key', '=', stackKey);
      if (severity !== undefined) query = query.where('notice.severity', '=', severity);
      if (before !== null) query = query.where('notice.id', '<', before);
      return (await query.execute()).map(toNotice);
    },

    async removeBefore(tx, beforeMs, limit) {
      const db = database.inside(tx);
      const old = db.selectFrom('notice').select('id').where('at_ms', '<', beforeMs);
      const ofNone = old.where('run_id', 'is', null).limit(limit);
      const result = await db.deleteFrom('notice').where('id', 'in', ofNone).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

function toNotice(row: NoticeRow & { login: string }): ListedNotice {
  return {
    id: row.id,
    account: row.login,
    accountId: row.account_id,
    stackKey: row.stack_key,
    runId: row.run_id,
    policyId: row.policy_id,
    severity: row.severity as Severity,
    title: row.title,
    body: row.body,
    atMs: row.at_ms,
  };
}
