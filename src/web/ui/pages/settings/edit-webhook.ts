import { html } from 'hono/html';
import { checkField, checksField, problemNotice } from '../../components/form-field.ts';
import {
  type Draft,
  type FieldValues,
  fieldValues,
  formRefusal,
  freshDraft,
  refusedDraft,
} from '../../draft.ts';
import { formToken, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { etagField, ifMatchOf } from './etag-field.ts';
import {
  endpointField,
  filterFields,
  filterIn,
  filterValues,
  headersField,
  headersIn,
  typedAgainNotice,
} from './webhook-form.ts';
import {
  isAdmin,
  ofWebhook,
  type Webhook,
  type WebhookFacts,
  webhookApiPath,
  webhookFacts,
  webhookFrame,
  webhookPath,
} from './webhook-frame.ts';

/** What of a webhook can be changed at once; its secret is replaced on its own page. */
export const editWebhookPage = ofWebhook(
  async (view, facts) => {
    if (!isAdmin(facts.stack)) return { goTo: facts.path };
    return pageWith(view, facts, { ...freshDraft(), ...valuesOf(facts.webhook) });
  },
  () => '/edit',
);

const valuesOf = (webhook: Webhook): FieldValues =>
  fieldValues({
    ...{ endpoint: webhook.endpoint, enabled: webhook.enabled ? 'yes' : '' },
    ...filterValues(webhook),
  });

function pageWith(view: View, facts: WebhookFacts, draft: Draft): Page {
  const { webhook, etag, path } = facts;
  const names = Object.keys(webhook.headers);
  const body = html`${problemNotice(draft)}${typedAgainNotice(draft)}
<form method="post" action="${path}/edit">${formToken(view.session)}${etagField(etag)}
${endpointField(draft)}
${filterFields(draft)}
${
  names.length === 0
    ? ''
    : checksField(
        draft,
        {
          name: 'removedHeaders',
          label: 'Headers that are sent',
          help: 'Marked ones are removed. The others stay as they are.',
        },
        names.map((name) => ({ value: name, words: name })),
      )
}
${headersField(draft, 'Added to those that are there, one "Name: value" on each line; a name that is there gets the new value. Values are not shown again.')}
${checkField(draft, { name: 'enabled', label: 'Enabled', help: 'Disabling stops what is on its way; enabling forgets what failed.' })}
<div class="actions"><button class="primary">Save webhook</button> <a href="${path}">Do not change it</a></div></form>`;
  return webhookFrame(facts, { title: 'Edit webhook', body });
}

export async function saveWebhook(form: Form): Promise<FormResult> {
  const removed = Object.fromEntries(form.fields('removedHeaders').map((name) => [name, null]));
  const endpoint = form.field('endpoint').trim();
  const facts = await webhookFacts(form);
  try {
    const change = {
      // One that stays is not judged anew: its name may not resolve just now.
      ...(endpoint !== facts.webhook.endpoint && { endpoint }),
      enabled: form.field('enabled') === 'yes',
      ...{ filter: filterIn(form), headers: { ...removed, ...headersIn(form) } },
    };
    await form.api.send('PATCH', webhookApiPath(form), change, { ifMatch: ifMatchOf(form) });
    return { goTo: webhookPath(form) };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: pageWith(form, facts, refusedDraft(form, problem, valuesOf(facts.webhook))), status };
  }
}
