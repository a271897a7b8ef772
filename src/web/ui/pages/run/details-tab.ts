import { html } from 'hono/html';
import { rightsInWords, trustReason } from '../../../../runs/explaining/trust-words.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

/** What the run is of, who started it, and every change of its state. */
export async function detailsTab({ nowMs }: View, { run, states }: RunFacts): Promise<TabContent> {
  const { commit, pullRequest } = run;
  const body = html`<dl class="facts">
<dt>Run</dt><dd class="mono">${run.id}</dd>
<dt>Commit</dt><dd><a href="${commit.url}" rel="noreferrer"><span class="mono">${commit.hash.slice(0, 7)}</span></a> <bdi>${commit.message.split('\n', 1)[0]}</bdi></dd>
<dt>Branch</dt><dd class="mono">${run.branch}</dd>
<dt>Started by</dt><dd>${run.triggeredBy}, ${timeAgo(run.createdAt, nowMs)}</dd>
${pullRequest ? html`<dt>Pull request</dt><dd>#${pullRequest.number} ${pullRequest.title}</dd>` : ''}
<dt>Trust</dt><dd>${run.trust}: ${trustReason(run.trust)}.<br><span class="soft">${rightsInWords(run.trust)}</span></dd>
</dl>
<h2>States</h2>
<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">State</th><th scope="col">When</th><th scope="col">By</th><th scope="col">Note</th></tr></thead>
<tbody>${states.map(
    ({ state, timestamp, actor, note }) =>
      html`<tr><td>${stateBadge(state)}</td><td>${timeAgo(timestamp, nowMs)}</td><td>${actor}</td><td>${note ?? ''}</td></tr>`,
  )}</tbody></table></div>`;
  return { body };
}
