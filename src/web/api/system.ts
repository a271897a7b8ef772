import { createRoute, z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import { isTerminal, type RunState, runStates } from '../../runs/run.ts';
import { type Api, newApi } from '../api.ts';
import type { SystemReport } from '../system-report.ts';
import { systemExample } from './examples.ts';
import { json, needsInstanceAdmin, problems } from './route-parts.ts';

const count = z.number().int().min(0);
const since = z.number().int().nullable().openapi({ description: 'Of the oldest; null without one.' });

export const systemSchema = z
  .object({
    version: z.string(),
    startedAt: z.number().int(),
    ok: z.boolean().openapi({ description: 'False when no run can be executed.' }),
    checks: z.array(
      z.object({
        name: z.string(),
        status: z.enum(['ok', 'warning', 'problem']),
        detail: z.string(),
        hint: z.string().optional(),
      }),
    ),
    workers: count.openapi({ description: 'Phases of runs that can be under way at once.' }),
    jobs: z
      .object({ waiting: count, running: count, waitingSince: since })
      .openapi({ description: 'Phases of runs that wait for a worker, or have one.' }),
    runs: z
      .array(z.object({ state: z.enum(runStates), count }))
      .openapi({ description: 'Runs that are not over, by state.' }),
    deliveries: z
      .object({ pending: count, due: count, inFlight: count, dueSince: since })
      .openapi({ description: 'Outgoing webhooks.' }),
    inbox: z
      .object({ pending: count, failed: count, pendingSince: since })
      .openapi({ description: "GitHub's deliveries." }),
    outbox: z
      .object({ waiting: count })
      .openapi({ description: 'What GitHub does not show yet as it should.' }),
  })
  .openapi('System', { example: systemExample });

const showRoute = createRoute({
  method: 'get',
  path: '/api/v1/system',
  operationId: 'getSystem',
  tags: ['status'],
  summary: 'How fit the server is, what waits and what is under way',
  ...needsInstanceAdmin,
  responses: { 200: json(systemSchema, 'As it is now.'), ...problems },
});

/** For administrators of the instance: gates/instance.ts lets nobody else get here. */
export function systemRoutes(parts: { readonly system: () => Promise<SystemReport> }): Api {
  const api = newApi();
  api.openapi(showRoute, async (c) => {
    return c.json(systemObject(await parts.system()), 200);
  });
  return api;
}

const underWay: readonly RunState[] = runStates.filter((state) => !isTerminal(state));

function systemObject(report: SystemReport): z.output<typeof systemSchema> {
  const { version, startedAtMs, doctor, workers, jobs, runs, deliveries, inbox, outboxWaiting } = report;
  const secondsOf = (ms: number | null) => (ms === null ? null : toUnixSeconds(ms));
  return {
    version,
    startedAt: toUnixSeconds(startedAtMs),
    ok: doctor.ok,
    checks: doctor.items.map((item) => ({ ...item })),
    workers,
    jobs: {
      waiting: jobs.waiting,
      running: jobs.running,
      waitingSince: secondsOf(jobs.waitingSinceMs),
    },
    runs: underWay.flatMap((state) => {
      const found = runs[state] ?? 0;
      return found === 0 ? [] : [{ state, count: found }];
    }),
    deliveries: {
      pending: deliveries.pending,
      due: deliveries.due,
      inFlight: deliveries.inFlight,
      dueSince: secondsOf(deliveries.dueSinceMs),
    },
    inbox: {
      pending: inbox.pending,
      failed: inbox.failed,
      pendingSince: secondsOf(inbox.pendingSinceMs),
    },
    outbox: { waiting: outboxWaiting },
  };
}
