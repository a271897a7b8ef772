import { html } from 'hono/html';
import { problemNotice, radioField, textField } from '../../components/form-field.ts';
import { timeAgo } from '../../components/time.ts';
import type { Draft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, View } from '../../page-routes.ts';
import { type Webhook, webhookApiPath } from './webhook-frame.ts';

/** Whoever reads the stack may read the secret (specification §5.5). */
export function secretShown({ secret, secretFingerprint }: Webhook): Markup {
  if (!secret) return html`none: receivers cannot tell who sent it`;
  return html`<details><summary>Show secret <code>${secretFingerprint}</code></summary><pre class="value">${secret}</pre></details>`;
}

export function oldSecretsShown(
  { oldSecrets }: Webhook,
  nowMs: number,
  ending: Markup | string,
): Markup | string {
  if (oldSecrets.length === 0) return '';
  return html`<dt>Old secrets</dt><dd>${oldSecrets.map(
    ({ fingerprint, until }) => html`<div><code>${fingerprint}</code> until ${timeAgo(until, nowMs)}</div>`,
  )}<p class="help">Used where the receiver refuses the new one.</p>${ending}</dd>`;
}

/** How the secret is replaced. */
export function secretForm(view: View, webhook: Webhook, path: string, draft: Draft): Markup {
  return html`<details${draft.problem === null ? '' : html` open`}><summary>${webhook.secret ? 'Regenerate secret' : 'Set a secret'}</summary>${problemNotice(draft)}
<form method="post" action="${path}/regenerate">${formToken(view.session)}
${radioField(draft, { name: 'kind', label: 'New secret' }, [
  { value: 'random', words: 'A random one' },
  { value: 'given', words: 'This one:' },
  { value: 'none', words: 'None', help: 'Requests are not signed any more.' },
])}
${textField(draft, {
  ...{ name: 'secret', label: 'Its text', type: 'password' },
  attributes: html` maxlength="1024" autocomplete="new-password"`,
})}
${textField(draft, {
  ...{ name: 'overlapHours', label: 'Hours for which the old one is still used' },
  attributes: html` inputmode="numeric" pattern="[0-9]{1,3}" class="short"`,
  help: 'Where the receiver refuses the new signature, the old secret signs: time to give the new one to the receiver. 0 ends it at once, 168 is the most.',
})}
<button class="primary">Regenerate secret</button></form></details>`;
}

/** What the form asks for. Throws `ApiRefusal`. */
export async function replaceSecret(form: Form): Promise<void> {
  const hours = form.field('overlapHours').trim();
  const overlapHours = hours === '' ? 24 : Number(hours);
  const path = webhookApiPath(form);
  switch (form.field('kind')) {
    case 'none':
      await form.api.send('PATCH', path, { secret: null, overlapHours });
      return;
    case 'given':
      await form.api.send('POST', `${path}/secret/regenerate`, {
        secret: form.field('secret'),
        overlapHours,
      });
      return;
    default:
      await form.api.send('POST', `${path}/secret/regenerate`, { overlapHours });
  }
}
