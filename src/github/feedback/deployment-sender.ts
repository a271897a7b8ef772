import { z } from 'zod';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import {
  type DeploymentStatus,
  type DesiredDeployment,
  deploymentStatusOf,
  parseDesiredDeployment,
} from './deployment.ts';
import { givenUpIfForbidden } from './forbidden.ts';
import type { PendingItem } from './outbox-store.ts';
import { type SendContext, type Sender, target } from './sender.ts';

/** What a deployment of ours carries, so that it is found again. */
const payloadJson = z.object({ slipway: z.object({ run: z.string(), stack: z.string() }) });
const createdJson = z.object({ id: z.number().int() });
const listedJson = createdJson.extend({ payload: z.unknown() });
const statusJson = z.object({ state: z.string() });

/** Of an environment whose stack was torn down, so many deployments are looked at for the one that is active. */
const mostLookedAt = 10;

/**
 * Deployments of what is applied. At most one is made for a run: when a create may have succeeded without our hearing
 * of it, those of the commit are searched for the run first.
 */
export function createDeploymentSender(parts: {
  readonly runs: Pick<RunStore, 'find'>;
  readonly publicUrl: () => string;
}): Sender {
  async function send(item: PendingItem, context: SendContext): Promise<number | null> {
    const run = item.runId === null ? null : await parts.runs.find(item.runId);
    if (!run) return item.remoteId;
    const desired = parseDesiredDeployment(item.desired);
    const logUrl = `${parts.publicUrl()}/runs/${run.id}`;
    if (run.type === 'DESTROY') {
      await endActive(context, desired, logUrl);
      return null;
    }
    const status = deploymentStatusOf(run);
    if (status === null) return item.remoteId;
    const known = item.remoteId ?? (item.createTried ? await findByRun(context, run, desired) : null);
    // Begun and ended while GitHub could not be asked: there is nothing to take back.
    if (known === null && status.state === 'inactive') return null;
    const id = known ?? (await create(item, context, run, desired));
    await tell(context, id, status, logUrl);
    return id;
  }

  return {
    purpose: 'content',
    gapMs: 0,
    send: (item, context) => send(item, context).catch(givenUpIfForbidden('the deployment')),
  };
}

async function create(
  { createTried }: PendingItem,
  context: SendContext,
  run: Run,
  desired: DesiredDeployment,
): Promise<number> {
  if (!createTried) await context.beforeCreate();
  const { data } = await context.octokit.rest.repos.createDeployment({
    ...target(context),
    ref: run.commit.hash,
    environment: desired.environment,
    // Otherwise GitHub merges the default branch into it, and wants every check green, that of this run included.
    auto_merge: false,
    required_contexts: [],
    payload: { slipway: { run: run.id, stack: desired.stackId } },
  });
  return createdJson.parse(data).id;
}

async function findByRun(
  context: SendContext,
  run: Run,
  { environment }: DesiredDeployment,
): Promise<number | null> {
  const { paginate, rest } = context.octokit;
  const question = { ...target(context), sha: run.commit.hash, environment, per_page: 100 };
  for await (const { data } of paginate.iterator(rest.repos.listDeployments, question)) {
    const found = data.map(parseListed).find(({ ours }) => ours?.run === run.id);
    if (found) return found.id;
  }
  return null;
}

/** The resources of the stack are gone: what was deployed last is no longer there. */
async function endActive(context: SendContext, desired: DesiredDeployment, logUrl: string): Promise<void> {
  const { environment, stackId } = desired;
  const { rest } = context.octokit;
  const { data } = await rest.repos.listDeployments({ ...target(context), environment, per_page: 100 });
  const ours = data.map(parseListed).filter((each) => each.ours?.stack === stackId);
  for (const { id } of ours.slice(0, mostLookedAt)) {
    const { data: statuses } = await rest.repos.listDeploymentStatuses({
      ...target(context),
      deployment_id: id,
      per_page: 1,
    });
    const [newest] = statuses.map((json) => statusJson.parse(json));
    if (newest?.state !== 'success') continue;
    await tell(context, id, { state: 'inactive', description: 'Destroyed' }, logUrl);
    return;
  }
}

/** Newest first. GitHub gives a payload back as it was sent, as an object or as text. */
function parseListed(json: unknown) {
  const { id, payload } = listedJson.parse(json);
  const parsed = payloadJson.safeParse(payload);
  return { id, ours: parsed.success ? parsed.data.slipway : null };
}

/** Repeated when an answer was lost, which does no harm. */
async function tell(
  context: SendContext,
  id: number,
  { state, description }: DeploymentStatus,
  logUrl: string,
): Promise<void> {
  await context.octokit.rest.repos.createDeploymentStatus({
    ...target(context),
    deployment_id: id,
    state,
    description,
    log_url: logUrl,
  });
}
