import type { Tx } from '../tx.ts';
import type { Claim, DeliveryStore, Queue, Want } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { preparedInside } from './prepared.ts';
import type { DeliveryRow } from './schema.ts';

type DueRow = Pick<
  DeliveryRow,
  | 'id'
  | 'run_id'
  | 'state_version'
  | 'attempts'
  | 'earlier_attempts'
  | 'rejections'
  | 'lease_until_ms'
  | 'created_at_ms'
> & { readonly version: number; readonly body: Uint8Array | null };

/**
 * What to send next: a few steps of an index for each webhook that is looked at, however long its queue. The pump
 * knows which these are, so that a queue of 100,000 for one that hangs costs the others nothing.
 */
export function createClaim(database: Database): DeliveryStore['claim'] {
  const statementsInside = preparedInside(database, (connection) => ({
    inFlight: connection
      .prepare<[string, number], number>(
        'select count(*) from delivery where webhook_id = ? and lease_until_ms > ?',
      )
      .pluck(),
    // `pending` means that the first attempt has no result yet: while it has none, later states of the same run
    // wait, and once it has one, good or bad, they do not. A crash in between leaves it pending, thus in order.
    due: connection.prepare<[string, number, number], DueRow>(
      `select due.id, due.run_id, due.state_version, due.attempts, due.earlier_attempts, due.rejections,
        due.lease_until_ms, due.created_at_ms, webhook.version, payload.body
      from delivery as due
      join webhook on webhook.id = due.webhook_id and webhook.enabled = 1
      left join payload on payload.run_id = due.run_id and payload.state_version = due.state_version
      where due.webhook_id = ? and due.next_at_ms <= ? and not (due.status = 'pending' and exists (
        select 1 from delivery as earlier
        where earlier.webhook_id = due.webhook_id and earlier.run_id = due.run_id
          and earlier.state_version < due.state_version
          and earlier.status = 'pending' and earlier.next_at_ms is not null
      ))
      order by due.next_at_ms, due.id limit ?`,
    ),
    nextAt: connection
      .prepare<[string], number | null>(
        'select min(next_at_ms) from delivery where webhook_id = ? and next_at_ms is not null',
      )
      .pluck(),
    lease: connection.prepare<[number, number, string]>(
      'update delivery set attempts = attempts + 1, next_at_ms = ?, lease_until_ms = ? where id = ?',
    ),
    start: connection.prepare<[string, number, number]>(
      "insert into attempt (delivery_id, number, started_at_ms, outcome) values (?, ?, ?, 'started')",
    ),
    losePrevious: connection.prepare<[string]>(
      "update attempt set outcome = 'unknown' where delivery_id = ? and outcome = 'started'",
    ),
  }));

  return (tx: Tx, { nowMs, leaseUntilMs, wants, limit }) => {
    const statements = statementsInside(tx);

    function take(row: DueRow, webhookId: string): Claim {
      const attempt = row.attempts + 1;
      if (row.lease_until_ms !== null) statements.losePrevious.run(row.id);
      statements.lease.run(leaseUntilMs, leaseUntilMs, row.id);
      statements.start.run(row.id, attempt, nowMs);
      return {
        deliveryId: row.id,
        webhookId,
        webhookVersion: row.version,
        runId: row.run_id,
        stateVersion: row.state_version,
        attempt,
        tries: attempt - row.earlier_attempts,
        rejections: row.rejections,
        createdAtMs: row.created_at_ms,
        body: row.body,
      };
    }

    function dueOf({ webhookId, inFlightAtMost }: Want, left: number): readonly DueRow[] {
      const inFlight = statements.inFlight.get(webhookId, nowMs) ?? 0;
      const free = Math.min(inFlightAtMost - inFlight, left);
      return free > 0 ? statements.due.all(webhookId, nowMs, free) : [];
    }

    const claims: Claim[] = [];
    const queues: Queue[] = [];
    for (const want of wants) {
      const { webhookId } = want;
      for (const row of dueOf(want, limit - claims.length)) claims.push(take(row, webhookId));
      queues.push({ webhookId, nextAtMs: statements.nextAt.get(webhookId) ?? null });
    }
    return Promise.resolve({ claims, queues });
  };
}
