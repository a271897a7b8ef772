import type { Claim, DeliveryStore, Queue, Want } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { preparedInside } from './prepared.ts';
import type { DeliveryRow, PolicyRequestRow } from './webhook-rows.ts';

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
>;

/**
 * What to send next: a few steps of an index for each webhook that is looked at, however long its queue. The pump
 * knows which these are, so that a queue of 100,000 for one that hangs costs the others nothing.
 */
export function createClaim(database: Database): DeliveryStore['claim'] {
  const bodies = createBodyCache();
  const statementsInside = preparedInside(database, (connection) => ({
    version: connection
      .prepare<[string], number>('select version from webhook where id = ? and enabled = 1')
      .pluck(),
    inFlight: connection
      .prepare<[string, number], number>(
        'select count(*) from delivery where webhook_id = ? and lease_until_ms > ?',
      )
      .pluck(),
    // `pending` means that the first attempt has no result yet: while it has none, later states of the same run
    // wait, and once it has one, good or bad, they do not. A crash in between leaves it pending, thus in order.
    due: connection.prepare<[string, number, number, number], DueRow>(
      `select id, run_id, state_version, attempts, earlier_attempts, rejections, lease_until_ms, created_at_ms
      from delivery as due
      where webhook_id = ? and next_at_ms <= ? and (lease_until_ms is null or lease_until_ms <= ?)
      and not (status = 'pending' and exists (
        select 1 from delivery as earlier
        where earlier.webhook_id = due.webhook_id and earlier.run_id = due.run_id
          and earlier.state_version < due.state_version
          and earlier.status = 'pending' and earlier.next_at_ms is not null
      ))
      order by next_at_ms, id limit ?`,
    ),
    nextAt: connection
      .prepare<[string], number | null>(
        'select min(next_at_ms) from delivery where webhook_id = ? and next_at_ms is not null',
      )
      .pluck(),
    body: connection
      .prepare<[string, number], Uint8Array>(
        'select body from payload where run_id = ? and state_version = ?',
      )
      .pluck(),
    request: connection.prepare<[string], Pick<PolicyRequestRow, 'state_version' | 'headers' | 'body'>>(
      'select state_version, headers, body from policy_request where delivery_id = ?',
    ),
    lease: connection.prepare<[number, number, string]>(
      'update delivery set attempts = attempts + 1, lease_until_ms = ?, started_at_ms = ? where id = ?',
    ),
    lose: connection.prepare<[string]>(
      `insert into attempt (delivery_id, number, started_at_ms, outcome)
      select id, attempts, started_at_ms, 'unknown' from delivery where id = ?`,
    ),
  }));

  return (tx, { nowMs, leaseUntilMs, wants }) => {
    const statements = statementsInside(tx);

    function take(row: DueRow, webhookId: string, webhookVersion: number): Claim {
      const { id: deliveryId, run_id: runId } = row;
      const attempt = row.attempts + 1;
      if (row.lease_until_ms !== null) statements.lose.run(deliveryId);
      statements.lease.run(leaseUntilMs, nowMs, deliveryId);
      return {
        ...{ deliveryId, webhookId, webhookVersion, runId, attempt, ...said(row) },
        tries: attempt - row.earlier_attempts,
        startedAtMs: nowMs,
        rejections: row.rejections,
        createdAtMs: row.created_at_ms,
      };
    }

    function said({ id, run_id: runId, state_version: stateVersion }: DueRow) {
      if (stateVersion !== null) {
        const body = bodies.of(runId, stateVersion, () => statements.body.get(runId, stateVersion) ?? null);
        return { stateVersion, body };
      }
      const request = statements.request.get(id);
      if (!request) throw new Error(`delivery ${id} tells nothing`);
      const policyHeaders = JSON.parse(request.headers) as Record<string, string>;
      return { stateVersion: request.state_version, body: request.body, policyHeaders };
    }

    const claims: Claim[] = [];

    /** When to look again at the latest. */
    function claimFrom({ webhookId, inFlightAtMost }: Want): number | null {
      const version = statements.version.get(webhookId);
      const inFlight = statements.inFlight.get(webhookId, nowMs) ?? 0;
      const free = inFlightAtMost - inFlight;
      if (version !== undefined && free > 0) {
        const rows = statements.due.all(webhookId, nowMs, nowMs, free);
        for (const row of rows) claims.push(take(row, webhookId, version));
        if (rows.length === free) return nowMs;
      }
      return statements.nextAt.get(webhookId) ?? null;
    }

    const queues = wants.map((want): Queue => ({ webhookId: want.webhookId, nextAtMs: claimFrom(want) }));
    return Promise.resolve({ claims, queues });
  };
}

const maxCachedBytes = 4 * 1024 * 1024;

/** The webhooks of a stack are told the same, most often at the same time; a payload never changes. */
function createBodyCache() {
  const bodies = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    of(runId: string, stateVersion: number, read: () => Uint8Array | null): Uint8Array | null {
      const key = `${runId} ${stateVersion}`;
      const known = bodies.get(key);
      if (known !== undefined) return known;
      const body = read();
      if (body === null) return null;
      bodies.set(key, body);
      bytes += body.byteLength;
      for (const [oldest, { byteLength }] of bodies) {
        if (bytes <= maxCachedBytes) break;
        bodies.delete(oldest);
        bytes -= byteLength;
      }
      return body;
    },
  };
}
