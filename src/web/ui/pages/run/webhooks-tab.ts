import { html } from 'hono/html';
import { z } from 'zod';
import { toldSchema } from '../../../api/run-deliveries.ts';
import { deliveryLight } from '../../components/delivery-light.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

type Told = z.output<typeof toldSchema>;

const toldList = z.object({ webhooks: z.array(toldSchema) });

/** Whether every state of the run reached every webhook of its stack. */
export async function webhooksTab({ api, nowMs }: View, facts: RunFacts): Promise<TabContent> {
  const { apiPath, states, stack } = facts;
  const { webhooks } = await api.get(`${apiPath}/deliveries`, toldList);
  const integrations = `${stackPath(stack.account, stack.id)}/settings/integrations`;
  const styles = ['deliveries.css'];
  if (webhooks.length === 0) return { styles, body: empty(stack.role, integrations) };
  const body = html`<p class="soft">${sentenceOf(webhooks)}</p>
<div class="scroll" tabindex="0"><table class="told">
<thead><tr><th scope="col">Webhook</th>${states.map(({ state, stateVersion }) => html`<th scope="col">${state}<div class="soft">${stateVersion}</div></th>`)}</tr></thead>
<tbody>${webhooks.map((webhook) => rowOf(webhook, integrations, nowMs))}</tbody></table></div>`;
  return { styles, body };
}

function sentenceOf(webhooks: readonly Told[]): string {
  const lights = new Set(webhooks.flatMap(({ states }) => states.map(({ light }) => light)));
  if (lights.has('red')) return 'Not everything was delivered: open a delivery to see why.';
  if (lights.has('amber')) return 'Some deliveries are on their way.';
  return 'Every webhook was told of every state that it wants.';
}

function rowOf({ webhook, host, enabled, states }: Told, integrations: string, nowMs: number): Markup {
  const here = `${integrations}/${webhook}`;
  return html`<tr><th scope="row"><a class="mono" href="${here}">${host}</a>${enabled ? '' : html`<div class="soft small">disabled</div>`}</th>
${states.map((told) => {
  const shown = deliveryLight(told, nowMs);
  return html`<td>${told.delivery === undefined ? shown : html`<a href="${`${here}/deliveries/${told.delivery}`}">${shown}</a>`}</td>`;
})}</tr>`;
}

function empty(role: RunFacts['stack']['role'], integrations: string): Markup {
  const next =
    role === 'admin'
      ? html`<a class="button primary" href="${integrations}">Add webhook</a>`
      : html`<p class="soft">Administrators of the stack can add one.</p>`;
  return html`<div class="empty"><p>The stack has no webhooks, so nobody is told of its runs.</p>${next}</div>`;
}
