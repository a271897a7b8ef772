import { html } from 'hono/html';
import type { Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { accountsOf } from './account-list.ts';
import { grantsOf } from './grants.ts';
import { sessionsOf } from './sessions.ts';

/** Who somebody is here, where they are logged in, and what the App sees for them. */
export async function accountPage(view: View): Promise<Page> {
  const { login } = view.session.record;
  const body = html`<h1>Your account</h1>
<p>You are <strong>${login}</strong>, as GitHub says.
<a href="/audit">Audit log</a>${view.isInstanceAdmin ? html` · <a href="/tokens">Tokens</a>` : ''}</p>
${grantsOf(view)}
${await sessionsOf(view)}
${await accountsOf(view)}`;
  return { title: 'Your account', section: 'account', styles: ['settings.css', 'lists.css'], body };
}
