import { html } from 'hono/html';
import { z } from 'zod';
import { auditSchema } from '../../../api/audit.ts';
import { pager } from '../../components/pager.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';
import { type AuditFilter, filterForm, filterOf, isFiltered, questionOf } from './audit-filter.ts';
import { operationWords, ways } from './audit-words.ts';

type Entry = z.output<typeof auditSchema>;

const auditPageSchema = z.object({ items: z.array(auditSchema), nextCursor: z.string().nullable() });

/** Who changed what, newest first: all of it for administrators of the instance, else of stacks that they administer. */
export async function auditPage({ api, nowMs, query, isInstanceAdmin }: View): Promise<Page> {
  const filter = filterOf({ query });
  const cursor = query('cursor');
  const { items, nextCursor } = await api.get(
    `/api/v1/audit${queryOf({ ...questionOf(filter), cursor })}`,
    auditPageSchema,
  );
  const words = { first: 'Newest entries', next: 'Older entries' };
  const body = html`<p class="crumbs">${isInstanceAdmin ? html`<a href="/system">System</a>` : html`<a href="/account">Your account</a>`}</p>
<h1>Audit log</h1>
<p class="soft">Every call that may change something, with commands and buttons on GitHub${isInstanceAdmin ? '' : ', as far as it concerns stacks that you administer'}.</p>
${filterForm(filter)}
${items.length > 0 ? tableOf(items, nowMs) : emptiness(filter, nextCursor)}
${pager({ path: '/audit', fields: filter, cursor, nextCursor, words })}`;
  return { title: 'Audit log', section: sectionFor(isInstanceAdmin), styles: ['lists.css'], body };
}

const sectionFor = (isInstanceAdmin: boolean) => (isInstanceAdmin ? 'system' : 'account');

function tableOf(entries: readonly Entry[], nowMs: number): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Stack and run</th><th scope="col">Outcome</th><th scope="col">From</th></tr></thead>
<tbody>${entries.map(
    (entry) => html`<tr>
<td>${timeAgo(entry.at, nowMs)}</td>
<td>${entry.actor.name}${entry.actor.kind === 'token' ? html`<div class="small soft">token</div>` : ''}</td>
<td class="text">${operationWords(entry.operation)}${parametersOf(entry)}</td>
<td>${placeOf(entry)}</td>
<td>${outcomeOf(entry)}</td>
<td>${ways[entry.via] ?? entry.via}${addressOf(entry)}</td>
</tr>`,
  )}</tbody></table></div>`;
}

/** Those that stand in no other column. */
function parametersOf({ parameters }: Entry): Markup | string {
  const others = Object.entries(parameters).filter(([name]) => !['account', 'stack', 'run'].includes(name));
  if (others.length === 0) return '';
  return html`<div class="small soft">${others.map(([name, value]) => html`<div>${name} <code>${value}</code></div>`)}</div>`;
}

/** What was asked for by a wrong name is about no stack; then the name is there as it was given. */
function placeOf({ account, stack, run, parameters }: Entry): Markup | string {
  const ofRun = run ?? parameters['run'];
  const runLink = ofRun === undefined ? '' : html`<div class="small"><a href="/runs/${ofRun}">run</a></div>`;
  if (account !== undefined && stack !== undefined) {
    return html`<a href="${stackPath(account, stack)}">${account}/${stack}</a>${runLink}`;
  }
  const given = [parameters['account'], parameters['stack']].filter((part) => part !== undefined);
  return html`${given.length === 0 ? '' : html`<span class="soft">${given.join('/')}</span>`}${runLink}`;
}

const outcomes = {
  done: { look: 'good', icon: '✓' },
  refused: { look: 'person', icon: '–' },
  failed: { look: 'bad', icon: '✗' },
  unknown: { look: 'waiting', icon: '?' },
} as const;

function outcomeOf({ outcome, status, note }: Entry): Markup {
  const { look, icon } = outcomes[outcome];
  const more = [status ?? '', note ?? ''].filter((each) => each !== '').join(', ');
  return html`<span class="badge ${look}" data-icon="${icon}">${outcome}</span>${more === '' ? '' : html`<div class="small soft">${more}</div>`}`;
}

function addressOf({ address, forwardedFor }: Entry): Markup {
  return html`${address === null ? '' : html`<div class="small mono">${address}</div>`}${
    forwardedFor === undefined
      ? ''
      : html`<div class="small soft">says it forwards for <span class="mono">${forwardedFor}</span></div>`
  }`;
}

function emptiness(filter: AuditFilter, nextCursor: string | null): Markup {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>None among the entries that were looked through. Older ones may fit.</p></div>`;
  }
  if (isFiltered(filter)) {
    return html`<div class="empty"><p>No entry fits the filter.</p><p><a href="/audit">Clear the filter</a></p></div>`;
  }
  return html`<div class="empty"><p>Nothing was changed yet on what you administer.</p></div>`;
}
