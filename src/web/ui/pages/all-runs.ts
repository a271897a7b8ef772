import { html } from 'hono/html';
import { z } from 'zod';
import { runStates } from '../../../runs/run.ts';
import { runSchema, runTypes } from '../../api/run-object.ts';
import { pager } from '../components/pager.ts';
import { runTable } from '../components/run-table.ts';
import type { Markup, Page } from '../layout.ts';
import type { View } from '../page-routes.ts';
import { queryOf } from '../query.ts';

const runPage = z.object({ items: z.array(runSchema), nextCursor: z.string().nullable() });

const names = ['state', 'type', 'account', 'stack', 'branch'] as const;
type Fields = Readonly<Record<(typeof names)[number], string>>;

/** The runs of all stacks that the person may see, newest first. */
export async function allRunsPage({ api, nowMs, query }: View): Promise<Page> {
  const fields = Object.fromEntries(names.map((name) => [name, query(name)?.trim() ?? ''])) as Fields;
  const cursor = query('cursor');
  const { items, nextCursor } = await api.get(
    `/api/v1/runs${queryOf({ ...fields, cursor, limit: '50' })}`,
    runPage,
  );
  const words = { first: 'Newest runs', next: 'Older runs' };
  const body = html`<h1>Runs</h1>
${filterForm(fields)}
${items.length > 0 ? runTable(items, { nowMs, withStack: true }) : emptiness(fields, nextCursor)}
${pager({ path: '/runs', fields, cursor, nextCursor, words })}`;
  return { title: 'Runs', section: 'runs', styles: ['lists.css'], body };
}

const isFiltered = (fields: Fields): boolean => names.some((name) => fields[name] !== '');

function filterForm(fields: Fields): Markup {
  return html`<form class="filter" method="get" action="/runs" role="search" aria-label="Runs">
<div><label for="state">State</label>${choice('state', runStates, fields.state)}</div>
<div><label for="type">Type</label>${choice('type', runTypes, fields.type)}</div>
<div><label for="account">Account</label><input id="account" name="account" maxlength="200" value="${fields.account}"></div>
<div><label for="stack">Stack</label><input id="stack" name="stack" maxlength="200" placeholder="network-prod" value="${fields.stack}"></div>
<div><label for="branch">Branch</label><input id="branch" name="branch" maxlength="300" value="${fields.branch}"></div>
<button>Filter</button>
${isFiltered(fields) ? html`<a href="/runs">Clear the filter</a>` : ''}
</form>`;
}

const choice = (name: string, values: readonly string[], chosen: string): Markup =>
  html`<select id="${name}" name="${name}"><option value="">any</option>${values.map(
    (value) => html`<option${value === chosen ? html` selected` : ''}>${value}</option>`,
  )}</select>`;

function emptiness(fields: Fields, nextCursor: string | null): Markup {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>None among the runs that were looked through. Older ones may fit.</p></div>`;
  }
  if (isFiltered(fields)) {
    return html`<div class="empty"><p>No run fits the filter.</p><p><a href="/runs">Clear the filter</a></p></div>`;
  }
  return html`<div class="empty"><p>Nothing ran yet.</p><p>A push to the branch of a <a href="/">stack</a> starts its first run.</p></div>`;
}
