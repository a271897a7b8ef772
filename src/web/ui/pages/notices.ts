import { html } from 'hono/html';
import { z } from 'zod';
import { severities } from '../../../policies/notice-store.ts';
import { noticeSchema } from '../../api/notices.ts';
import { pager } from '../components/pager.ts';
import { timeAgo } from '../components/time.ts';
import type { Markup, Page } from '../layout.ts';
import type { View } from '../page-routes.ts';
import { queryOf } from '../query.ts';
import { stackPath } from '../stack-path.ts';

type Notice = z.output<typeof noticeSchema>;

const noticePage = z.object({ items: z.array(noticeSchema), nextCursor: z.string().nullable() });

/** What notification policies say, newest first: `?account=`, `?stack=`, `?severity=` and `?cursor=` choose. */
export async function noticesPage({ api, nowMs, query }: View): Promise<Page> {
  const severity = severities.find((each) => each === query('severity')) ?? '';
  const [id = '', ofStack = ''] = (query('stack')?.trim() ?? '').split('/').toReversed();
  const filter = { account: query('account')?.trim() || ofStack, stack: id, severity };
  const cursor = query('cursor');
  const { items, nextCursor } = await api.get(`/api/v1/notices${queryOf({ ...filter, cursor })}`, noticePage);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const body = html`<h1>Notices</h1>
<p class="soft">What notification policies say of runs, and what went wrong with policies.</p>
${filterForm(filter)}
${items.length > 0 ? tableOf(items, nowMs) : emptiness(isFiltered, nextCursor)}
${pager({ path: '/notices', fields: filter, cursor, nextCursor, words: { first: 'Newest notices', next: 'Older notices' } })}`;
  return { title: 'Notices', section: 'notices', styles: ['lists.css'], body };
}

function filterForm({
  account,
  stack,
  severity,
}: Readonly<Record<'account' | 'stack' | 'severity', string>>) {
  const chosen = stack === '' ? '' : `${account}/${stack}`;
  return html`<form class="filter" method="get" action="/notices" role="search" aria-label="Notices">
<div><label for="stack">Stack</label><input id="stack" name="stack" maxlength="200" placeholder="acme/network-prod" value="${chosen}"></div>
<div><label for="severity">Severity</label><select id="severity" name="severity"><option value="">all</option>
${severities.map((each) => html`<option${each === severity ? html` selected` : ''}>${each}</option>`)}</select></div>
<button>Filter</button>
${chosen !== '' || severity !== '' ? html`<a href="/notices">Clear the filter</a>` : ''}
</form>`;
}

const looks = {
  INFO: { look: 'good', icon: 'i' },
  WARNING: { look: 'person', icon: '!' },
  ERROR: { look: 'bad', icon: '✗' },
} as const;

function tableOf(notices: readonly Notice[], nowMs: number): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">When</th><th scope="col">Severity</th><th scope="col">Notice</th><th scope="col">Stack and run</th></tr></thead>
<tbody>${notices.map((notice) => {
    const { look, icon } = looks[notice.severity];
    return html`<tr>
<td>${timeAgo(notice.at, nowMs)}</td>
<td><span class="badge ${look}" data-icon="${icon}">${notice.severity}</span></td>
<td class="text"><bdi>${notice.title}</bdi>${notice.body === '' ? '' : html`<div class="small soft">${linesOf(notice.body)}</div>`}</td>
<td>${placeOf(notice)}</td>
</tr>`;
  })}</tbody></table></div>`;
}

const linesOf = (body: string): Markup =>
  html`${body.split(/\r?\n/).map((line) => html`<div><bdi>${line}</bdi></div>`)}`;

function placeOf({ account, stack, run }: Notice): Markup {
  if (stack === undefined) return html`<span class="soft">${account}</span>`;
  return html`<a href="${stackPath(account, stack)}">${account}/${stack}</a>${run === undefined ? '' : html`<div class="small"><a href="/runs/${run}">run</a></div>`}`;
}

function emptiness(isFiltered: boolean, nextCursor: string | null): Markup {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>None among the notices that were looked through. Older ones may fit.</p></div>`;
  }
  if (isFiltered) {
    return html`<div class="empty"><p>No notice fits the filter.</p><p><a href="/notices">Clear the filter</a></p></div>`;
  }
  return html`<div class="empty"><p>There are no notices about stacks that you may read. Notification policies write them.</p></div>`;
}
