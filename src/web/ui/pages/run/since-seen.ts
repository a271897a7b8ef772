import { html } from 'hono/html';
import type { z } from 'zod';
import { nameOf } from '../../../../runs/plan/resource-name.ts';
import { visible } from '../../../../runs/plan/visible-text.ts';
import { sinceSeenSchema } from '../../../api/run-plan.ts';
import { timeAgo } from '../../components/time.ts';
import { ApiRefusal } from '../../in-process-api.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

export type SinceSeen = z.output<typeof sinceSeenSchema>;

/** Not every look at the page is a write. */
const lookSeconds = 10 * 60;
const shownGone = 100;

/** What is new about a plan to who looks at it, which is noted as seen by that. */
export async function lookAtPlan({ api, nowMs }: View, apiPath: string): Promise<SinceSeen> {
  const seen = await api.get(`${apiPath}/changes-since-seen`, sinceSeenSchema);
  if (seen.seenAt !== null && nowMs / 1000 < seen.seenAt + lookSeconds) return seen;
  try {
    await api.send('PUT', `${apiPath}/seen`);
  } catch (error) {
    // A full disk is when people look.
    if (!(error instanceof ApiRefusal && error.code === 'storage-full')) throw error;
  }
  return seen;
}

export function newsOf({ since }: SinceSeen): ReadonlyMap<string, 'new' | 'different'> {
  const added = (since?.added ?? []).map((urn) => [urn, 'new'] as const);
  return new Map([...added, ...(since?.different ?? []).map((urn) => [urn, 'different'] as const)]);
}

export function sinceNotice({ since }: SinceSeen, nowMs: number): Markup | string {
  if (!since) return '';
  const { run, commit, seenAt, added, gone, different } = since;
  const which = html`the plan of <a href="/runs/${run}/plan"><span class="mono">${commit.slice(0, 7)}</span></a> that you looked at ${timeAgo(seenAt, nowMs)}`;
  if (added.length + gone.length + different.length === 0) {
    return html`<div class="notice since"><p>The same as ${which}.</p></div>`;
  }
  const counts = [
    `${added.length} new ${added.length === 1 ? 'change' : 'changes'}`,
    `${gone.length} gone`,
    `${different.length} different`,
  ].join(', ');
  return html`<div class="notice since"><p>Since ${which}: ${counts}.</p>
${gone.length === 0 ? '' : goneList(gone)}</div>`;
}

function goneList(gone: readonly string[]): Markup {
  const rest = gone.length - shownGone;
  return html`<details><summary>What is gone</summary><ul>${gone
    .slice(0, shownGone)
    .map((urn) => html`<li title="${urn}">${visible(nameOf(urn), 200)}</li>`)}</ul>
${rest > 0 ? html`<p class="soft">… and ${rest} more</p>` : ''}</details>`;
}
