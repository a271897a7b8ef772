import type { ApiTraffic } from '../github/api-budget.ts';
import type { Family } from './exposition.ts';

/** How GitHub bears with us. Of all installations the one that is worst off: which one is told by the log. */
export function githubFamilies({ installations, requests }: ApiTraffic, nowMs: number): readonly Family[] {
  const left = installations.flatMap(({ limit, remaining }) =>
    limit === null || remaining === null ? [] : [remaining / limit],
  );
  const paused = installations.map(({ pausedUntilMs }) => Math.max(0, pausedUntilMs - nowMs) / 1000);
  return [
    {
      name: 'slipway_github_requests_total',
      help: 'Requests to the API of GitHub on behalf of installations, by outcome.',
      type: 'counter',
      samples: Object.entries(requests).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    {
      name: 'slipway_github_budget_left_ratio',
      help: 'What is left of the hourly limit of GitHub, of the installation with least; 1 when nothing is known.',
      type: 'gauge',
      samples: [{ value: Math.min(1, ...left) }],
    },
    {
      name: 'slipway_github_pause_seconds',
      help: 'For how long GitHub wants to be left alone yet, of the installation with the longest; 0: not at all.',
      type: 'gauge',
      samples: [{ value: Math.max(0, ...paused) }],
    },
  ];
}
