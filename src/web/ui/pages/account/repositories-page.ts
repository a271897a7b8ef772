import { html } from 'hono/html';
import { z } from 'zod';
import { repositorySchema } from '../../../api/repositories.ts';
import { pager } from '../../components/pager.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';

type Repository = z.output<typeof repositorySchema>;

const repositoryPage = z.object({ items: z.array(repositorySchema), nextCursor: z.string().nullable() });

/** The repositories of an account that the App sees and the person has a role in. */
export async function repositoriesPage({ api, param, query, githubUrl }: View): Promise<Page> {
  const [account, cursor] = [param('account'), query('cursor')];
  const path = `/accounts/${encodeURIComponent(account)}`;
  const { items, nextCursor } = await api.get(
    `/api/v1/repositories${queryOf({ account, role: 'reader', limit: '100', cursor })}`,
    repositoryPage,
  );
  const words = { first: 'First repositories', next: 'More repositories' };
  const body = html`<p class="crumbs"><a href="/account">Your account</a></p>
<h1>Repositories of ${items[0]?.account ?? account}</h1>
<p class="soft">Those that the GitHub App sees and you have a role in.</p>
${items.length > 0 ? tableOf(items, githubUrl) : emptiness(nextCursor)}
${pager({ path, fields: {}, cursor, nextCursor, words })}`;
  return { title: `Repositories of ${account}`, section: 'account', styles: ['lists.css'], body };
}

function tableOf(repositories: readonly Repository[], githubUrl: string): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Repository</th><th scope="col">Your role</th><th scope="col">Default branch</th><th scope="col">Stacks</th></tr></thead>
<tbody>${repositories.map(
    ({ repository, role, defaultBranch, archived, private: isPrivate }) => html`<tr>
<td class="text"><a href="${githubUrl}/${repository}">${repository}</a> <span class="small soft">${isPrivate ? 'private' : 'public'}${archived ? ', archived: nothing of it runs' : ''}</span></td>
<td>${role}</td>
<td class="mono">${defaultBranch}</td>
<td><a href="/${queryOf({ repository })}">Stacks<span class="hidden"> of ${repository}</span></a>${
      role === 'admin' && !archived
        ? html` · <a href="/stacks/new${queryOf({ repository })}">New stack<span class="hidden"> of ${repository}</span></a>`
        : ''
    }</td></tr>`,
  )}</tbody></table></div>`;
}

function emptiness(nextCursor: string | null): Markup {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>None among those that were looked through. There may be more.</p></div>`;
  }
  return html`<div class="empty"><p>The GitHub App sees no repository of this account that you have a role in.</p>
<p>Which ones it sees is chosen in the settings of its installation on GitHub, see <a href="/account">your account</a>. Where it is suspended or removed, it sees none.</p></div>`;
}
