import { html } from 'hono/html';
import { z } from 'zod';
import { runStates } from '../../../../runs/run.ts';
import { deliverySchema, deliveryStatuses } from '../../../api/delivery-object.ts';
import { timeAgo } from '../../components/time.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { isWriter, type WebhookFacts, webhookApiPath } from './webhook-frame.ts';
import { attemptResult } from './webhook-standing.ts';

export type Delivery = z.output<typeof deliverySchema>;

const deliveryList = z.object({ items: z.array(deliverySchema), nextCursor: z.string().nullable() });

/** The deliveries of a webhook: `?status=`, `?state=` and `?cursor=` choose. */
export async function deliveriesOf(view: View, facts: WebhookFacts): Promise<Markup> {
  const [status, state, cursor] = ['status', 'state', 'cursor'].map(view.query);
  const query = queryOf({ status, state, cursor, limit: '50' });
  const { items, nextCursor } = await view.api.get(
    `${webhookApiPath(view)}/deliveries${query}`,
    deliveryList,
  );
  const older = nextCursor === null ? null : queryOf({ status, state, cursor: nextCursor });
  const isChosen = Boolean(status || state);
  return html`<h2 id="deliveries">Deliveries</h2>
<form method="get" action="${facts.path}#deliveries" class="filter">
${choice('status', 'Result', deliveryStatuses, status)}
${choice('state', 'State of the run', runStates, state)}
<button>Filter</button>${isChosen ? html` <a href="${facts.path}#deliveries">All deliveries</a>` : ''}</form>
${items.length === 0 ? nothing(isChosen) : tableOf(view, items, facts)}
${older === null ? '' : html`<p><a href="${facts.path}${older}#deliveries">Older deliveries</a></p>`}`;
}

const choice = (name: string, label: string, values: readonly string[], chosen = ''): Markup =>
  html`<div><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}"><option value="">all</option>
${values.map((value) => html`<option${value === chosen ? html` selected` : ''}>${value}</option>`)}</select></div>`;

const nothing = (isChosen: boolean): Markup =>
  html`<div class="empty"><p>${isChosen ? 'There is no such delivery.' : "Nothing was sent yet: the next change of a run's state is."}</p></div>`;

function tableOf(
  view: View,
  deliveries: readonly Delivery[],
  { path, stack, webhook }: WebhookFacts,
): Markup {
  const canResend = isWriter(stack) && webhook.enabled;
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">State</th><th scope="col">Result</th><th scope="col">Attempts</th><th scope="col">Run</th><th scope="col">When</th>${canResend ? html`<th scope="col"><span class="hidden">Actions</span></th>` : ''}</tr></thead>
<tbody>${deliveries.map((delivery) => {
    const { id, run, attempts, createdAt } = delivery;
    return html`<tr>
<td><a href="${path}/deliveries/${id}">${stateOf(delivery)}</a></td>
<td>${resultOf(delivery, view.nowMs)}</td>
<td>${attempts.length}</td>
<td><a href="/runs/${run}" class="mono">${run}</a></td>
<td>${timeAgo(createdAt, view.nowMs)}</td>
${canResend ? html`<td>${resendForm(view, path, id)}</td>` : ''}</tr>`;
  })}</tbody></table></div>`;
}

/** "FINISHED@7" */
export const stateOf = ({ state, stateVersion, policy }: Delivery): string =>
  policy ? `policy ${policy.name}` : `${state ?? 'state'}@${stateVersion}`;

export function resultOf({ status, attempts, nextAttemptAt }: Delivery, nowMs: number): Markup {
  const last = attempts.at(-1);
  const again =
    nextAttemptAt === undefined || status === 'delivered'
      ? ''
      : html`<div class="small soft">next attempt ${timeAgo(nextAttemptAt, nowMs)}</div>`;
  return html`${status}${last ? `, ${attemptResult(last)}` : ''}${again}`;
}

export const resendForm = ({ session }: View, path: string, delivery: string): Markup =>
  html`<form method="post" action="${path}/resend">${formToken(session)}<input type="hidden" name="delivery" value="${delivery}"><button>Resend</button></form>`;
