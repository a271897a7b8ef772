import { html } from 'hono/html';
import { problemNotice, textField } from '../../components/form-field.ts';
import type { Draft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { etagField } from './etag-field.ts';
import { pathOf, type Stack } from './settings-frame.ts';

export function removalForm(view: View, { name }: Stack, etag: string | null, draft: Draft): Markup {
  const isOpen = draft.problem !== null;
  return html`<h2>Delete stack</h2>${problemNotice(draft)}
<details${isOpen ? html` open` : ''}><summary>Delete ${name}</summary>
<p>Its runs with their plans and logs, its webhooks with their deliveries, and its environment with all secrets are gone for good.</p>
<p>What it deployed stays, and so does the state of the tool: to tear that down, run a DESTROY first.</p>
<form method="post" action="${pathOf(view)}/settings/delete">${formToken(view.session)}${etagField(etag)}
${textField(draft, {
  ...{ name: 'confirmation', label: 'Name of the stack' },
  attributes: html` required autocomplete="off"`,
  help: html`Type <strong>${name}</strong>.`,
})}
<button class="danger">Delete stack</button></form></details>`;
}
