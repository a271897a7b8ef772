import { html } from 'hono/html';
import { z } from 'zod';
import { sessionSchema } from '../../../api/sessions.ts';
import { timeAgo } from '../../components/time.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { browserName } from './browser-name.ts';

const sessionList = z.object({ items: z.array(sessionSchema) });

/** Where the person is logged in. */
export async function sessionsOf(view: View): Promise<Markup> {
  const { items } = await view.api.get('/api/v1/sessions', sessionList);
  const own = view.session.record.id;
  return html`<h2>Where you are logged in</h2>
<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Browser</th><th scope="col">Since</th><th scope="col">Last used</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
<tbody>${items.map(
    ({ id, userAgent, createdAt, lastUsedAt }) => html`<tr>
<td title="${userAgent}">${browserName(userAgent)}${id === own ? html`<div class="small"><strong>this browser</strong></div>` : ''}</td>
<td>${timeAgo(createdAt, view.nowMs)}</td>
<td>${timeAgo(lastUsedAt, view.nowMs)}</td>
<td>${id === own ? '' : endForm(view, id)}</td></tr>`,
  )}</tbody></table></div>
<details><summary>Log out everywhere</summary>
<p>All of these end, this one too. Tokens of the API stay.</p>
<form method="post" action="/logout">${formToken(view.session)}<input type="hidden" name="everywhere" value="yes">
<button class="danger">Log out everywhere</button></form></details>`;
}

const endForm = (
  { session }: View,
  id: string,
): Markup => html`<form method="post" action="/account/sessions/end">${formToken(session)}<input type="hidden" name="session" value="${id}">
<button class="link">Log it out</button></form>`;

export async function endSession(form: Form): Promise<FormResult> {
  await form.api.send('DELETE', `/api/v1/sessions/${encodeURIComponent(form.field('session'))}`);
  return { goTo: '/account' };
}
