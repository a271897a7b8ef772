import { html } from 'hono/html';
import { deliverySchema } from '../../../api/delivery-object.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import { ApiRefusal } from '../../in-process-api.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { type Delivery, resendForm, resultOf, stateOf } from './delivery-list.ts';
import { exchangeShown } from './exchange.ts';
import { isAdmin, isWriter, ofWebhook, type WebhookFacts, webhookFrame } from './webhook-frame.ts';
import { attemptResult } from './webhook-standing.ts';

type Attempt = Delivery['attempts'][number];

/** More than a page should carry is a link. */
const maxShown = 20_000;

/** One delivery: what was sent, and what each attempt came to. `?attempt=` is the one that is looked into. */
export const deliveryPage = ofWebhook(
  async (view, facts) => {
    const id = encodeURIComponent(view.param('delivery'));
    const apiPath = `/api/v1/deliveries/${id}`;
    const delivery = await view.api.get(apiPath, deliverySchema);
    if (delivery.webhook !== facts.webhook.id) {
      const place = facts.path.split('/').slice(0, -1).join('/');
      return { goTo: `${place}/${delivery.webhook}/deliveries/${id}` };
    }
    const number = Number(view.query('attempt') ?? delivery.attempts.length);
    const attempt = delivery.attempts.find((each) => each.number === number);
    const here = `${facts.path}/deliveries/${id}`;
    const body = html`${isWriter(facts.stack) && facts.webhook.enabled ? html`<div class="actions">${resendForm(view, facts.path, delivery.id)}</div>` : ''}
<dl class="facts">
<dt>Run</dt><dd><a class="mono" href="/runs/${delivery.run}">${delivery.run}</a>${delivery.state ? html` ${stateBadge(delivery.state)}` : ''}</dd>
<dt>Result</dt><dd>${resultOf(delivery, view.nowMs)}</dd>
<dt>Made</dt><dd>${timeAgo(delivery.createdAt, view.nowMs)}</dd>
<dt>Id</dt><dd><code>${delivery.id}</code> <span class="soft">X-Slipway-Delivery, the same on every attempt</span></dd>
</dl>
<h2>Attempts</h2>
${delivery.attempts.length === 0 ? html`<p class="soft">None yet.</p>` : attemptsTable(delivery, number, here, view.nowMs)}
${attempt ? await attemptShown(view, facts, { apiPath, attempt }) : ''}
<h2>Body</h2>${textShown(await textOf(view, `${apiPath}/body`), `${apiPath}/body`, 'Body of the request')}`;
    return webhookFrame(facts, { title: `Delivery of ${stateOf(delivery)}`, body }, { scripts: ['copy.js'] });
  },
  (view) => `/deliveries/${encodeURIComponent(view.param('delivery'))}`,
);

function attemptsTable({ attempts }: Delivery, chosen: number, here: string, nowMs: number): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Attempt</th><th scope="col">When</th><th scope="col">Result</th></tr></thead>
<tbody>${attempts.toReversed().map(
    (attempt) => html`<tr>
<td><a href="${here}?attempt=${attempt.number}#attempt"${attempt.number === chosen ? html` aria-current="true"` : ''}>${attempt.number}</a></td>
<td>${timeAgo(attempt.at, nowMs)}</td>
<td>${attemptResult(attempt)}</td></tr>`,
  )}</tbody></table></div>`;
}

async function attemptShown(
  view: View,
  { stack }: WebhookFacts,
  { apiPath, attempt }: { readonly apiPath: string; readonly attempt: Attempt },
): Promise<Markup> {
  const { number, explanation, detail, exchange } = attempt;
  const curlPath = `${apiPath}/curl?attempt=${number}`;
  const curl = isAdmin(stack) && exchange ? await textOf(view, curlPath) : null;
  return html`<h2 id="attempt">Attempt ${number}</h2>
${explanation ? html`<div class="notice bad"><p>${explanation.what}</p><p>${explanation.advice}</p></div>` : ''}
${detail === undefined ? '' : html`<p class="soft">${detail}</p>`}
${exchange ? exchangeShown(exchange, attempt.statusCode) : html`<p class="soft">${isAdmin(stack) ? 'Nothing is known of what went over the wire.' : 'What went over the wire is shown to administrators of the repository.'}</p>`}
${curl === null ? '' : html`<h3>The same by hand</h3>${textShown(curl, curlPath, 'curl command')}`}`;
}

/** Null for what is not there (any more). */
async function textOf({ api }: View, path: string): Promise<string | null> {
  try {
    return await api.text(path);
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return null;
    throw error;
  }
}

function textShown(text: string | null, path: string, label: string): Markup {
  if (text === null) return html`<p class="soft">It is not kept any more.</p>`;
  if (text.length > maxShown)
    return html`<p><a href="${path}">${label}</a>, ${text.length.toLocaleString('en')} characters</p>`;
  return html`<pre class="card" tabindex="0" aria-label="${label}" data-copy>${text}</pre>`;
}
