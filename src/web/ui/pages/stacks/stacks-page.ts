import { html } from 'hono/html';
import { z } from 'zod';
import { stackCountsSchema } from '../../../api/stack-counts.ts';
import { stackSchema } from '../../../api/stack-object.ts';
import { pager } from '../../components/pager.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { failedSection, type Shown, waitingSection } from './front.ts';
import { noStacks, nothingFits } from './no-stacks.ts';
import { bucketTabs, filterFields, filterForm, isFiltered, type StackCounts } from './stack-filter.ts';
import { stackTable } from './stack-table.ts';
import { approvalSection, runsForApproval } from './waiting-runs.ts';

const stackPage = z.object({ items: z.array(stackSchema), nextCursor: z.string().nullable() });

/** In the two lists on top. */
const maxOnTop = 10;

/** What waits for the person, what failed, then all stacks that the person may see. */
export async function stacksPage(view: View): Promise<Page> {
  const { api, nowMs } = view;
  const fields = filterFields(view);
  const cursor = view.query('cursor');
  const { state: _, sort: __, ...counted } = fields;
  // One after the other: what GitHub answered for the first is known to the others.
  const counts = await api.get(`/api/v1/stacks/counts${queryOf(counted)}`, stackCountsSchema);
  const sort = fields.sort || 'attention';
  const { items, nextCursor } = await api.get(
    `/api/v1/stacks${queryOf({ ...fields, sort, cursor, limit: '50' })}`,
    stackPage,
  );
  const isFront = !isFiltered(fields) && !cursor;
  const words = { first: 'First page', next: 'More stacks' };
  const body = html`<div class="head"><h1>Stacks</h1><div class="actions"><a class="button" href="/stacks/new">New stack</a></div></div>
${isFront ? await frontOf(view, counts) : ''}
${counts.repositories.length === 0 ? '' : html`${isFront ? html`<h2>All stacks</h2>` : ''}${bucketTabs(fields, counts)}${filterForm(fields, counts)}`}
${items.length > 0 ? stackTable(items, { fields, sort, nowMs }) : await emptiness(view, counts, nextCursor)}
${pager({ path: '/', fields: { ...fields }, cursor, nextCursor, words })}`;
  return { title: 'Stacks', section: 'stacks', styles: ['lists.css'], body };
}

async function frontOf(view: View, counts: StackCounts): Promise<Markup> {
  const { api, nowMs } = view;
  const top = async (fields: Record<string, string>): Promise<Shown> => {
    const query = queryOf({ ...fields, sort: 'changed', limit: String(maxOnTop) });
    const { items, nextCursor } = await api.get(`/api/v1/stacks${query}`, stackPage);
    return { stacks: items, hasMore: nextCursor !== null };
  };
  const waiting = await top({ state: 'attention', role: 'writer' });
  const failed = await top({ state: 'failed' });
  const failedCount = `${counts.buckets.failed}${counts.incomplete ? '+' : ''}`;
  const forApproval = await runsForApproval(view);
  return html`${waitingSection(waiting, nowMs)}${approvalSection(forApproval, nowMs)}${failedSection(failed, failedCount, nowMs)}`;
}

async function emptiness(view: View, counts: StackCounts, nextCursor: string | null): Promise<Markup> {
  if (nextCursor !== null) {
    return html`<div class="empty"><p>Nothing so far. There are more stacks than are looked through at once.</p></div>`;
  }
  return counts.repositories.length > 0 ? nothingFits : noStacks(view);
}
