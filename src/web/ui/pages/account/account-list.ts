import { html } from 'hono/html';
import { z } from 'zod';
import { accountSchema, appSchema } from '../../../api/accounts.ts';
import { pager } from '../../components/pager.ts';
import { ApiRefusal } from '../../in-process-api.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';

export type Account = z.output<typeof accountSchema>;
type App = z.output<typeof appSchema>;

const accountPage = z.object({ items: z.array(accountSchema), nextCursor: z.string().nullable() });

/** The accounts that the App is or was installed in, as far as they have something for the person. */
export async function accountsOf(view: View): Promise<Markup> {
  try {
    return await listed(view);
  } catch (error) {
    // Rights are asked of GitHub; sessions and the rest of the page do not need it.
    if (!(error instanceof ApiRefusal) || error.status < 500) throw error;
    return html`<h2>Accounts</h2><div class="notice bad"><p>${error.message}</p></div>`;
  }
}

async function listed(view: View): Promise<Markup> {
  const { api, query } = view;
  const cursor = query('cursor');
  const app = await api.get('/api/v1/app', appSchema);
  const { items, nextCursor } = await api.get(`/api/v1/accounts${queryOf({ cursor })}`, accountPage);
  const isEmpty = items.length === 0 && nextCursor === null && !cursor;
  return html`<h2>Accounts</h2>
<p>Where the GitHub App of this server is installed, and you may see something.</p>
${isEmpty ? noAccounts(app) : tableOf(view, items)}
${pager({ path: '/account', fields: {}, cursor, nextCursor, words: { first: 'First accounts', next: 'More accounts' } })}
${isEmpty || app.installUrl === null ? '' : html`<p><a class="button" href="${app.installUrl}">Install it on another account</a></p>`}`;
}

function noAccounts({ installUrl }: App): Markup {
  return html`<div class="empty"><p>The GitHub App of this server is installed in no account in which you may see a repository.</p>
${
  installUrl === null
    ? html`<p>Install it on the page of the App on GitHub, or ask somebody who administers a repository to give you access to it.</p>`
    : html`<p><a class="button primary" href="${installUrl}">Install it on an account</a></p>
<p>or ask somebody who administers a repository to give you access to it.</p>`
}</div>`;
}

function tableOf(view: View, accounts: readonly Account[]): Markup | string {
  if (accounts.length === 0) {
    return html`<div class="empty"><p>None among those that were looked through. There may be more.</p></div>`;
  }
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Account</th><th scope="col">The App there</th><th scope="col"><span class="hidden">Elsewhere</span></th></tr></thead>
<tbody>${accounts.map(
    (account) => html`<tr>
<td><a href="/accounts/${encodeURIComponent(account.account)}">${account.account}</a></td>
<td>${stateOf(account)}</td>
<td>${settingsLink(view, account)}</td></tr>`,
  )}</tbody></table></div>`;
}

const states = {
  installed: { look: 'good', icon: '✓', words: 'installed', help: '' },
  suspended: {
    look: 'bad',
    icon: '✗',
    words: 'suspended',
    help: 'Nothing runs until it is resumed on GitHub.',
  },
  removed: { look: 'ended', icon: '–', words: 'removed', help: 'Nothing runs until it is installed again.' },
} as const;

export function stateOf({ state }: Account): Markup {
  const { look, icon, words, help } = states[state];
  return html`<span class="badge ${look}" data-icon="${icon}">${words}</span>${help === '' ? '' : html` <span class="small soft">${help}</span>`}`;
}

/** Where its administrators choose repositories, suspend and remove it. Organisations have a page of their own. */
export function settingsLink({ githubUrl, session }: View, account: Account): Markup | string {
  const { id, account: login, installationId } = account;
  if (installationId === null) return '';
  const whose = id === session.record.userId ? '' : `/organizations/${encodeURIComponent(login)}`;
  return html`<a href="${githubUrl}${whose}/settings/installations/${installationId}">Settings on GitHub<span class="hidden"> of ${login}</span></a>`;
}
