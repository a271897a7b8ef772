import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { AuditQuery } from '../../src/access/audit-log.ts';
import { walkAlong, walksOf } from '../../src/storage/audit-store.ts';
import { tempDatabase } from '../support/temp-database.ts';

const everything: AuditQuery = {
  ...{ account: null, stack: null, actor: null, sinceMs: null, untilMs: null, before: 9, limit: 51 },
};

test.each<Partial<AuditQuery>>([
  {},
  { account: 'acme' },
  { account: 'acme', stack: 'prod' },
  { stack: 'prod' },
  { actor: 'ada' },
  { account: 'acme', actor: 'ada', stack: 'prod' },
  { sinceMs: 5, untilMs: 9 },
  { account: 'acme', sinceMs: 5 },
  { actor: 'ada', untilMs: 9 },
])('for %s nothing of the audit log is sorted', async (filter) => {
  await using temp = tempDatabase();
  const { read } = temp.database;
  const query = { ...everything, ...filter };

  for (const walk of walksOf(query)) {
    const explained = sql<{ detail: string }>`explain query plan ${walkAlong(walk, query)}`;
    const details = (await explained.execute(read)).rows.map(({ detail }) => detail);
    expect(details).toHaveLength(1);
    expect(details[0]).toMatch(walk.index === null ? /INTEGER PRIMARY KEY/ : walk.index);
  }
});
