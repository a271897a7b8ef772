import type { DeliveryStore, Finished } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { encodeExchange } from './exchange-column.ts';
import { preparedInside } from './prepared.ts';

/**
 * Stores what came of attempts: an update and a row for each, hundreds of them in a transaction under load. While an
 * attempt is under way the lease of its delivery stands for it, so that its row is written once.
 */
export function createFinish(database: Database): DeliveryStore['finish'] {
  const statementsInside = preparedInside(database, (connection) => ({
    // No next time: it was stopped while it was in flight, and only a success is news then.
    delivered: connection.prepare(
      `update delivery set
        status = 'delivered', rejections = ?, next_at_ms = null, lease_until_ms = null, started_at_ms = null
      where id = ? and attempts = ? and lease_until_ms is not null`,
    ),
    other: connection.prepare(
      `update delivery set
        status = case when next_at_ms is null or @status = 'unchanged' then status else @status end,
        next_at_ms = case when next_at_ms is null then null else @nextAtMs end,
        rejections = @rejections,
        lease_until_ms = null,
        started_at_ms = null
      where id = @id and attempts = @attempt and lease_until_ms is not null`,
    ),
    attempt: connection.prepare(`insert into attempt ${columns} values (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    // It was given up for lost, or its delivery is gone.
    lateAttempt: connection.prepare(
      `insert into attempt ${columns} select id, ?, ?, ?, ?, ?, ?, ?, ? from delivery where id = ?
      on conflict (delivery_id, number) do update set
        duration_ms = excluded.duration_ms, outcome = excluded.outcome, status_code = excluded.status_code,
        error = excluded.error, detail = excluded.detail, exchange = excluded.exchange`,
    ),
  }));

  return (tx, results) => {
    const statements = statementsInside(tx);
    const counted: Finished[] = [];
    // In the order of the table: neighbours are written to the same page.
    for (const finished of results.toSorted(byDelivery)) {
      const { deliveryId: id, attempt, status, rejections, nextAttemptAtMs: nextAtMs } = finished;
      const { changes } =
        status === 'delivered'
          ? statements.delivered.run(rejections, id, attempt)
          : statements.other.run({ id, attempt, status, rejections, nextAtMs });
      if (changes === 1) {
        statements.attempt.run(id, ...valuesOf(finished));
        counted.push(finished);
      } else {
        statements.lateAttempt.run(...valuesOf(finished), id);
      }
    }
    return Promise.resolve(counted);
  };
}

function byDelivery(one: Finished, other: Finished): number {
  return one.deliveryId < other.deliveryId ? -1 : 1;
}

const columns = `(delivery_id, number, started_at_ms, duration_ms, outcome, status_code, error, detail, exchange)`;

function valuesOf(finished: Finished): readonly unknown[] {
  return [
    finished.attempt,
    finished.startedAtMs,
    finished.durationMs,
    finished.outcome,
    finished.statusCode,
    finished.error,
    finished.detail,
    finished.exchange && encodeExchange(finished.exchange, finished),
  ];
}
