import type { Clock } from '../clock.ts';
import type { ApiTraffic } from '../github/api-budget.ts';
import type { ReconcileObserver } from '../github/reconcile/reconcile-observer.ts';
import type { JudgingObserver } from '../policies/judging-observer.ts';
import type { AttemptObserver } from '../webhooks/sending/attempt-observer.ts';
import { createEventLoopMetrics } from './event-loop-metrics.ts';
import { exposition, type Family } from './exposition.ts';
import { githubFamilies } from './github-metrics.ts';
import { createCounter } from './instruments.ts';
import { createPolicyMetrics } from './policy-metrics.ts';
import { createReconcileMetrics } from './reconcile-metrics.ts';
import { type Standing, type StandingStore, standingFamilies } from './standing.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

/** What monitoring asks of this server. Holds no global state: each App has its own. */
export interface Metrics {
  readonly webhooks: AttemptObserver;
  readonly reconciling: ReconcileObserver;
  readonly policies: JudgingObserver;
  /** A request was answered with this status. */
  responded(status: number): void;
  /** In the text format of Prometheus. Rejects when the database cannot be read. */
  text(): Promise<string>;
}

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** However many ask, the database is asked once in so long. */
const freshMs = 1000;

export function createMetrics(parts: {
  readonly store: StandingStore;
  /** Asked late: GitHub is put together afterwards. */
  readonly githubTraffic: () => ApiTraffic;
  readonly clock: Clock;
  readonly version: string;
}): Metrics {
  const webhooks = createWebhookMetrics();
  const reconciling = createReconcileMetrics();
  const policies = createPolicyMetrics();
  const eventLoop = createEventLoopMetrics();
  const responses = createCounter({
    name: 'slipway_http_responses_total',
    help: 'Answers to HTTP requests, by class of their status.',
    label: 'class',
    values: statusClasses,
  });
  let last: { readonly atMs: number; readonly standing: Promise<Standing> } | null = null;

  function standing(): Promise<Standing> {
    const atMs = performance.now();
    if (last === null || atMs - last.atMs > freshMs) {
      last = { atMs, standing: parts.store.standing(parts.clock.nowMs()) };
    }
    return last.standing;
  }

  return {
    webhooks,
    reconciling,
    policies,
    responded(status) {
      const found = statusClasses[Math.floor(status / 100) - 1];
      if (found !== undefined) responses.add(found);
    },
    async text() {
      const found = await standing();
      return exposition([
        buildFamily(parts.version),
        ...webhooks.families(),
        ...reconciling.families(),
        ...policies.families(),
        responses.family(),
        ...standingFamilies(found, parts.clock.nowMs()),
        ...githubFamilies(parts.githubTraffic(), parts.clock.nowMs()),
        ...eventLoop.families(),
        ...processFamilies(),
      ]);
    },
  };
}

function buildFamily(version: string): Family {
  return {
    name: 'slipway_build_info',
    help: 'Always 1; the version is a label.',
    type: 'gauge',
    samples: [{ labels: { version }, value: 1 }],
  };
}

/** Under the names that every Prometheus client gives them. */
function processFamilies(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the server, without the commands of runs.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of the server, without the commands of runs.',
      type: 'gauge',
      samples: [{ value: process.memoryUsage.rss() }],
    },
    {
      name: 'process_start_time_seconds',
      help: 'Start of the server, in Unix seconds.',
      type: 'gauge',
      samples: [{ value: performance.timeOrigin / 1000 }],
    },
  ];
}
