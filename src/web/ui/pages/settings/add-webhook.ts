import { html } from 'hono/html';
import { UserError } from '../../../../user-error.ts';
import { webhookSchema } from '../../../api/webhook-object.ts';
import { checkField, problemNotice, textField } from '../../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import { formToken, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { apiPathOf, settingsPage, stackOf } from './settings-frame.ts';
import {
  endpointField,
  filterFields,
  filterIn,
  headersField,
  headersIn,
  typedAgainNotice,
} from './webhook-form.ts';
import { integrationsPath, isAdmin } from './webhook-frame.ts';

export const newWebhookPage = (view: View): Promise<Page> => pageWith(view, freshDraft({ enabled: 'yes' }));

async function pageWith(view: View, draft: Draft): Promise<Page> {
  const { value: stack } = await stackOf(view);
  if (!isAdmin(stack)) throw notForThem();
  const body = html`<h2>Add webhook</h2>${problemNotice(draft)}${typedAgainNotice(draft)}
<form method="post" action="${integrationsPath(view)}">${formToken(view.session)}
${endpointField(draft)}
${textField(draft, {
  ...{ name: 'secret', label: 'Secret', type: 'password' },
  attributes: html` maxlength="1024" autocomplete="new-password"`,
  help: 'What the receiver checks signatures with. Left empty, a random one is made and shown.',
})}
${headersField(draft, 'Sent along with each request, one "Name: value" on each line, e.g. what the receiver wants as authorization. Values are not shown again.')}
${filterFields(draft)}
${checkField(draft, { name: 'enabled', label: 'Enabled', help: 'A disabled one is sent nothing.' })}
<div class="actions"><button class="primary">Add webhook</button> <a href="${integrationsPath(view)}">Do not add it</a></div></form>`;
  return settingsPage(stack, 'Integrations', body);
}

const notForThem = (): UserError =>
  new UserError('forbidden', 'Only administrators of the repository add webhooks.');

/** What was typed is there again when it is refused, but for what is secret. */
export async function addWebhook(form: Form): Promise<FormResult> {
  const secret = form.field('secret');
  try {
    const made = await form.api.send('POST', `${apiPathOf(form)}/webhooks`, {
      ...{ endpoint: form.field('endpoint').trim(), enabled: form.field('enabled') === 'yes' },
      ...{ filter: filterIn(form), headers: headersIn(form) },
      ...(secret === '' ? { generateSecret: true } : { secret }),
    });
    return { goTo: `${integrationsPath(form)}/${webhookSchema.parse(made).id}` };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, refusedDraft(form, problem)), status };
  }
}
