import { html } from 'hono/html';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { deliveriesOf } from './delivery-list.ts';
import { etagField, ifMatchOf } from './etag-field.ts';
import { enabledToggle } from './integrations.ts';
import {
  integrationsPath,
  isAdmin,
  isWriter,
  ofWebhook,
  type Webhook,
  type WebhookFacts,
  webhookApiPath,
  webhookFacts,
  webhookFrame,
  webhookPath,
} from './webhook-frame.ts';
import { oldSecretsShown, replaceSecret, secretForm, secretShown } from './webhook-secret.ts';
import { lastResult, standingNotice, webhookState } from './webhook-standing.ts';

const newSecret = (): Draft => freshDraft({ kind: 'random', overlapHours: '24' });

/** One webhook and what became of its deliveries; forms for those who may send them. */
export const webhookPage = ofWebhook((view, facts) => pageWith(view, facts, newSecret()));

async function pageWith(view: View, facts: WebhookFacts, secretDraft: Draft): Promise<Page> {
  const { webhook, stack, path } = facts;
  const replayPath = `${path}/replay`;
  const body = html`${actionsOf(view, facts)}
${standingNotice(webhook, { nowMs: view.nowMs, replayPath })}
<dl class="facts">
<dt>State</dt><dd>${webhookState(webhook)}</dd>
<dt>Last result</dt><dd>${lastResult(webhook, view.nowMs)}</dd>
<dt>Told of</dt><dd>${filterWords(webhook)}</dd>
${headersShown(webhook)}
<dt>Secret</dt><dd>${secretShown(webhook)}</dd>
${oldSecretsShown(webhook, view.nowMs, isAdmin(stack) ? endOverlapForm(view, path) : '')}
</dl>
${isAdmin(stack) ? secretForm(view, webhook, path, secretDraft) : ''}
${isAdmin(stack) ? removalOf(view, facts) : ''}
${await deliveriesOf(view, facts)}`;
  return webhookFrame(facts, {
    title: html`<span class="mono">${webhook.endpoint}</span>`,
    body,
    isBelow: false,
  });
}

function actionsOf(view: View, { webhook, stack, path }: WebhookFacts): Markup | string {
  if (!isWriter(stack)) return '';
  const replay = html`<a class="button" href="${path}/replay">Replay what was missed</a>`;
  if (!isAdmin(stack)) return html`<div class="actions">${replay}</div>`;
  return html`<div class="actions">
${enabledToggle(view, webhook, integrationsPath(view), 'webhook')}
<form method="post" action="${path}/test">${formToken(view.session)}<button>Send a test</button></form>
<a class="button" href="${path}/edit">Edit webhook</a>
${replay}</div>`;
}

function filterWords({ filter }: Webhook): string {
  const states = filter?.states ? `changes to ${filter.states.join(', ')}` : 'every change of state';
  const types = filter?.runTypes ? `${filter.runTypes.join(', ')} runs` : 'every run';
  return `${states} of ${types}`;
}

function headersShown({ headers }: Webhook): Markup | string {
  const names = Object.keys(headers);
  if (names.length === 0) return '';
  return html`<dt>Headers</dt><dd>${names.map((name) => html`<div><code>${name}: ***</code></div>`)}</dd>`;
}

const endOverlapForm = ({ session }: View, path: string): Markup =>
  html`<form method="post" action="${path}/end-overlap">${formToken(session)}<button>Stop using old secrets now</button></form>`;

const removalOf = (
  { session }: View,
  { etag, path }: WebhookFacts,
): Markup => html`<details><summary>Delete webhook</summary>
<p>Its secrets and the record of its deliveries are gone for good. What is on its way is not sent any more.</p>
<form method="post" action="${path}/delete">${formToken(session)}${etagField(etag)}<button class="danger">Delete webhook</button></form></details>`;

const backTo = (form: Form): FormResult => ({ goTo: webhookPath(form) });

export async function switchWebhook(form: Form): Promise<FormResult> {
  await form.api.send('PATCH', webhookApiPath(form), { enabled: form.field('enabled') === 'yes' });
  return form.field('from') === 'webhook' ? backTo(form) : { goTo: integrationsPath(form) };
}

export async function regenerateSecret(form: Form): Promise<FormResult> {
  try {
    await replaceSecret(form);
    return backTo(form);
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const page = await pageWith(form, await webhookFacts(form), refusedDraft(form, problem));
    return { page, status };
  }
}

export async function endOverlap(form: Form): Promise<FormResult> {
  await form.api.send('DELETE', `${webhookApiPath(form)}/secret/old`);
  return backTo(form);
}

export async function deleteWebhook(form: Form): Promise<FormResult> {
  await form.api.send('DELETE', webhookApiPath(form), undefined, { ifMatch: ifMatchOf(form) });
  return { goTo: integrationsPath(form) };
}

export async function resendDelivery(form: Form): Promise<FormResult> {
  const id = form.field('delivery');
  await form.api.send('POST', `/api/v1/deliveries/${encodeURIComponent(id)}/resend`);
  return { goTo: `${webhookPath(form)}/deliveries/${encodeURIComponent(id)}` };
}
