import { html } from 'hono/html';
import { z } from 'zod';
import { runStates } from '../../../../runs/run.ts';
import { replaySchema, startedSchema } from '../../../api/replays.ts';
import { checkField, problemNotice, textField } from '../../components/form-field.ts';
import { timeAgo } from '../../components/time.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { type ReplayRange, rangeIn, utcField } from './replay-range.ts';
import {
  isWriter,
  ofWebhook,
  type WebhookFacts,
  webhookApiPath,
  webhookFacts,
  webhookFrame,
  webhookPath,
} from './webhook-frame.ts';

type Replay = z.output<typeof replaySchema>;

const replayList = z.object({ items: z.array(replaySchema) });
const dayMs = 24 * 60 * 60 * 1000;

/** Sends state changes again: first counted, then confirmed. With the replays that there were. */
export const replayPage = ofWebhook(
  (view, facts) => pageWith(view, facts, freshDraft({ since: firstMissed(view, facts), failedOnly: 'yes' })),
  () => '/replay',
);

/** From when on something may be missing. */
function firstMissed({ nowMs }: View, { webhook }: WebhookFacts): string {
  const times = [webhook.disabledAt, webhook.health?.failingSince].filter((time) => time !== undefined);
  // An attempt fails a moment after its state change.
  return utcField(times.length === 0 ? nowMs - dayMs : (Math.min(...times) - 60) * 1000);
}

async function pageWith(
  view: View,
  facts: WebhookFacts,
  draft: Draft,
  counted: Markup | string = '',
): Promise<Page> {
  const { items } = await view.api.get(`${webhookApiPath(view)}/replays?limit=20`, replayList);
  const body = html`<p>Every state change of the time is sent again, with the id that it had, so that a receiver that has it already can leave it out.</p>
${counted}${isWriter(facts.stack) && counted === '' ? formOf(view, facts, draft) : ''}
<h2>Replays</h2>${items.length === 0 ? html`<p class="soft">There was none.</p>` : tableOf(view, facts, items)}`;
  return webhookFrame(facts, { title: 'Replay', body });
}

function formOf({ session }: View, { webhook, path }: WebhookFacts, draft: Draft): Markup {
  if (!webhook.enabled) {
    return html`<div class="notice person"><p>The webhook is disabled, and nothing is sent to it. Enable it first.</p></div>`;
  }
  const chosen = draft.field('state');
  return html`${problemNotice(draft)}<form method="post" action="${path}/replay">${formToken(session)}
${textField(draft, { ...{ name: 'since', label: 'From (UTC)', type: 'datetime-local' }, attributes: html` required step="1" class="short"` })}
${textField(draft, { ...{ name: 'until', label: 'Until (UTC)', type: 'datetime-local' }, attributes: html` step="1" class="short"`, help: 'Empty: until now.' })}
<div class="field"><label for="state">State</label><select id="state" name="state" class="short"><option value="">every state</option>
${runStates.map((state) => html`<option${state === chosen ? html` selected` : ''}>${state}</option>`)}</select></div>
${checkField(draft, { name: 'failedOnly', label: 'Only what was not delivered', help: 'Given up, failed so far, skipped, or never sent.' })}
<button class="primary">Count deliveries</button></form>`;
}

function tableOf(
  { session, nowMs }: View,
  { path, stack }: WebhookFacts,
  replays: readonly Replay[],
): Markup {
  const isRunning = replays.some(({ status }) => status === 'running');
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Begun</th><th scope="col">By</th><th scope="col">What</th><th scope="col">Progress</th></tr></thead>
<tbody>${replays.map(
    (
      replay,
    ) => html`<tr><td>${timeAgo(replay.createdAt, nowMs)}</td><td>${replay.createdBy}</td><td>${rangeWords(replay)}</td>
<td><progress max="${Math.max(1, replay.total)}" value="${replay.queued}" aria-label="Queued"></progress> ${replay.status}: ${replay.queued} of ${replay.total} queued
${
  replay.status === 'running' && isWriter(stack)
    ? html`<form method="post" action="${path}/cancel-replay">${formToken(session)}<input type="hidden" name="replay" value="${replay.id}"><button>Cancel replay</button></form>`
    : ''
}</td></tr>`,
  )}</tbody></table></div>
${isRunning ? html`<p><a href="${path}/replay">Look again</a></p>` : ''}`;
}

function rangeWords({ since, until, state, failedOnly }: Replay): string {
  const at = (seconds: number) => utcField(seconds * 1000).replace('T', ' ');
  return `${failedOnly ? 'undelivered ' : ''}${state ?? 'all states'}, ${at(since)} to ${at(until)} UTC`;
}

/** Counts, or starts what was counted. */
export async function replay(form: Form): Promise<FormResult> {
  const facts = await webhookFacts(form);
  try {
    const range = rangeIn(form, form.nowMs);
    const isSure = form.field('confirmed') === 'yes';
    const answer = await form.api.send('POST', `${webhookApiPath(form)}/replay`, {
      ...range,
      dryRun: !isSure,
    });
    if (isSure) return { goTo: `${webhookPath(form)}/replay` };
    const counted = countedShown(form, facts, range, startedSchema.parse(answer));
    return { page: await pageWith(form, facts, freshDraft(), counted), status: 200 };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, facts, refusedDraft(form, problem)), status };
  }
}

function countedShown(
  { session }: View,
  { path, webhook }: WebhookFacts,
  range: ReplayRange,
  { count, states, oldest }: z.output<typeof startedSchema>,
): Markup {
  const again = html`<a href="${path}/replay">Choose another time</a>`;
  const kept =
    oldest === null
      ? ''
      : html`<p class="help">Nothing from before ${utcField(oldest * 1000).replace('T', ' ')} UTC is kept of this stack.</p>`;
  if (count === 0)
    return html`<div class="notice"><p>There is nothing to send in that time.</p>${kept}<p>${again}</p></div>`;
  const { since, until, state, failedOnly } = range;
  const hidden = Object.entries({
    ...{ since: utcField(since * 1000), until: utcField(until * 1000) },
    ...{ state: state ?? '', failedOnly: failedOnly ? 'yes' : '', confirmed: 'yes' },
  });
  return html`<div class="notice person"><p><strong>${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'} will be sent</strong> to <span class="mono">${webhook.endpoint}</span>, little by little.</p>
<p>${statesCounted(states)}</p>${kept}</div>
<form method="post" action="${path}/replay">${formToken(session)}${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="actions"><button class="primary">Send ${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}</button> ${again}</div></form>`;
}

/** In the order that runs go through them. */
const statesCounted = (states: Readonly<Record<string, number>>): string =>
  runStates
    .flatMap((state) => (states[state] ? [`${state}: ${states[state].toLocaleString('en')}`] : []))
    .join(', ');

export async function cancelReplay(form: Form): Promise<FormResult> {
  const id = encodeURIComponent(form.field('replay'));
  await form.api.send('POST', `${webhookApiPath(form)}/replays/${id}/cancel`);
  return { goTo: `${webhookPath(form)}/replay` };
}
