import { html } from 'hono/html';
import type { StackObject } from '../../../api/stack-object.ts';
import { timeAgo } from '../../components/time.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';

type Looks = Pick<View, 'session' | 'nowMs'>;

/** By whom, since when, why, and the button of who may take it away. */
export function lockNotice(stack: StackObject, { session, nowMs }: Looks): Markup | string {
  const { account, id, lock } = stack;
  if (lock === null) return '';
  const { holder, since, reason } = lock;
  return html`<div class="notice person"><p>Locked by ${holder} ${timeAgo(since, nowMs)}${reason === '' ? '' : html`: ${reason}`}</p>
${
  mayUnlock(stack, session.record.login)
    ? html`<form method="post" action="${stackPath(account, id)}/unlock">${formToken(session)}<button>Unlock stack</button></form>`
    : html`<p class="small soft">${holder} or an administrator of the stack can unlock it.</p>`
}</div>`;
}

/** As the API judges: the holder, an administrator, and any writer the lock that the server set because of a run. */
function mayUnlock({ lock, role }: StackObject, login: string): boolean {
  if (lock === null || role === 'reader') return false;
  const isOwn = lock.holder.toLowerCase() === login.toLowerCase();
  return role === 'admin' || isOwn || lock.run !== undefined;
}

export function lockForm({ account, id, lock, role }: StackObject, { session }: Looks): Markup | string {
  if (lock !== null || role === 'reader') return '';
  return html`<details><summary>Lock stack</summary>
<form method="post" action="${stackPath(account, id)}/lock">${formToken(session)}
<p>While you hold the lock only your runs start; those of others wait. Previews go on.</p>
<div class="field"><label for="lock-note">Reason</label><input id="lock-note" name="note" maxlength="1000"></div>
<button>Lock stack</button></form></details>`;
}

/** What the forms above post. Throws ApiRefusal, which becomes a page. */
export async function submitLock(form: Form, method: 'PUT' | 'DELETE'): Promise<FormResult> {
  const path = stackPath(form.param('account'), form.param('stack'));
  const body = method === 'PUT' ? { note: form.field('note').trim() } : undefined;
  await form.api.send(method, `/api/v1${path}/lock`, body);
  // The page of a run has the button, too.
  const run = form.field('run');
  return { goTo: run === '' ? path : `/runs/${encodeURIComponent(run)}` };
}
