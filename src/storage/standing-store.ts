import { type RawBuilder, sql } from 'kysely';
import type { Standing, StandingStore } from '../metrics/standing.ts';
import { phaseQueue } from '../runs/phase-jobs.ts';
import type { Database } from './database.ts';

/**
 * The counts behind the gauges of /metrics. Conditions stand in the words of the partial indexes, so that
 * nothing that is over is ever counted through.
 */
export const standingQueries = {
  // What a receiver asked to wait with (Retry-After) is not due. One look at the index for each webhook finds the oldest.
  deliveries: (nowMs: number) => sql<DeliveriesRow>`
    select
      (select count(*) from delivery where next_at_ms is not null) as pending,
      (select count(*) from delivery where next_at_ms <= ${nowMs})
        - (select count(*) from delivery where lease_until_ms > ${nowMs} and next_at_ms <= ${nowMs})
        - (
          select count(*) from webhook_health cross join delivery using (webhook_id)
          where paused_until_ms > ${nowMs} and next_at_ms <= ${nowMs}
            and (lease_until_ms is null or lease_until_ms <= ${nowMs})
        ) as due,
      (
        select min((
          select next_at_ms from delivery
          where webhook_id = webhook.id and next_at_ms <= ${nowMs}
            and (lease_until_ms is null or lease_until_ms <= ${nowMs})
          order by next_at_ms limit 1
        ))
        from webhook
        where id not in (select webhook_id from webhook_health where paused_until_ms > ${nowMs})
      ) as dueSinceMs,
      (select count(*) from delivery where lease_until_ms > ${nowMs}) as inFlight`,
  // A delivery whose time is to come and that nobody holds is one that failed before.
  webhooks: (nowMs: number) => sql<WebhooksRow>`
    select
      count(*) filter (where enabled and not failing) as enabled,
      count(*) filter (where enabled and failing) as failing,
      count(*) filter (where not enabled) as disabled
    from (
      select enabled,
        exists (select 1 from webhook_health where webhook_id = webhook.id)
        or exists (
          select 1 from delivery
          where webhook_id = webhook.id and next_at_ms > ${nowMs} and lease_until_ms is null
        ) as failing
      from webhook
    )`,
  runs: () => sql<{ state: string; count: number }>`
    select state, count(*) as count from run
    where state not in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')
    group by state`,
  // Of runs: what waits for policies waits for no worker, and is due from the beginning of time.
  jobs: (nowMs: number) => sql<JobsRow>`
    select
      count(*) filter (where lease_until_ms is null and run_at_ms <= ${nowMs}) as waiting,
      count(*) filter (where lease_until_ms is not null) as running,
      min(run_at_ms) filter (where lease_until_ms is null and run_at_ms <= ${nowMs}) as waitingSinceMs
    from job where queue = ${phaseQueue}`,
  inbox: () => sql<InboxRow>`
    select
      (select count(*) from inbox where state = 'pending') as pending,
      (select min(received_at_ms) from inbox where state = 'pending') as pendingSinceMs,
      (select count(body) from inbox where state = 'failed') as failed`,
  outbox: () => sql<{ count: number }>`
    select count(*) as count from outbox_item
    where settled_version < desired_version and not exists (
      select 1 from repository join account on account.id = repository.account_id
      where repository.id = outbox_item.repository_id
        and (account.suspended = 1 or repository.removed = 1 or repository.archived = 1)
    )`,
};

type DeliveriesRow = Standing['deliveries'];
type WebhooksRow = Standing['webhooks'];
type JobsRow = Standing['jobs'];
type InboxRow = Standing['inbox'];

export function createStandingStore(database: Database): StandingStore {
  async function only<Row>(query: RawBuilder<Row>): Promise<Row> {
    const [row] = (await query.execute(database.read)).rows;
    if (row === undefined) throw new Error('a count has one row');
    return row;
  }

  return {
    async standing(nowMs) {
      const runs = await standingQueries.runs().execute(database.read);
      return {
        deliveries: await only(standingQueries.deliveries(nowMs)),
        webhooks: await only(standingQueries.webhooks(nowMs)),
        runs: Object.fromEntries(runs.rows.map(({ state, count }) => [state, count])),
        jobs: await only(standingQueries.jobs(nowMs)),
        inbox: await only(standingQueries.inbox()),
        outboxWaiting: (await only(standingQueries.outbox())).count,
      };
    },
  };
}
