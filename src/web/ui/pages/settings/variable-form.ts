import { html } from 'hono/html';
import type { z } from 'zod';
import type { variableSchema } from '../../../api/environment.ts';
import { checkField, problemNotice, radioField, textArea, textField } from '../../components/form-field.ts';
import type { Draft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { pathOf } from './settings-frame.ts';

export type Variable = z.output<typeof variableSchema>;

export const accesses = [
  { value: 'all', words: 'every run', help: 'Previews of pull requests too.' },
  {
    value: 'tracked',
    words: 'runs of the branch',
    help: 'TRACKED, TASK and DESTROY; previews do without it.',
  },
  {
    value: 'apply',
    words: 'applying only',
    help: 'What those runs do after the confirmation: applying, destroying, performing.',
  },
] as const;

/** `changed`: the variable that is there already, null for a new one. */
export function variableForm(view: View, draft: Draft, changed: Variable | null): Markup {
  const isSecret = draft.field('secret') === 'yes';
  // A secret that was typed is not sent back.
  const shown: Draft = isSecret
    ? { ...draft, field: (name) => (name === 'value' ? '' : draft.field(name)) }
    : draft;
  const title = changed === null ? 'Add variable' : `Change ${changed.name}`;
  return html`<h2 id="variable">${title}</h2>${problemNotice(draft)}
<form method="post" action="${pathOf(view)}/settings/environment">${formToken(view.session)}
${changed === null ? nameField(shown) : html`<input type="hidden" name="name" value="${changed.name}"><input type="hidden" name="change" value="yes">`}
${textArea(shown, {
  ...{ name: 'value', label: 'Value' },
  attributes: html` spellcheck="false" autocapitalize="off" autocomplete="off"`,
  help: changed?.secret
    ? 'The one that is stored is not shown: type it again, or a new one.'
    : 'Several lines are possible, e.g. a private key.',
})}
${checkField(shown, {
  ...{ name: 'secret', label: 'Secret' },
  help: 'Never shown again, hidden in what runs print, and needs 4 characters at least.',
})}
${radioField(shown, { name: 'access', label: 'Seen by' }, accesses)}
<div class="actions"><button class="primary">${changed === null ? 'Add variable' : 'Save variable'}</button>${
    changed === null ? '' : html` <a href="${pathOf(view)}/settings/environment">Do not change it</a>`
  }</div></form>`;
}

const nameField = (draft: Draft): Markup =>
  textField(draft, {
    ...{ name: 'name', label: 'Name' },
    attributes: html` required maxlength="200" class="mono" spellcheck="false" autocapitalize="off" autocomplete="off"`,
    help: 'Letters, digits and underscores. A name that is there gets the new value.',
  });

export const variableRemoval = (view: View, { name }: Variable): Markup => html`<details>
<summary>Remove ${name}</summary><p>Its value is gone for good. Runs that are prepared from now on do without it.</p>
<form method="post" action="${pathOf(view)}/settings/environment/remove">${formToken(view.session)}
<input type="hidden" name="name" value="${name}"><button class="danger">Remove variable</button></form></details>`;
