import { html } from 'hono/html';
import { z } from 'zod';
import { deliverySchema } from '../../api/delivery-object.ts';
import { webhookSchema } from '../../api/webhook-object.ts';
import { timeAgo } from '../components/time.ts';
import { formToken, type Markup, type Page } from '../layout.ts';
import type { Form, FormResult, View } from '../page-routes.ts';
import { stackOf, stackPathOf, webhookState } from './integrations.ts';

type Webhook = z.output<typeof webhookSchema>;
type Delivery = z.output<typeof deliverySchema>;

const deliveryList = z.object({ items: z.array(deliverySchema), nextCursor: z.string().nullable() });
const testResult = z.object({
  ok: z.boolean(),
  outcome: z.string(),
  explanation: z.object({ what: z.string(), advice: z.string() }).optional(),
});

const apiPathOf = ({ param }: Pick<View, 'param'>): string =>
  `/api/v1/webhooks/${encodeURIComponent(param('webhook'))}`;

/** One webhook: its secret for everybody who reads the stack (specification §5.5), what changes it for administrators. */
export async function webhookPage(view: View): Promise<Page> {
  const { stack, path } = await stackOf(view);
  const webhook = await view.api.get(apiPathOf(view), webhookSchema);
  const { items, nextCursor } = await view.api.get(`${apiPathOf(view)}/deliveries?limit=50`, deliveryList);
  const isAdmin = stack.role === 'admin';
  const here = `${path}/settings/integrations`;
  const token = formToken(view.session);
  const body = html`<p class="crumbs"><a href="/">Stacks</a> / <a href="${path}">${stack.name}</a> / <a href="${here}">Integrations</a></p>
<h1><span class="mono">${webhook.endpoint}</span></h1>
${isAdmin ? actionsOf(webhook, `${here}/${webhook.id}`, token) : ''}
<dl class="facts">
<dt>State</dt><dd>${webhookState(webhook)}</dd>
${webhook.missed ? html`<dt>Missed</dt><dd>${webhook.missed} state changes. <code>npx slipway webhook replay ${webhook.id}</code> sends them.</dd>` : ''}
<dt>Secret</dt><dd>${secretOf(webhook)}</dd>
</dl>
<h2>Deliveries</h2>
${items.length === 0 ? html`<div class="empty"><p>Nothing was sent yet: the next change of a run's state is.</p></div>` : tableOf(items, view.nowMs, isAdmin ? { here: `${here}/${webhook.id}`, token } : null)}
${nextCursor === null ? '' : html`<p class="soft">These are the newest 50. <code>npx slipway webhook deliveries ${webhook.id}</code> shows all.</p>`}`;
  return { title: `Webhook of ${stack.name}`, section: 'stacks', body };
}

function secretOf({ secret, secretFingerprint }: Webhook): Markup {
  if (!secret) return html`none: receivers cannot tell who sent it`;
  return html`<details><summary>${secretFingerprint ?? 'Show it'}</summary><code>${secret}</code></details>`;
}

function actionsOf({ enabled, secret }: Webhook, here: string, token: Markup): Markup {
  const form = (verb: string, words: string, look = '', hidden: Markup | string = '') =>
    html`<form method="post" action="${here}/${verb}">${token}${hidden}<button class="${look}">${words}</button></form>`;
  const toggle = html`<input type="hidden" name="enabled" value="${enabled ? 'no' : 'yes'}">`;
  return html`<div class="actions">
${form('enabled', enabled ? 'Disable' : 'Enable', '', toggle)}
${form('test', 'Send a test')}
${form('regenerate', secret ? 'Regenerate secret' : 'Make a secret')}
<details><summary>Delete</summary><p>The webhook, its secret and the record of its deliveries are gone for good.</p>${form('delete', 'Delete webhook', 'danger')}</details>
</div>
<p class="help">A secret that is regenerated is still used for 24 hours where the new one is refused.</p>`;
}

function tableOf(
  deliveries: readonly Delivery[],
  nowMs: number,
  admin: { readonly here: string; readonly token: Markup } | null,
): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Run</th><th scope="col">Version</th><th scope="col">Result</th><th scope="col">Attempts</th><th scope="col">When</th>${admin ? html`<th scope="col"><span class="hidden">Actions</span></th>` : ''}</tr></thead>
<tbody>${deliveries.map(
    ({ id, run, stateVersion, status, attempts, createdAt }) => html`<tr>
<td><a href="/runs/${run}" class="mono">${run}</a></td>
<td>${stateVersion}</td>
<td>${status}${lastAnswer(attempts)}</td>
<td>${attempts.length}</td>
<td>${timeAgo(createdAt, nowMs)}</td>
${
  admin
    ? html`<td><form method="post" action="${admin.here}/resend">${admin.token}<input type="hidden" name="delivery" value="${id}"><button>Resend</button></form></td>`
    : ''
}</tr>`,
  )}</tbody></table></div>`;
}

function lastAnswer(attempts: Delivery['attempts']): string {
  const { statusCode, outcome } = attempts.at(-1) ?? {};
  if (statusCode !== undefined) return `, ${statusCode}`;
  return outcome === undefined || outcome === 'delivered' ? '' : `, ${outcome}`;
}

const here = (form: Form): string => `${stackPathOf(form)}/settings/integrations`;
const backTo = (form: Form): FormResult => ({
  goTo: `${here(form)}/${encodeURIComponent(form.param('webhook'))}`,
});

/** What the forms of the page post, by the last part of their address. */
export const webhookForms: Readonly<Record<string, (form: Form) => Promise<FormResult>>> = {
  async enabled(form) {
    await form.api.send('PATCH', apiPathOf(form), { enabled: form.field('enabled') === 'yes' });
    return backTo(form);
  },

  async regenerate(form) {
    await form.api.send('POST', `${apiPathOf(form)}/secret/regenerate`, {});
    return backTo(form);
  },

  async delete(form) {
    await form.api.send('DELETE', apiPathOf(form));
    return { goTo: here(form) };
  },

  async resend(form) {
    await form.api.send('POST', `/api/v1/deliveries/${encodeURIComponent(form.field('delivery'))}/resend`);
    return backTo(form);
  },

  async test(form) {
    const result = testResult.parse(await form.api.send('POST', `${apiPathOf(form)}/test`));
    const { ok, outcome, explanation } = result;
    const back = `${here(form)}/${form.param('webhook')}`;
    const body = html`<h1>Test</h1>
<div class="notice ${ok ? 'good' : 'bad'}"><p>${ok ? 'The receiver took it.' : `The receiver did not take it: ${outcome}.`}</p>
${explanation === undefined ? '' : html`<p>${explanation.what} ${explanation.advice}</p>`}</div>
<p><a href="${back}">Back to the webhook</a></p>`;
    return { page: { title: 'Test of a webhook', section: 'stacks', body }, status: 200 };
  },
};
