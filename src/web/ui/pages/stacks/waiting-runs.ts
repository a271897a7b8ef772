import { html } from 'hono/html';
import { z } from 'zod';
import { isBlocking } from '../../../../runs/run.ts';
import { type RunObject, runSchema } from '../../../api/run-object.ts';
import { stackSchema } from '../../../api/stack-object.ts';
import { inParallel } from '../../../in-parallel.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';

const runPage = z.object({ items: z.array(runSchema) });

/** Of each state that many are looked at. */
const maxLookedAt = 20;
const maxShown = 10;
const rolesAtOnce = 4;

/**
 * Runs that wait for the approval of people, but for those that stand in the list of stacks already: previews, and runs
 * that may not begin. Only where the person may review.
 */
export async function runsForApproval(view: View): Promise<readonly RunObject[]> {
  const [reviewed, queued] = await Promise.all([inState(view, 'PENDING_REVIEW'), inState(view, 'QUEUED')]);
  const waiting = [...reviewed, ...queued]
    .filter(({ blockedBy }) => blockedBy?.kind === 'approval')
    .slice(0, maxShown);
  const allowed = await inParallel(waiting, rolesAtOnce, async ({ stack }) => {
    const path = `/api/v1${stackPath(stack.account, stack.id)}`;
    return (await view.api.get(path, stackSchema)).role !== 'reader';
  });
  return waiting.filter((_, index) => allowed[index]);
}

async function inState({ api }: View, state: RunObject['state']): Promise<readonly RunObject[]> {
  const query = queryOf({ state, limit: String(maxLookedAt) });
  return (await api.get(`/api/v1/runs${query}`, runPage)).items;
}

/** Nothing when there are none. */
export function approvalSection(runs: readonly RunObject[], nowMs: number): Markup | string {
  if (runs.length === 0) return '';
  return html`<section class="front" aria-labelledby="approvals"><h2 id="approvals">Waiting for approval (${runs.length})</h2>
<ul>${runs.map((run) => item(run, nowMs))}</ul></section>`;
}

function item({ id, stack, type, state, commit, createdAt }: RunObject, nowMs: number): Markup {
  const what = isBlocking(type) ? type.toLowerCase() : 'preview';
  return html`<li><a class="name" href="${stackPath(stack.account, stack.id)}">${stack.name}</a>
<span class="what">${what} of <span class="mono">${commit.hash.slice(0, 7)}</span> by ${commit.authorName}, ${timeAgo(createdAt, nowMs)}</span>
<span>${stateBadge(state)}</span>
<a class="button" href="/runs/${id}">Review<span class="hidden"> of ${stack.name}</span></a></li>`;
}
