import { html } from 'hono/html';
import type { z } from 'zod';
import { type ChangeOp, changeOps } from '../../../../runs/plan/plan-changes.ts';
import { planSchema } from '../../../api/run-plan.ts';
import { changeOp } from '../../components/change-op.ts';
import { planTree } from '../../components/plan-tree.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';
import { lookAtPlan, newsOf, type SinceSeen, sinceNotice } from './since-seen.ts';

type Plan = z.output<typeof planSchema>;

/** Changes on a page. */
const pageSize = 150;

/** What of a plan is asked for, as it stands in the address of the page. */
interface Wish {
  readonly op: ChangeOp | '';
  readonly text: string;
  readonly cursor: string;
}

/** What the run would change, or changed, and what of that is new to who looks. */
export async function planTab(view: View, { run, apiPath }: RunFacts): Promise<TabContent> {
  if (run.type === 'TASK') return { body: html`<p class="soft">A task has no plan.</p>` };
  const wish = wishOf(view);
  const plan = await view.api.get(
    `${apiPath}/plan${queryOf({ ...wish, limit: String(pageSize) })}`,
    planSchema,
  );
  if (plan.hasChanges === null) return { body: html`<p class="soft">Nothing is planned yet.</p>` };
  const seen = await lookAtPlan(view, apiPath);
  const needs = { styles: ['plan.css', 'diff.css'], scripts: ['plan.js'] };
  return { ...needs, body: planOf(`/runs/${run.id}/plan`, plan, seen, wish, view.nowMs) };
}

function wishOf({ query }: View): Wish {
  const op = changeOps.find((each) => each === query('op')) ?? '';
  return { op, text: (query('text') ?? '').slice(0, 500), cursor: query('cursor') ?? '' };
}

function planOf(here: string, plan: Plan, seen: SinceSeen, wish: Wish, nowMs: number): Markup {
  const { counts, found, items, nextCursor, hasChanges } = plan;
  const total = changeOps.reduce((sum, op) => sum + counts[op], 0);
  const notice = sinceNotice(seen, nowMs);
  if (total === 0)
    return html`${notice}<p class="soft">${hasChanges ? unseenChanges : 'Nothing to change.'}</p>`;
  const linkTo = (urn: string) => `${here}${queryOf({ text: urn })}`;
  const isWhole = nextCursor === null && wish.cursor === '';
  return html`${notice}
${filter(here, plan, total, wish, isWhole)}
${
  found === 0
    ? html`<div class="empty"><p>No change of the plan is like that.</p><a href="${here}">Show all ${total}</a></div>`
    : planTree(items, { news: newsOf(seen), linkTo })
}
${isWhole ? '' : pages(here, plan, wish)}`;
}

const unseenChanges =
  'No property of a resource changes that could be shown, but the tool has something to do: values of secrets, protection, another parent or provider.';

function filter(here: string, { counts, found }: Plan, total: number, wish: Wish, isWhole: boolean): Markup {
  const link = (op: ChangeOp | '', words: Markup | string, count: number) =>
    html`<a href="${here}${queryOf({ op, text: wish.text })}"${wish.op === op ? html` aria-current="true"` : ''}>${words} <span class="count">${count}</span></a>`;
  const isFiltered = wish.op !== '' || wish.text !== '';
  return html`<form class="plan-filter" method="get" action="${here}" role="search">
<div class="ops">${link('', 'All', total)}${changeOps.map((op) => (counts[op] === 0 ? '' : link(op, changeOp(op), counts[op])))}</div>
${wish.op === '' ? '' : html`<input type="hidden" name="op" value="${wish.op}">`}
<label class="hidden" for="plan-text">Part of a name, type or URN</label>
<input id="plan-text" type="search" name="text" value="${wish.text}" placeholder="Name, type or URN"${isWhole ? html` data-whole` : ''}>
<button>Filter</button>
<output class="soft small" aria-live="polite">${isFiltered ? `${found} of ${total} changes` : ''}</output>
</form>`;
}

function pages(here: string, { items, found, nextCursor }: Plan, { op, text, cursor }: Wish): Markup {
  const next =
    nextCursor === null
      ? ''
      : html`<a class="button" href="${here}${queryOf({ op, text, cursor: nextCursor })}">Next changes</a>`;
  const first =
    cursor === '' ? '' : html`<a class="button" href="${here}${queryOf({ op, text })}">From the first</a>`;
  return html`<nav class="actions" aria-label="Pages of the plan">${first}${next} <span class="soft">${items.length} of ${found} changes are on this page.</span></nav>`;
}
