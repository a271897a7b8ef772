import { html } from 'hono/html';
import { problemNotice, radioField, textField } from '../../components/form-field.ts';
import { type Draft, type FieldValues, freshDraft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

const dayMs = 86_400_000;

const lives = [
  { value: '30', words: '30 days' },
  { value: '90', words: '90 days' },
  { value: '365', words: 'a year' },
  { value: 'never', words: 'never', help: 'Until somebody revokes it.' },
] as const;

export const newToken: Draft = freshDraft({ role: 'reader', expiresAt: '90' });

export function tokenForm({ session }: Pick<View, 'session'>, draft: Draft): Markup {
  return html`<h2 id="new">New token</h2>${problemNotice(draft)}
<form method="post" action="/tokens">${formToken(session)}
${textField(draft, {
  ...{ name: 'name', label: 'Name' },
  attributes: html` required maxlength="200" autocomplete="off"`,
  help: 'Who will use it, e.g. deploy bot. It stands in what is done with it.',
})}
${radioField(draft, { name: 'role', label: 'Role' }, [
  { value: 'reader', words: 'reader', help: 'Sees stacks and runs.' },
  { value: 'writer', words: 'writer', help: 'Also starts, confirms and stops runs.' },
  {
    value: 'admin',
    words: 'admin',
    help: 'Also changes stacks, secrets and webhooks; without an account below, the whole server.',
  },
])}
${textField(draft, {
  ...{ name: 'account', label: 'Account' },
  attributes: html` maxlength="200" spellcheck="false" autocapitalize="off" autocomplete="off" placeholder="acme"`,
  help: 'The one account that it sees. Empty: all.',
})}
${radioField(draft, { name: 'expiresAt', label: 'Expires after' }, lives)}
<button class="primary">Make token</button></form>`;
}

/** As the API takes it. What was not offered is sent as it came, to be refused there. */
export function tokenInput({ field }: FieldValues, nowMs: number): Record<string, unknown> {
  const account = field('account').trim();
  return {
    ...{ name: field('name').trim(), role: field('role') },
    account: account === '' ? null : account,
    expiresAt: expiryOf(field('expiresAt'), nowMs),
  };
}

function expiryOf(chosen: string, nowMs: number): number | string | null {
  if (chosen === 'never') return null;
  const isOffered = lives.some(({ value }) => value === chosen);
  return isOffered ? Math.floor((nowMs + Number(chosen) * dayMs) / 1000) : chosen;
}
