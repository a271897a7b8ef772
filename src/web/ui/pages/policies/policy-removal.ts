import { html } from 'hono/html';
import { problemNotice, textField } from '../../components/form-field.ts';
import type { Draft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { etagField } from '../settings/etag-field.ts';
import type { JudgedStacks } from './judged-stacks.ts';
import { type Policy, policyPath } from './policy-reads.ts';

export function policyRemoval(
  { session }: View,
  { id, name }: Policy,
  etag: string | null,
  { items, nextCursor }: JudgedStacks,
  draft: Draft,
): Markup {
  const count = `${items.length}${nextCursor === null ? '' : '+'}`;
  const freed =
    items.length === 0
      ? ''
      : ` ${count} ${items.length === 1 ? 'stack is' : 'stacks are'} judged without it from then on, runs that wait included.`;
  return html`<h2>Delete policy</h2>${problemNotice(draft)}
<details${draft.problem === null ? '' : html` open`}><summary>Delete ${name}</summary>
<p>Its versions and the inputs that it kept are gone for good. What it decided stays with the runs.${freed}</p>
<form method="post" action="${policyPath(id)}/delete">${formToken(session)}${etagField(etag)}
${textField(draft, {
  ...{ name: 'confirmation', label: 'Name of the policy' },
  attributes: html` required autocomplete="off"`,
  help: html`Type <strong>${name}</strong>.`,
})}
<button class="danger">Delete policy</button></form></details>`;
}
