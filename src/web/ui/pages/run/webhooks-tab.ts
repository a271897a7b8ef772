import { html } from 'hono/html';
import { z } from 'zod';
import { toldSchema } from '../../../api/run-deliveries.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

const toldList = z.object({ webhooks: z.array(toldSchema) });

/** Whether every state of the run reached every webhook of its stack. */
export async function webhooksTab({ api }: View, { apiPath, states }: RunFacts): Promise<TabContent> {
  const { webhooks } = await api.get(`${apiPath}/deliveries`, toldList);
  if (webhooks.length === 0) return { body: html`<p class="soft">The stack has no webhooks.</p>` };
  const body = html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Webhook</th>${states.map(({ state }) => html`<th scope="col">${state}</th>`)}</tr></thead>
<tbody>${webhooks.map(
    (webhook) =>
      html`<tr><th scope="row" class="mono">${webhook.host}</th>${webhook.states.map(({ status }) => html`<td>${status ?? '–'}</td>`)}</tr>`,
  )}</tbody></table></div>`;
  return { body };
}
