import { html } from 'hono/html';
import { z } from 'zod';
import type { PolicyKind } from '../../../../policies/policy.ts';
import type { Markup } from '../../layout.ts';
import type { Form, View } from '../../page-routes.ts';
import { sourceIn } from './policy-form.ts';

const checkedSchema = z.object({ rules: z.array(z.string()), hints: z.array(z.string()) });
type Checked = z.output<typeof checkedSchema>;

export const isChecked = ({ field }: Pick<Form, 'field'>): boolean => field('act') === 'check';

/** What the compiler finds in a source that could be saved. Throws `ApiRefusal`. */
export async function checkSource(
  { api }: Pick<View, 'api'>,
  kind: PolicyKind,
  source: { readonly body: string; readonly regoVersion: number | string },
): Promise<Checked> {
  return checkedSchema.parse(await api.send('POST', '/api/v1/policies/check', { kind, ...source }));
}

/** That what was typed compiles. Throws `ApiRefusal`. */
export async function checkedNotice(form: Form, kind: PolicyKind): Promise<Markup> {
  const { rules, hints } = await checkSource(form, kind, sourceIn(form));
  return html`<div class="notice good" role="status"><p>It compiles, with the rules ${rules.join(', ')}. Nothing is saved yet.</p></div>${hintNotice(hints)}`;
}

/** What is allowed and yet most likely not meant. */
export function hintNotice(hints: readonly string[]): Markup | string {
  if (hints.length === 0) return '';
  return html`<div class="notice person"><p>Most likely not meant:</p><ul>${hints.map((hint) => html`<li>${hint}</li>`)}</ul></div>`;
}
