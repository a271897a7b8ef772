import { z } from 'zod';

/** What commands read of the API's objects to print them; whatever else is there goes to `--json` untouched. */

export const stackObject = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  repository: z.string(),
  away: z.string().optional(),
  branch: z.string(),
  projectRoot: z.string(),
  additionalProjectGlobs: z.array(z.string()),
  autodeploy: z.boolean(),
  planBinding: z.boolean(),
  promotion: z.boolean(),
  publicDetails: z.boolean(),
  allowForks: z.boolean(),
  trustedBots: z.array(z.string()),
  checks: z.string(),
  unaffectedChecks: z.boolean(),
  deploymentEnvironment: z.string().nullable(),
  vendor: z.record(z.string(), z.record(z.string(), z.unknown())),
  hooks: z.record(z.string(), z.array(z.string())),
  state: z.string(),
  lock: z.object({ holder: z.string(), reason: z.string(), since: z.number() }).nullable(),
  managedBy: z.string().nullish(),
});

export const runObject = z.object({
  id: z.string(),
  stack: z.object({ account: z.string(), id: z.string(), name: z.string() }),
  type: z.string(),
  state: z.string(),
  stateVersion: z.number(),
  branch: z.string(),
  commit: z.object({ authorName: z.string(), hash: z.string(), message: z.string(), url: z.string() }),
  pullRequest: z
    .object({
      number: z.number(),
      base: z.string(),
      title: z.string(),
      author: z.string(),
      isFork: z.boolean(),
    })
    .optional(),
  trust: z.string().optional(),
  createdAt: z.number(),
  triggeredBy: z.string(),
  command: z.string().optional(),
  delta: z
    .object({ added: z.number(), changed: z.number(), deleted: z.number(), resources: z.number() })
    .optional(),
  note: z.string().optional(),
  outcome: z.string().optional(),
  blockedBy: z
    .object({
      kind: z.string(),
      run: z.string().optional(),
      state: z.string().optional(),
      holder: z.string().optional(),
      reason: z.string().optional(),
    })
    .optional(),
});
export type RunObject = z.infer<typeof runObject>;

export const stateObject = z.object({
  state: z.string(),
  stateVersion: z.number(),
  timestamp: z.number(),
  actor: z.string(),
  note: z.string().optional(),
});

export const commandObject = z.object({
  phase: z.string(),
  label: z.string(),
  argv: z.array(z.string()),
  startedAtMs: z.number(),
  durationMs: z.number(),
  exitCode: z.number().nullable(),
});

export const stepObject = z.object({ op: z.string(), type: z.string(), urn: z.string() });

export const variableObject = z.object({
  name: z.string(),
  secret: z.boolean(),
  access: z.string(),
  value: z.string().optional(),
  managedBy: z.string().optional(),
});

export const webhookObject = z.object({
  id: z.string(),
  stack: z.object({ account: z.string(), id: z.string() }).optional(),
  endpoint: z.string(),
  enabled: z.boolean(),
  filter: z
    .object({ states: z.array(z.string()).optional(), runTypes: z.array(z.string()).optional() })
    .nullish(),
  headers: z.record(z.string(), z.string()).optional(),
  secret: z.string().nullish(),
  secretFingerprint: z.string().optional(),
  oldSecrets: z.array(z.object({ fingerprint: z.string(), until: z.number() })).optional(),
  createdAt: z.number(),
  disabledAt: z.number().optional(),
  disabledReason: z.string().optional(),
  health: z
    .object({
      failingSince: z.number().optional(),
      failedAttempts: z.number(),
      exhausted: z.number(),
      lastError: z.string().optional(),
      pausedUntil: z.number().optional(),
    })
    .optional(),
  missed: z.number().optional(),
});

export const webhookPath = (id: string): string => `/api/v1/webhooks/${encodeURIComponent(id)}`;

export const attemptObject = z.object({
  outcome: z.string(),
  statusCode: z.number().optional(),
  error: z.string().optional(),
  detail: z.string().optional(),
});

export const deliveryObject = z.object({
  id: z.string(),
  run: z.string(),
  stateVersion: z.number(),
  policy: z.object({ name: z.string() }).optional(),
  status: z.string(),
  createdAt: z.number(),
  nextAttemptAt: z.number().optional(),
  attempts: z.array(attemptObject),
});

const page = z.object({ items: z.array(z.unknown()), nextCursor: z.string().nullable() });

/** All pages of a list, at most `limit` entries. */
export async function listAll(
  call: (method: string, path: string) => Promise<unknown>,
  path: string,
  limit = Number.POSITIVE_INFINITY,
  filter: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor = ''; ; ) {
    const size = Math.min(200, limit - items.length);
    const query = new URLSearchParams({ ...filter, limit: String(size), cursor });
    const { items: more, nextCursor } = page.parse(await call('GET', `${path}?${query}`));
    items.push(...more);
    if (nextCursor === null || items.length >= limit) return items.slice(0, limit);
    cursor = nextCursor;
  }
}
