import { html } from 'hono/html';
import { z } from 'zod';
import { webhookSummarySchema } from '../../../api/webhook-object.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { apiPathOf, settingsPage, stackOf } from './settings-frame.ts';
import { integrationsPath, isAdmin } from './webhook-frame.ts';
import { lastResult, webhookState } from './webhook-standing.ts';

type Webhook = z.output<typeof webhookSummarySchema>;

const webhookList = z.object({ items: z.array(webhookSummarySchema), nextCursor: z.string().nullable() });

/** The webhooks of a stack. Everybody who reads the stack sees them, its administrators change them. */
export async function integrationsPage(view: View): Promise<Page> {
  const { value: stack } = await stackOf(view);
  const cursor = encodeURIComponent(view.query('cursor') ?? '');
  const list = await view.api.get(`${apiPathOf(view)}/webhooks?limit=100&cursor=${cursor}`, webhookList);
  const here = integrationsPath(view);
  const add = html`<a class="button primary" href="${here}/new">Add webhook</a>`;
  const body = html`<div class="head"><h2>Webhooks</h2>${isAdmin(stack) ? html`<div class="actions">${add}</div>` : ''}</div>
<p class="soft">Each is told of every change of a run's state, signed with its secret.</p>
${list.items.length === 0 ? noWebhooks(isAdmin(stack)) : tableOf(view, list.items, isAdmin(stack))}
${list.nextCursor === null ? '' : html`<p><a href="${here}?cursor=${encodeURIComponent(list.nextCursor)}">More webhooks</a></p>`}`;
  return settingsPage(stack, 'Integrations', body);
}

function tableOf(view: View, webhooks: readonly Webhook[], canChange: boolean): Markup {
  const here = integrationsPath(view);
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Endpoint</th><th scope="col">State</th><th scope="col">Last result</th>${canChange ? html`<th scope="col"><span class="hidden">Actions</span></th>` : ''}</tr></thead>
<tbody>${webhooks.map(
    (webhook) => html`<tr>
<td><a class="mono endpoint" href="${here}/${webhook.id}">${webhook.endpoint}</a></td>
<td>${webhookState(webhook)}</td>
<td>${lastResult(webhook, view.nowMs)}</td>
${canChange ? html`<td>${enabledToggle(view, webhook, here)}</td>` : ''}</tr>`,
  )}</tbody></table></div>`;
}

/** `from`: where to come back to. */
export function enabledToggle(
  { session }: View,
  { id, enabled, endpoint }: Pick<Webhook, 'id' | 'enabled' | 'endpoint'>,
  here: string,
  from: 'list' | 'webhook' = 'list',
): Markup {
  return html`<form method="post" action="${here}/${id}/enabled">${formToken(session)}<input type="hidden" name="enabled" value="${enabled ? 'no' : 'yes'}">
<input type="hidden" name="from" value="${from}"><button>${enabled ? 'Disable' : 'Enable'}<span class="hidden"> ${endpoint}</span></button></form>`;
}

const noWebhooks = (
  canAdd: boolean,
): Markup => html`<div class="empty"><p>Nothing is told of this stack yet.</p>
<p>${canAdd ? 'Add a webhook, and the next change of a run is sent to it.' : 'An administrator of the repository can add a webhook.'}</p></div>`;
