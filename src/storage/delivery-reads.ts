import type { NotNull } from 'kysely';
import type { RunState } from '../runs/run.ts';
import type { Tx } from '../tx.ts';
import type {
  Attempt,
  AttemptOutcome,
  Delivery,
  DeliveryStatus,
  DeliveryStore,
} from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { decodeExchange } from './exchange-column.ts';
import type { AttemptRow, DeliveryRow } from './webhook-rows.ts';

type DeliveryReads = Pick<
  DeliveryStore,
  'payload' | 'body' | 'latestPayload' | 'find' | 'lastAttempt' | 'listOfRun' | 'listOfWebhook'
>;

/** What people ask about deliveries. */
export function createDeliveryReads(database: Database): DeliveryReads {
  const deliveries = () =>
    database.read
      .selectFrom('delivery')
      .leftJoin('run_event', (join) =>
        join
          .onRef('run_event.run_id', '=', 'delivery.run_id')
          .onRef('run_event.state_version', '=', 'delivery.state_version'),
      )
      .leftJoin('policy_request', 'policy_request.delivery_id', 'delivery.id')
      .selectAll('delivery')
      .select('run_event.state')
      .select(['policy_request.state_version as judged_version', 'policy_id', 'policy_name']);

  async function withAttempts(
    rows: readonly ReadDelivery[],
    withExchanges: boolean,
  ): Promise<readonly Delivery[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const attempts = await database.read
      .selectFrom('attempt')
      .select(summaryColumns)
      .$if(withExchanges, (query) => query.select('exchange'))
      .where('delivery_id', 'in', ids)
      .orderBy('delivery_id')
      .orderBy('number')
      .execute();
    const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
    return rows.map((row) => deliveryOf(row, byDelivery.get(row.id) ?? []));
  }

  async function payload(runId: string, stateVersion: number, tx?: Tx): Promise<Uint8Array | null> {
    const row = await (tx ? database.inside(tx) : database.read)
      .selectFrom('payload')
      .select('body')
      .where('run_id', '=', runId)
      .where('state_version', '=', stateVersion)
      .executeTakeFirst();
    return row?.body ?? null;
  }

  return {
    payload,

    async body({ id, runId, stateVersion, policy }) {
      if (policy === null) return payload(runId, stateVersion);
      const request = database.read.selectFrom('policy_request').select('body').where('delivery_id', '=', id);
      return (await request.executeTakeFirst())?.body ?? null;
    },

    async latestPayload(stackKey) {
      const row = await database.read
        .selectFrom('run')
        .innerJoin('payload', 'payload.run_id', 'run.id')
        .select('payload.body')
        .where('run.stack_key', '=', stackKey)
        .orderBy('run.id', 'desc')
        .orderBy('payload.state_version', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.body ?? null;
    },

    async find(id) {
      const rows = await deliveries().where('delivery.id', '=', id).execute();
      const [delivery] = await withAttempts(rows, true);
      return delivery ?? null;
    },

    async lastAttempt(webhookId) {
      const row = await deliveries()
        .where('delivery.webhook_id', '=', webhookId)
        .where('delivery.attempts', '>', 0)
        .orderBy('delivery.id', 'desc')
        .limit(1)
        .executeTakeFirst();
      const [delivery] = await withAttempts(row ? [row] : [], false);
      return delivery?.attempts.at(-1) ?? null;
    },

    async listOfRun(runId) {
      const rows = await database.read
        .selectFrom('delivery')
        .select(['id', 'webhook_id', 'state_version', 'status', 'next_at_ms', 'lease_until_ms'])
        .where('run_id', '=', runId)
        .where('state_version', 'is not', null)
        .$narrowType<{ state_version: NotNull }>()
        .execute();
      return rows.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        stateVersion: row.state_version,
        status: row.status as DeliveryStatus,
        isPlanned: row.next_at_ms !== null,
        nextAttemptAtMs: row.lease_until_ms === null ? row.next_at_ms : null,
      }));
    },

    async listOfWebhook(webhookId, { before, limit, status, runId, state }) {
      let query = deliveries().where('delivery.webhook_id', '=', webhookId);
      if (before !== null) query = query.where('delivery.id', '<', before);
      if (status !== undefined) query = query.where('delivery.status', '=', status);
      if (runId !== undefined) query = query.where('delivery.run_id', '=', runId);
      if (state !== undefined) query = query.where('run_event.state', '=', state);
      return withAttempts(await query.orderBy('delivery.id', 'desc').limit(limit).execute(), false);
    },
  };
}

/** All but the exchange, which is large. */
const summaryColumns = [
  ...(['delivery_id', 'number', 'started_at_ms', 'duration_ms'] as const),
  ...(['outcome', 'status_code', 'error', 'detail'] as const),
] as const;

type ReadDelivery = DeliveryRow & {
  readonly state: string | null;
  /** Null, as the next two, unless a policy sends it. */
  readonly judged_version: number | null;
  readonly policy_id: string | null;
  readonly policy_name: string | null;
};
type ReadAttempt = Pick<AttemptRow, (typeof summaryColumns)[number]> & Partial<AttemptRow>;

function deliveryOf(row: ReadDelivery, attempts: readonly ReadAttempt[]): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    runId: row.run_id,
    stateVersion: row.state_version ?? row.judged_version ?? 0,
    policy: row.policy_id === null ? null : { id: row.policy_id, name: row.policy_name ?? '' },
    state: row.state as RunState | null,
    status: row.status as DeliveryStatus,
    nextAttemptAtMs: row.lease_until_ms === null ? row.next_at_ms : null,
    createdAtMs: row.created_at_ms,
    attempts: [...attempts.map(attemptOf), ...startedAttempt(row)],
  };
}

function attemptOf(row: ReadAttempt): Attempt {
  return {
    number: row.number,
    startedAtMs: row.started_at_ms,
    durationMs: row.duration_ms,
    outcome: row.outcome as AttemptOutcome,
    statusCode: row.status_code,
    error: row.error,
    detail: row.detail,
    exchange: row.exchange
      ? decodeExchange(row.exchange, { deliveryId: row.delivery_id, attempt: row.number })
      : null,
  };
}

/** The one that is under way. */
function startedAttempt({ attempts: number, started_at_ms: startedAtMs }: DeliveryRow): readonly Attempt[] {
  if (startedAtMs === null) return [];
  const nothingYet = { durationMs: null, statusCode: null, error: null, detail: null, exchange: null };
  return [{ number, startedAtMs, outcome: 'started', ...nothingYet }];
}
