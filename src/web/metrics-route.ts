import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../access/actor.ts';
import { problems } from './api/route-parts.ts';
import { type Api, newApi } from './api.ts';
import { type Authentication, unauthenticated } from './authenticate.ts';
import { problem } from './problem.ts';

/** What /metrics serves, and what the web adds to it. */
export interface MetricsSource {
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  /** A request was answered with this status. */
  responded(status: number): void;
  /** Needs no token: METRICS_ANONYMOUS. */
  readonly isAnonymous: boolean;
}

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

const metricsRoute = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'getMetrics',
  tags: ['status'],
  summary: 'Metrics for Prometheus',
  security: [{ bearer: [] }],
  description:
    'Needs a token of any role without an account: the numbers are those of all accounts. With METRICS_ANONYMOUS=true it needs none.',
  'x-needs': 'all-accounts',
  responses: {
    200: {
      description: 'Text format 0.0.4.',
      content: {
        'text/plain': {
          schema: z.string(),
          example: '# TYPE slipway_info gauge\nslipway_info{version="0.1.0"} 1\n',
        },
      },
    },
    ...problems,
  },
});

export function metricsRoutes(parts: {
  readonly whoIs: (request: Request) => Promise<Authentication>;
  readonly seesInstance: (actor: Actor) => boolean;
  readonly metrics: MetricsSource;
}): Api {
  const { whoIs, seesInstance, metrics } = parts;
  const api = newApi();

  api.use(metricsRoute.path, async (c, next) => {
    if (metrics.isAnonymous) return next();
    const given = c.env.actor;
    const who = given ? ({ kind: 'actor', actor: given } as const) : await whoIs(c.req.raw);
    if (who.kind !== 'actor') return unauthenticated(who.kind);
    if (seesInstance(who.actor)) return next();
    return problem('forbidden', {
      detail: 'The metrics are those of all accounts, and you do not see all of them.',
      hint: 'Use a token without an account: slipway token create --name prometheus --role reader',
    });
  });
  api.openapi(metricsRoute, async (c) => c.text(await metrics.text(), 200, { 'content-type': contentType }));
  return api;
}
