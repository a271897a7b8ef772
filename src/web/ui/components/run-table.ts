import { html } from 'hono/html';
import type { RunObject } from '../../api/run-object.ts';
import type { Markup } from '../layout.ts';
import { stackPath } from '../stack-path.ts';
import { commitLine } from './commit.ts';
import { deltaSigns } from './delta.ts';
import { stateBadge } from './state-badge.ts';
import { timeAgo } from './time.ts';

/** Runs, a row each. `withStack`: of several stacks. */
export function runTable(
  runs: readonly RunObject[],
  { nowMs, withStack }: { readonly nowMs: number; readonly withStack: boolean },
): Markup {
  return html`<div class="scroll"><table>
<thead><tr>${withStack ? html`<th scope="col">Stack</th>` : ''}<th scope="col">Run</th><th scope="col">State</th><th scope="col">Commit</th><th scope="col">Changes</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
<tbody>${runs.map(
    (run) => html`<tr>
${withStack ? html`<td><a href="${stackPath(run.stack.account, run.stack.id)}">${run.stack.name}</a></td>` : ''}
<td><a href="/runs/${run.id}">${run.type}</a></td>
<td>${stateBadge(run.state)}</td>
<td class="text">${commitLine(run.commit)}<div class="small soft mono">${run.branch}</div></td>
<td>${run.delta ? deltaSigns(run.delta) : ''}</td>
<td>${run.triggeredBy}</td>
<td>${timeAgo(run.createdAt, nowMs)}</td>
</tr>`,
  )}</tbody>
</table></div>`;
}
