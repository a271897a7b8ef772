import type { AuditLog, AuditRow } from '../../src/access/audit-log.ts';

/** All rows of the log, newest first. */
export function auditRows(audit: Pick<AuditLog, 'list'>): Promise<readonly AuditRow[]> {
  return audit.list({
    ...{ account: null, stack: null, actor: null, sinceMs: null, untilMs: null, before: null, limit: 2000 },
  });
}
