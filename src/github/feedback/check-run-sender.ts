import { z } from 'zod';
import { statusOf } from '../github-error.ts';
import type { CheckRunBody } from './check-run.ts';
import type { ComposeCheck } from './compose-check.ts';
import { type SendContext, type Sender, target } from './sender.ts';

const checkRunJson = z.object({ id: z.number().int(), external_id: z.string().nullish() });

/**
 * Makes GitHub show the check run and says which it is. At most one is made for each: when a create may
 * have succeeded without our hearing of it, the commit's check runs are searched for our id first.
 */
export function createCheckRunSender(compose: ComposeCheck): Sender {
  return {
    purpose: 'write',
    gapMs: 0,
    async send(item, context) {
      const { remoteId, createTried } = item;
      const body = await compose(item);
      if (body === null) return remoteId;
      if (remoteId !== null && (await update(context, remoteId, body))) return remoteId;
      if (createTried) {
        const found = await findByExternalId(context, body);
        if (found !== null && (await update(context, found, body))) return found;
      } else {
        await context.beforeCreate();
      }
      return create(context, body);
    },
  };
}

async function create(context: SendContext, desired: CheckRunBody): Promise<number> {
  const answer = await context.octokit.request('POST /repos/{owner}/{repo}/check-runs', {
    ...target(context),
    ...mutable(desired),
  });
  return checkRunJson.parse(answer.data).id;
}

/** False when GitHub has it no more: it keeps 1000 of a name in a suite. */
async function update(context: SendContext, id: number, desired: CheckRunBody): Promise<boolean> {
  try {
    const { head_sha: _, ...changes } = mutable(desired);
    const { annotations: __, ...output } = changes.output;
    await context.octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...target(context),
      check_run_id: id,
      ...changes,
      output,
    });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

async function findByExternalId(context: SendContext, desired: CheckRunBody): Promise<number | null> {
  const { paginate, rest } = context.octokit;
  const checkRuns = await paginate(rest.checks.listForRef, {
    ...target(context),
    ref: desired.head_sha,
    check_name: desired.name,
    // Not the latest of the name only: a retry of the run is later.
    filter: 'all',
    per_page: 100,
  });
  const ours = checkRuns
    .map((json) => checkRunJson.parse(json))
    .find((json) => json.external_id === desired.external_id);
  return ours?.id ?? null;
}

/** Octokit's types want arrays that it may write to. */
const mutable = ({ output, ...desired }: CheckRunBody) => {
  const { annotations, ...text } = output;
  return {
    ...desired,
    actions: [...desired.actions],
    output: { ...text, ...(annotations ? { annotations: [...annotations] } : {}) },
  };
};
