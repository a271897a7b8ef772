import { html } from 'hono/html';
import { isAttachable } from '../../../../policies/policies.ts';
import { autoattach, policyKinds } from '../../../../policies/policy.ts';
import { inParallel } from '../../../in-parallel.ts';
import { outcomeBadge } from '../../components/outcome-badge.ts';
import { pager } from '../../components/pager.ts';
import type { Decision } from '../../components/policy-decision.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { judgedStacksSchema } from './judged-stacks.ts';
import { kindWords, reachOf } from './kind-words.ts';
import { decisionPageSchema, type Policy, policyPageSchema, policyPath } from './policy-reads.ts';

const names = ['kind', 'account'] as const;
type Fields = Readonly<Record<(typeof names)[number], string>>;

/** What is looked up for each row. */
interface Row {
  readonly policy: Policy;
  readonly stacks: { readonly count: number; readonly hasMore: boolean };
  /** Null for those who may not see what it said, and where it said nothing. */
  readonly last: Decision | null;
}

const rowsAtOnce = 4;

/** The policies that somebody manages, or that judge stacks which they may read. */
export async function policiesPage(view: View): Promise<Page> {
  const { api, query, isInstanceAdmin } = view;
  const fields = Object.fromEntries(names.map((name) => [name, query(name)?.trim() ?? ''])) as Fields;
  const cursor = query('cursor');
  const { items, nextCursor } = await api.get(
    `/api/v1/policies${queryOf({ ...fields, cursor, limit: '50' })}`,
    policyPageSchema,
  );
  const rows = await inParallel(items, rowsAtOnce, (policy) => rowOf(view, policy));
  const isFiltered = names.some((name) => fields[name] !== '');
  const words = { first: 'Oldest policies', next: 'Newer policies' };
  const body = html`<div class="head"><h1>Policies</h1>${isInstanceAdmin ? html`<div class="actions"><a class="button primary" href="/policies/new">New policy</a></div>` : ''}</div>
${items.length > 0 || isFiltered || cursor ? filterForm(fields, isFiltered) : ''}
${rows.length > 0 ? tableOf(rows, view) : emptiness(isFiltered, nextCursor, isInstanceAdmin)}
${pager({ path: '/policies', fields, cursor, nextCursor, words })}`;
  return { title: 'Policies', section: 'policies', styles: ['lists.css', 'policies.css'], body };
}

async function rowOf({ api, isInstanceAdmin }: View, policy: Policy): Promise<Row> {
  const path = `/api/v1${policyPath(policy.id)}`;
  const [judged, said] = await Promise.all([
    isAttachable(policy.kind) ? api.get(`${path}/stacks?limit=100`, judgedStacksSchema) : null,
    isInstanceAdmin ? api.get(`${path}/decisions?limit=1`, decisionPageSchema) : null,
  ]);
  const stacks = { count: judged?.items.length ?? 0, hasMore: (judged?.nextCursor ?? null) !== null };
  return { policy, stacks, last: said?.items[0] ?? null };
}

function filterForm({ kind, account }: Fields, isFiltered: boolean): Markup {
  return html`<form class="filter" method="get" action="/policies" role="search" aria-label="Policies">
<div><label for="kind">Kind</label><select id="kind" name="kind"><option value="">any</option>${policyKinds.map(
    (each) => html`<option${each === kind ? html` selected` : ''}>${each}</option>`,
  )}</select></div>
<div><label for="account">Account</label><input id="account" name="account" maxlength="200" value="${account}"></div>
<button>Filter</button>
${isFiltered ? html`<a href="/policies">Clear the filter</a>` : ''}
</form>`;
}

function tableOf(rows: readonly Row[], { isInstanceAdmin, nowMs }: View): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Account</th><th scope="col">Judges</th><th scope="col">Version</th>${isInstanceAdmin ? html`<th scope="col">Last decision</th>` : ''}</tr></thead>
<tbody>${rows.map(
    ({ policy, stacks, last }) => html`<tr>
<td class="text"><a href="${policyPath(policy.id)}">${policy.name}</a>${policy.description === '' ? '' : html`<div class="small soft">${policy.description}</div>`}</td>
<td>${policy.kind}</td>
<td>${policy.account ?? html`<span class="soft">the server</span>`}</td>
<td>${reachIn(policy, stacks)}</td>
<td>${policy.version}</td>
${isInstanceAdmin ? html`<td>${last ? html`${outcomeBadge(last.outcome)} <span class="small soft">${timeAgo(last.at, nowMs)}</span>` : html`<span class="soft">none yet</span>`}</td>` : ''}
</tr>`,
  )}</tbody></table></div>`;
}

function reachIn({ kind, account, labels }: Policy, { count, hasMore }: Row['stacks']): Markup | string {
  if (!isAttachable(kind)) return reachOf(kind, account);
  const byLabel = labels.some((label) => label.startsWith(autoattach)) ? ', by label' : '';
  if (count === 0) return html`<span class="soft">no stack${byLabel}</span>`;
  return `${count}${hasMore ? '+' : ''} ${count === 1 ? 'stack' : 'stacks'}${byLabel}`;
}

function emptiness(isFiltered: boolean, nextCursor: string | null, isInstanceAdmin: boolean): Markup {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>None among the policies that were looked through. Newer ones may fit.</p></div>`;
  }
  if (isFiltered) {
    return html`<div class="empty"><p>No policy fits the filter.</p><p><a href="/policies">Clear the filter</a></p></div>`;
  }
  return html`<div class="empty"><p>${isInstanceAdmin ? 'There is no policy yet.' : 'There is no policy that you may see.'}</p>
<p>A policy is a set of rules, written in Rego, that decides what runs: which plans are denied, who has to approve, what a push starts.
Without policies nothing is denied.</p>
${isInstanceAdmin ? html`<p><a class="button primary" href="/policies/new">New policy</a></p>` : html`<p>Administrators of this server make them; those of a stack attach them.</p>`}
<p>Ready ones to begin with, with their tests, are in the folder <code>policies</code> of Slipway.</p></div>
<h2>What they judge</h2>
<dl class="facts">${policyKinds.map((kind) => html`<dt>${kind}</dt><dd>${kindWords[kind]}</dd>`)}</dl>`;
}
