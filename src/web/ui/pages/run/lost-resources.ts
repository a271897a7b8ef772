import { html } from 'hono/html';
import type { z } from 'zod';
import { visible } from '../../../../runs/plan/visible-text.ts';
import { planSchema } from '../../../api/run-plan.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';

const shownOfEach = 20;

/** What a confirmation deletes, by name: deletes and replacements of the plan. */
export async function lostResources({ api }: View, { run, apiPath }: RunFacts): Promise<Markup | string> {
  if (!run.delta?.deleted) return '';
  const read = (op: string) => api.get(`${apiPath}/plan?op=${op}&limit=${shownOfEach}`, planSchema);
  const [deleted, replaced] = await Promise.all([read('delete'), read('replace')]);
  return html`${listOf('Deleted', deleted)}${listOf('Deleted and made anew', replaced)}`;
}

function listOf(words: string, { items, found }: z.output<typeof planSchema>): Markup | string {
  if (found === 0) return '';
  const rest = found - items.length;
  return html`<p><b>${words}:</b></p>
<ul>${items.map(
    ({ name, type, mayHoldData }) =>
      html`<li>${visible(name, 200)} <span class="soft small mono">${visible(type, 200)}</span>${mayHoldData ? html` <b class="data">may hold data</b>` : ''}</li>`,
  )}${rest > 0 ? html`<li class="soft">and ${rest} more</li>` : ''}</ul>`;
}
