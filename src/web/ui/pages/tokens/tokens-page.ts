import { html } from 'hono/html';
import { z } from 'zod';
import { madeTokenSchema, tokenSchema } from '../../../api/tokens.ts';
import { pager } from '../../components/pager.ts';
import { timeAgo } from '../../components/time.ts';
import { formRefusal, refusedDraft } from '../../draft.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { newToken, tokenForm, tokenInput } from './token-form.ts';

type Token = z.output<typeof tokenSchema>;

const tokenPage = z.object({ items: z.array(tokenSchema), nextCursor: z.string().nullable() });
const words = { first: 'Oldest tokens', next: 'Newer tokens' };

/** For administrators of the instance: everybody else is told that there is nothing. */
export async function tokensPage(view: View): Promise<Page> {
  return pageWith(view, html`${tokenForm(view, newToken)}`);
}

/** `first`: what stands above the list. */
async function pageWith(view: View, form: Markup, first: Markup | string = ''): Promise<Page> {
  const cursor = view.query('cursor');
  const { items, nextCursor } = await view.api.get(`/api/v1/tokens${queryOf({ cursor })}`, tokenPage);
  const body = html`<p class="crumbs"><a href="/system">System</a></p>
<h1>Tokens</h1>
${first}<p>Programs use the API with them, and so does the command line of another machine. The server keeps no token, only a digest of it.</p>
${items.length === 0 ? html`<div class="empty"><p>No tokens yet.</p></div>` : tableOf(view, items)}
${pager({ path: '/tokens', fields: {}, cursor, nextCursor, words })}
${form}`;
  return { title: 'Tokens', section: 'system', styles: ['settings.css'], scripts: ['copy.js'], body };
}

function tableOf(view: View, tokens: readonly Token[]): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Account</th><th scope="col">Made</th><th scope="col">Last used</th><th scope="col">Expires</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
<tbody>${tokens.map(
    (token) => html`<tr>
<td>${token.name}</td>
<td>${token.role}</td>
<td>${token.account ?? html`<span class="soft">all</span>`}</td>
<td>${timeAgo(token.createdAt, view.nowMs)} by ${token.createdBy}</td>
<td>${token.lastUsedAt === null ? html`<span class="soft">not yet</span>` : timeAgo(token.lastUsedAt, view.nowMs)}</td>
<td>${expiryOf(token, view.nowMs)}</td>
<td>${revocation(view, token)}</td></tr>`,
  )}</tbody></table></div>`;
}

function expiryOf({ expiresAt }: Token, nowMs: number): Markup {
  if (expiresAt === null) return html`<span class="soft">never</span>`;
  const when = timeAgo(expiresAt, nowMs);
  return expiresAt * 1000 <= nowMs ? html`<span class="bad-words">expired</span> ${when}` : when;
}

function revocation({ session }: View, { id, name }: Token): Markup {
  return html`<details><summary>Revoke<span class="hidden"> ${name}</span></summary>
<p>Whatever uses it is refused from the next request on. That cannot be taken back: it would need a new token.</p>
<form method="post" action="/tokens/revoke">${formToken(session)}<input type="hidden" name="token" value="${id}">
<button class="danger">Revoke ${name}</button></form></details>`;
}

export async function makeToken(form: Form): Promise<FormResult> {
  try {
    const made = await form.api.send('POST', '/api/v1/tokens', tokenInput(form, form.nowMs));
    const shown = shownOnce(madeTokenSchema.parse(made), form.publicUrl);
    return { page: await pageWith(form, html`${tokenForm(form, newToken)}`, shown), status: 200 };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, tokenForm(form, refusedDraft(form, problem))), status };
  }
}

function shownOnce({ name, token }: z.output<typeof madeTokenSchema>, publicUrl: string): Markup {
  const example = `curl -sS -H "Authorization: Bearer ${token}" ${publicUrl}/api/v1/stacks`;
  return html`<div class="notice good" role="status"><p>This is the token <strong>${name}</strong>. It is shown this once: copy it now.</p>
<pre class="value" tabindex="0" aria-label="Token" data-copy>${token}</pre>
<p>For example:</p>
<pre class="value" tabindex="0" aria-label="Example" data-copy>${example}</pre></div>`;
}

export async function revokeToken(form: Form): Promise<FormResult> {
  await form.api.send('DELETE', `/api/v1/tokens/${encodeURIComponent(form.field('token'))}`);
  return { goTo: '/tokens' };
}
