import { html } from 'hono/html';
import type { StackObject } from '../../../api/stack-object.ts';
import { commitLine } from '../../components/commit.ts';
import { deltaSigns } from '../../components/delta.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup } from '../../layout.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';
import type { StackFilterFields } from './stack-filter.ts';

/** The headings sort; `sort` is the order that the rows have. */
export function stackTable(
  stacks: readonly StackObject[],
  {
    fields,
    sort,
    nowMs,
  }: { readonly fields: StackFilterFields; readonly sort: string; readonly nowMs: number },
): Markup {
  const heading = (by: string, words: string, direction: string) =>
    html`<th scope="col"${sort === by ? html` aria-sort="${direction}"` : ''}><a href="/${queryOf({ ...fields, sort: by })}">${words}</a></th>`;
  return html`<div class="scroll"><table>
<thead><tr>${heading('name', 'Stack', 'ascending')}${heading('attention', 'State', 'descending')}${heading('changed', 'Last run', 'descending')}<th scope="col">Commit</th><th scope="col">Changes</th><th scope="col">Repository</th></tr></thead>
<tbody>${stacks.map((stack) => rowOf(stack, nowMs))}</tbody>
</table></div>`;
}

function rowOf(stack: StackObject, nowMs: number): Markup {
  const { account, id, name, repository, projectRoot, lastRun: run, labels, lock, away, queued } = stack;
  return html`<tr>
<td><a href="${stackPath(account, id)}">${name}</a>${labels.length === 0 ? '' : html`<div class="labels">${labels.map(labelLink)}</div>`}</td>
<td>${stateBadge(stack.state)}${lock === null ? '' : html`<div class="small soft">locked by ${lock.holder}</div>`}${away === undefined ? '' : html`<div class="small soft">${away}</div>`}</td>
<td>${run === null ? '' : html`<a href="/runs/${run.id}">${run.type}</a> <span class="soft">${timeAgo(run.since, nowMs)}</span>`}${queued === 0 ? '' : html`<div class="small soft">${queuedWords(queued)}</div>`}</td>
<td class="text">${run === null ? '' : html`${commitLine({ hash: run.commit.hash, message: run.commit.subject })}<div class="small soft">${run.commit.authorName}</div>`}</td>
<td>${run?.delta ? deltaSigns(run.delta) : ''}</td>
<td>${repository}${projectRoot === '' ? '' : html`<div class="small soft mono">${projectRoot}</div>`}</td>
</tr>`;
}

const labelLink = (label: string): Markup =>
  html`<a class="label" href="/${queryOf({ label })}">${label}</a> `;

/** A hundred stands for a hundred or more. */
const queuedWords = (queued: number): string => (queued >= 100 ? '100 or more queued' : `${queued} queued`);
