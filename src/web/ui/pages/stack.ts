import { html } from 'hono/html';
import { z } from 'zod';
import { runSchema } from '../../api/run-object.ts';
import { stackSchema } from '../../api/stack-object.ts';
import { deltaSigns } from '../components/delta.ts';
import { stateBadge } from '../components/state-badge.ts';
import { timeAgo } from '../components/time.ts';
import type { Markup, Page } from '../layout.ts';
import type { View } from '../page-routes.ts';
import { stackPath } from '../stack-path.ts';

type Run = z.output<typeof runSchema>;

const runPage = z.object({ items: z.array(runSchema), nextCursor: z.string().nullable() });

/** One stack and its runs, newest first. */
export async function stackPage({ api, nowMs, param, query }: View): Promise<Page> {
  const path = stackPath(param('account'), param('stack'));
  const stack = await api.get(`/api/v1${path}`, stackSchema);
  const cursor = encodeURIComponent(query('cursor') ?? '');
  const { items, nextCursor } = await api.get(`/api/v1${path}/runs?limit=50&cursor=${cursor}`, runPage);
  const { account, name, repository, branch, projectRoot, lock, managedBy } = stack;
  const body = html`<p class="crumbs"><a href="/">Stacks</a> / ${account}</p>
<div class="head"><h1>${name}</h1>${stateBadge(stack.state)}</div>
${
  lock === null
    ? ''
    : html`<div class="notice person"><p>Locked by ${lock.holder} ${timeAgo(lock.since, nowMs)}${lock.reason === '' ? '' : html`: ${lock.reason}`}</p></div>`
}
<dl class="facts">
<dt>Repository</dt><dd>${repository}${projectRoot === '' ? '' : html`, <span class="mono">${projectRoot}</span>`}</dd>
<dt>Branch</dt><dd class="mono">${branch}</dd>
<dt>Applied</dt><dd>${stack.autodeploy ? 'without confirmation' : 'after somebody confirms the plan'}</dd>
<dt>Settings</dt><dd>${managedBy === 'file' ? 'in .github/slipway.yml of the repository' : 'by API and command line'}</dd>
</dl>
<p><a href="${path}/settings/integrations">Webhooks</a></p>
<h2>Runs</h2>
${items.length === 0 ? noRuns(stack) : tableOf(items, nowMs)}
${nextCursor === null ? '' : html`<p><a href="${path}?cursor=${encodeURIComponent(nextCursor)}">Older runs</a></p>`}`;
  return { title: name, section: 'stacks', body };
}

function tableOf(runs: readonly Run[], nowMs: number): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Run</th><th scope="col">State</th><th scope="col">Commit</th><th scope="col">Changes</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
<tbody>${runs.map(
    ({ id, type, state, commit, branch, delta, triggeredBy, createdAt }) => html`<tr>
<td><a href="/runs/${id}">${type}</a></td>
<td>${stateBadge(state)}</td>
<td><span class="mono">${commit.hash.slice(0, 7)}</span> ${firstLine(commit.message)}<div class="small soft mono">${branch}</div></td>
<td>${delta ? deltaSigns(delta) : ''}</td>
<td>${triggeredBy}</td>
<td>${timeAgo(createdAt, nowMs)}</td>
</tr>`,
  )}</tbody>
</table></div>`;
}

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? '';

const noRuns = ({ account, id, branch }: z.output<typeof stackSchema>): Markup => html`<div class="empty">
<p>It never ran. A push to <span class="mono">${branch}</span> that changes it starts the first run; so does</p>
<p><code>npx slipway run trigger ${account}/${id}</code></p>
</div>`;
