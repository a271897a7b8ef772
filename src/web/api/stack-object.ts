import { z } from '@hono/zod-openapi';
import { type Role, roles } from '../../access/actor.ts';
import { toUnixSeconds } from '../../clock.ts';
import { type Run, runStates } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { checkKinds, type HookName, hookNames, type Stack, type StackLock } from '../../stacks/stack.ts';

const hooks = z.object(
  Object.fromEntries(hookNames.map((name) => [name, z.array(z.string())])) as Record<
    HookName,
    z.ZodArray<z.ZodString>
  >,
);

const lockSchema = z
  .object({ holder: z.string(), reason: z.string(), run: z.string().optional(), since: z.number().int() })
  .openapi('Lock');

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
    vendor: z.record(z.string(), z.unknown()),
    hooks,
    state: z.enum([...runStates, 'NONE']),
    lock: lockSchema.nullable(),
    role: z.enum(roles).openapi({ description: 'What you may do with it.' }),
    managedBy: z.literal('file').nullable().openapi({
      description: 'file: .github/slipway.yml of the repository decides the settings.',
    }),
  })
  .openapi('Stack');

function lockObject(lock: StackLock): z.infer<typeof lockSchema> {
  const { holder, reason, run, sinceMs } = lock;
  return { holder, reason, ...(run === null ? {} : { run }), since: toUnixSeconds(sinceMs) };
}

export async function stackObject(
  stack: Stack,
  runs: StackRuns,
  role: Role,
): Promise<z.infer<typeof stackSchema>> {
  const { settings } = stack;
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
    state: await stackState(stack.key, runs),
    lock: stack.lock && lockObject(stack.lock),
    role,
    managedBy: stack.managedBy,
  };
}

type StackRuns = Pick<RunStore, 'activeRun' | 'newestOfType'>;

/** Of the blocking run that is under way, else of the newest blocking one. Previews say nothing about a stack. */
async function stackState(stackKey: string, runs: StackRuns): Promise<Run['state'] | 'NONE'> {
  const active = await runs.activeRun(stackKey);
  if (active) return active.state;
  const newest = await Promise.all(
    (['TRACKED', 'TASK', 'DESTROY'] as const).map((type) => runs.newestOfType(stackKey, type)),
  );
  const last = newest.filter((run) => run !== null).sort((a, b) => (a.id < b.id ? 1 : -1))[0];
  return last?.state ?? 'NONE';
}
