import { type Kysely, sql } from 'kysely';
import type { Claim, ClaimOptions } from '../webhooks/delivery-store.ts';
import type { DeliveryRow, Schema } from './schema.ts';

/**
 * What to send next. It goes from webhook to webhook, so that a queue of 100,000 for one that hangs costs
 * the others nothing, and never reads a queue beyond what it takes.
 */
export async function claimDue(db: Kysely<Schema>, options: ClaimOptions): Promise<readonly Claim[]> {
  const inFlight = await countInFlight(db, options.nowMs);
  const claims: Claim[] = [];
  for (const webhookId of inTurn(await webhooksWithDue(db, options.nowMs), options.afterWebhook)) {
    const ofWebhook = options.perWebhook - (inFlight.get(webhookId) ?? 0);
    const free = Math.min(ofWebhook, options.limit - claims.length);
    if (free <= 0) continue;
    for (const row of await dueOf(db, webhookId, options.nowMs, free)) {
      claims.push(await lease(db, row, options));
    }
  }
  return claims;
}

async function countInFlight(db: Kysely<Schema>, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('delivery')
    .select((row) => ['webhook_id', row.fn.countAll<number>().as('count')])
    .where('lease_until_ms', '>', nowMs)
    .groupBy('webhook_id')
    .execute();
  return new Map(rows.map((row) => [row.webhook_id, row.count]));
}

/** A loose index scan: one step for each webhook with anything to come, however much that is. */
async function webhooksWithDue(db: Kysely<Schema>, nowMs: number): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive hook (id) as (
      select min(webhook_id) from delivery where next_at_ms is not null
      union all
      select (
        select min(webhook_id) from delivery where next_at_ms is not null and webhook_id > hook.id
      ) from hook where hook.id is not null
    )
    select id from hook where id is not null and exists (
      select 1 from delivery where webhook_id = hook.id and next_at_ms <= ${nowMs}
    ) order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Those behind the one served last come first: while there is not room for all, all get their turn. */
function inTurn(ids: readonly string[], after: string | null): readonly string[] {
  if (after === null) return ids;
  return [...ids.filter((id) => id > after), ...ids.filter((id) => id <= after)];
}

/**
 * `pending` means that the first attempt has no result yet: while it has none, later states of the same run
 * wait, and once it has one, good or bad, they do not. A crash in between leaves it pending, thus in order.
 */
async function dueOf(
  db: Kysely<Schema>,
  webhookId: string,
  nowMs: number,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  return db
    .selectFrom('delivery as due')
    .selectAll('due')
    .where('due.webhook_id', '=', webhookId)
    .where('due.next_at_ms', '<=', nowMs)
    .where(({ and, not, exists, eb, selectFrom }) =>
      not(
        and([
          eb('due.status', '=', 'pending'),
          exists(
            selectFrom('delivery as earlier')
              .select('earlier.id')
              .whereRef('earlier.webhook_id', '=', 'due.webhook_id')
              .whereRef('earlier.run_id', '=', 'due.run_id')
              .whereRef('earlier.state_version', '<', 'due.state_version')
              .where('earlier.status', '=', 'pending')
              .where('earlier.next_at_ms', 'is not', null),
          ),
        ]),
      ),
    )
    .orderBy('due.next_at_ms')
    .orderBy('due.id')
    .limit(limit)
    .execute();
}

async function lease(db: Kysely<Schema>, row: DeliveryRow, options: ClaimOptions): Promise<Claim> {
  const attempt = row.attempts + 1;
  if (row.lease_until_ms !== null) {
    await db
      .updateTable('attempt')
      .set({ outcome: 'unknown' })
      .where('delivery_id', '=', row.id)
      .where('outcome', '=', 'started')
      .execute();
  }
  await db
    .updateTable('delivery')
    .set({ attempts: attempt, next_at_ms: options.leaseUntilMs, lease_until_ms: options.leaseUntilMs })
    .where('id', '=', row.id)
    .execute();
  await db
    .insertInto('attempt')
    .values({
      delivery_id: row.id,
      number: attempt,
      started_at_ms: options.nowMs,
      duration_ms: null,
      outcome: 'started',
      status_code: null,
      error: null,
      detail: null,
      exchange: null,
    })
    .execute();
  return {
    deliveryId: row.id,
    webhookId: row.webhook_id,
    runId: row.run_id,
    stateVersion: row.state_version,
    attempt,
    tries: attempt - row.earlier_attempts,
  };
}
