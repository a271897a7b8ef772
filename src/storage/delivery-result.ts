import type { DeliveryStore, Finished } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { preparedInside } from './prepared.ts';

/** Stores what came of attempts: two updates for each, hundreds of them in a transaction under load. */
export function createFinish(database: Database): DeliveryStore['finish'] {
  const statementsInside = preparedInside(database, (connection) => ({
    attempt: connection.prepare(
      `update attempt
      set outcome = ?, duration_ms = ?, status_code = ?, error = ?, detail = ?, exchange = ?
      where delivery_id = ? and number = ?`,
    ),
    // No next time: it was stopped while it was in flight, and only a success is news then.
    delivered: connection.prepare(
      `update delivery set status = 'delivered', rejections = ?, next_at_ms = null, lease_until_ms = null
      where id = ? and attempts = ? and lease_until_ms is not null`,
    ),
    other: connection.prepare(
      `update delivery set
        status = case when next_at_ms is null or @status = 'unchanged' then status else @status end,
        next_at_ms = case when next_at_ms is null then null else @nextAtMs end,
        rejections = @rejections,
        lease_until_ms = null
      where id = @id and attempts = @attempt and lease_until_ms is not null`,
    ),
  }));

  return (tx, results) => {
    const statements = statementsInside(tx);
    const counted: Finished[] = [];
    for (const finished of results) {
      const { deliveryId: id, attempt, status, rejections, nextAttemptAtMs: nextAtMs } = finished;
      statements.attempt.run(
        finished.outcome,
        finished.durationMs,
        finished.statusCode,
        finished.error,
        finished.detail,
        finished.exchange && JSON.stringify(finished.exchange),
        id,
        attempt,
      );
      const { changes } =
        status === 'delivered'
          ? statements.delivered.run(rejections, id, attempt)
          : statements.other.run({ id, attempt, status, rejections, nextAtMs });
      if (changes === 1) counted.push(finished);
    }
    return Promise.resolve(counted);
  };
}
