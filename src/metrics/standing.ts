import { isTerminal, type RunState, runStates } from '../runs/run.ts';
import type { Family, Sample } from './exposition.ts';

/** How things stand at one moment. Numbers only. */
export interface Standing {
  readonly deliveries: {
    /** To be sent, now or later, those in flight included. */
    readonly pending: number;
    readonly due: number;
    /** Since when the one that is due for longest is. */
    readonly dueSinceMs: number | null;
    readonly inFlight: number;
  };
  /** Every webhook is in one of them. `failing`: enabled, and its last attempt failed or one waits to be repeated. */
  readonly webhooks: Readonly<Record<'enabled' | 'failing' | 'disabled', number>>;
  /** Those that are not over; a state without runs may be absent. */
  readonly runs: Readonly<Partial<Record<RunState, number>>>;
  readonly jobs: {
    readonly waiting: number;
    readonly running: number;
    readonly waitingSinceMs: number | null;
  };
  /** GitHub's deliveries: not handled yet, and given up but still there to be replayed. */
  readonly inbox: {
    readonly pending: number;
    readonly pendingSinceMs: number | null;
    readonly failed: number;
  };
  /** Check runs, comments and the like that GitHub does not show yet as they should be, although the App may tell it. */
  readonly outboxWaiting: number;
}

/** Must be cheap whatever has piled up: it is asked at every scrape. */
export interface StandingStore {
  standing(nowMs: number): Promise<Standing>;
}

const runStatesUnderWay = runStates.filter((state) => !isTerminal(state));

export function standingFamilies(standing: Standing, nowMs: number): readonly Family[] {
  const { deliveries, webhooks, runs, jobs, inbox } = standing;
  const secondsSince = (ms: number | null) => (ms === null ? 0 : Math.max(0, nowMs - ms) / 1000);
  const byState = (counts: Readonly<Partial<Record<string, number>>>): readonly Sample[] =>
    Object.entries(counts).map(([state, count]) => ({ labels: { state }, value: count ?? 0 }));

  return [
    gauge('slipway_webhook_deliveries_pending', 'Deliveries to be sent, now or later.', deliveries.pending),
    gauge(
      'slipway_webhook_deliveries_due',
      'Deliveries that should be sent now and are not yet.',
      deliveries.due,
    ),
    gauge(
      'slipway_webhook_oldest_due_seconds',
      'How long the delivery that is due for longest has been; 0 when none is.',
      secondsSince(deliveries.dueSinceMs),
    ),
    gauge('slipway_webhook_in_flight', 'Deliveries that are being sent.', deliveries.inFlight),
    gauges(
      'slipway_webhooks',
      'Webhooks by state; failing ones are enabled and have something that did not get through.',
      byState(webhooks),
    ),
    gauges(
      'slipway_runs',
      'Runs that are not over, by state.',
      byState(Object.fromEntries(runStatesUnderWay.map((state) => [state, runs[state]]))),
    ),
    gauges(
      'slipway_jobs',
      'Phases of runs that wait for a worker or have one.',
      byState({ waiting: jobs.waiting, running: jobs.running }),
    ),
    gauge(
      'slipway_oldest_waiting_job_seconds',
      'How long the job that waits for a worker for longest has; 0 when none does.',
      secondsSince(jobs.waitingSinceMs),
    ),
    gauges(
      'slipway_github_deliveries',
      'Deliveries from GitHub that are not handled yet (pending) or were given up (failed).',
      byState({ pending: inbox.pending, failed: inbox.failed }),
    ),
    gauge(
      'slipway_oldest_github_delivery_seconds',
      'How long the delivery from GitHub that waits for longest has; 0 when none does.',
      secondsSince(inbox.pendingSinceMs),
    ),
    gauge(
      'slipway_outbox_waiting',
      'Check runs, comments, reactions and deployments that GitHub does not show yet as they should be.',
      standing.outboxWaiting,
    ),
  ];
}

function gauge(name: string, help: string, value: number): Family {
  return gauges(name, help, [{ value }]);
}

function gauges(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples };
}
