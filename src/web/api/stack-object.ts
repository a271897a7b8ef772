import { z } from '@hono/zod-openapi';
import { type Role, roles } from '../../access/actor.ts';
import { toUnixSeconds } from '../../clock.ts';
import { runStates } from '../../runs/run.ts';
import { bucketOf, buckets, type StackSummaries, type StackSummary } from '../../runs/stack-summary.ts';
import { checkKinds, type HookName, hookNames, type Stack, type StackLock } from '../../stacks/stack.ts';
import { stackExample } from './examples.ts';
import { deltaSchema, runTypes } from './run-object.ts';
import { vendorSettings } from './vendor-settings-schema.ts';

const hooks = z.object(
  Object.fromEntries(hookNames.map((name) => [name, z.array(z.string())])) as Record<
    HookName,
    z.ZodArray<z.ZodString>
  >,
);

const lockSchema = z
  .object({ holder: z.string(), reason: z.string(), run: z.string().optional(), since: z.number().int() })
  .openapi('Lock');

const lastRunSchema = z
  .object({
    id: z.string(),
    type: z.enum(runTypes),
    state: z.enum(runStates),
    since: z.number().int().openapi({ description: 'When it came into this state.' }),
    commit: z.object({
      hash: z.string(),
      subject: z.string().openapi({ description: 'The first line of its message, 200 characters at most.' }),
      authorName: z.string(),
    }),
    triggeredBy: z.string(),
    delta: deltaSchema.optional(),
    note: z.string().optional(),
  })
  .openapi('LastRun');

/** The stack object of the API. */
export const stackSchema = z
  .object({
    account: z.string(),
    id: z.string(),
    name: z.string(),
    description: z.string(),
    labels: z.array(z.string()),
    repository: z.string(),
    away: z.enum(['removed', 'suspended', 'archived']).optional().openapi({
      description:
        'Why nothing starts: the App does not see the repository, is suspended on its account, or the repository is archived.',
    }),
    branch: z.string(),
    projectRoot: z.string(),
    additionalProjectGlobs: z.array(z.string()),
    autodeploy: z.boolean(),
    planBinding: z.boolean(),
    promotion: z.boolean(),
    publicDetails: z.boolean(),
    allowForks: z.boolean(),
    trustedBots: z.array(z.string()),
    checks: z.enum(checkKinds).openapi({
      description: 'aggregate: one check of a commit for all stacks of the repository that say so.',
    }),
    unaffectedChecks: z.boolean(),
    deploymentEnvironment: z.string().nullable().openapi({
      description:
        "GitHub's environment of the deployments of TRACKED runs. null: the stack's id; empty: none.",
    }),
    vendor: vendorSettings,
    hooks,
    state: z.enum([...runStates, 'NONE']),
    bucket: z.enum(buckets).openapi({ description: 'What the state asks of people.' }),
    lastRun: lastRunSchema.nullable().openapi({
      description:
        'The TRACKED, TASK or DESTROY run that is under way, else the newest such run; `state` is its state.',
    }),
    queued: z.number().int().openapi({
      description: 'TRACKED, TASK and DESTROY runs that wait in QUEUED; 100 stands for 100 or more.',
    }),
    lock: lockSchema.nullable(),
    role: z.enum(roles).openapi({ description: 'What you may do with it.' }),
    managedBy: z.literal('file').nullable().openapi({
      description: 'file: .github/slipway.yml of the repository decides the settings.',
    }),
  })
  .openapi('Stack', { example: stackExample });
export type StackObject = z.infer<typeof stackSchema>;

function lockObject(lock: StackLock): z.infer<typeof lockSchema> {
  const { holder, reason, run, sinceMs } = lock;
  return { holder, reason, ...(run === null ? {} : { run }), since: toUnixSeconds(sinceMs) };
}

function lastRunObject(summary: StackSummary): z.infer<typeof lastRunSchema> {
  const { runId, type, state, sinceMs, commit, triggeredBy, delta, note } = summary;
  return {
    ...{ id: runId, type, state, since: toUnixSeconds(sinceMs), commit, triggeredBy },
    ...(delta === null ? {} : { delta }),
    ...(note === null ? {} : { note }),
  };
}

export async function stackObject(
  stack: Stack,
  runs: Pick<StackSummaries, 'summary'>,
  role: Role,
): Promise<StackObject> {
  return stackObjectWith(stack, await runs.summary(stack.key), role);
}

export function stackObjectWith(stack: Stack, summary: StackSummary | null, role: Role): StackObject {
  const { settings } = stack;
  const state = summary?.state ?? 'NONE';
  return {
    account: stack.account,
    id: stack.id,
    name: settings.name,
    description: settings.description,
    labels: [...settings.labels],
    repository: stack.repository.fullName,
    ...(stack.away ? { away: stack.away } : {}),
    branch: settings.branch,
    projectRoot: settings.projectRoot,
    additionalProjectGlobs: [...settings.additionalProjectGlobs],
    autodeploy: settings.autodeploy,
    planBinding: settings.planBinding,
    promotion: settings.promotion,
    publicDetails: settings.publicDetails,
    allowForks: settings.allowForks,
    trustedBots: [...settings.trustedBots],
    checks: settings.checks,
    unaffectedChecks: settings.unaffectedChecks,
    deploymentEnvironment: settings.deploymentEnvironment,
    vendor: settings.vendor,
    hooks: Object.fromEntries(hookNames.map((name) => [name, [...settings.hooks[name]]])) as z.infer<
      typeof hooks
    >,
    state,
    bucket: bucketOf(state),
    lastRun: summary && lastRunObject(summary),
    queued: summary?.queued ?? 0,
    lock: stack.lock && lockObject(stack.lock),
    role,
    managedBy: stack.managedBy,
  };
}
