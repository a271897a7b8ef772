import { html } from 'hono/html';
import type { z } from 'zod';
import { systemSchema } from '../../api/system.ts';
import { stateBadge } from '../components/state-badge.ts';
import { timeAgo } from '../components/time.ts';
import type { Markup, Page } from '../layout.ts';
import type { View } from '../page-routes.ts';
import { grantsOf } from './account/grants.ts';

type System = z.output<typeof systemSchema>;

/** For administrators of the instance: everybody else is told that there is nothing. */
export async function systemPage(view: View): Promise<Page> {
  const { api, nowMs } = view;
  const system = await api.get('/api/v1/system', systemSchema);
  const body = html`<h1>System</h1>
<p><a href="/tokens">Tokens</a> · <a href="/audit">Audit log</a></p>
${grantsOf(view)}
${summaryOf(system)}
<dl class="facts">
<dt>Version</dt><dd>${system.version}, started ${timeAgo(system.startedAt, nowMs)}</dd>
</dl>
<h2>This machine</h2>
${checksOf(system)}
<p class="help">GitHub is not asked here: <code>npx slipway doctor --github</code> also looks at the App, its permissions and its deliveries.</p>
<h2>Work</h2>
${workOf(system, nowMs)}
<h2>Runs that are not over</h2>
${runsOf(system)}`;
  return { title: 'System', section: 'system', body };
}

function summaryOf({ ok, checks }: System): Markup {
  const problems = checks.filter(({ status }) => status === 'problem');
  if (!ok) {
    return html`<div class="notice bad"><p>No run can be executed: ${problems.map(({ name }) => name).join(', ')}.</p></div>`;
  }
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  if (warnings === 0) return html`<div class="notice good"><p>Everything is as it should be.</p></div>`;
  return html`<div class="notice person"><p>Runs are executed. ${warnings === 1 ? 'One thing' : `${warnings} things`} below could be better.</p></div>`;
}

const looks = {
  ok: { look: 'good', icon: '✓', words: 'fine' },
  warning: { look: 'person', icon: '?', words: 'warning' },
  problem: { look: 'bad', icon: '✗', words: 'problem' },
} as const;

function checksOf({ checks }: System): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">What</th><th scope="col">State</th><th scope="col">Found</th></tr></thead>
<tbody>${checks.map(({ name, status, detail, hint }) => {
    const { look, icon, words } = looks[status];
    return html`<tr><td>${name}</td>
<td><span class="badge ${look}" data-icon="${icon}">${words}</span></td>
<td>${detail}${hint === undefined ? '' : html`<div class="small soft">${hint}</div>`}</td></tr>`;
  })}</tbody></table></div>`;
}

function workOf({ workers, jobs, deliveries, inbox, outbox }: System, nowMs: number): Markup {
  const oldest = (at: number | null) => (at === null ? '' : html`, the oldest since ${timeAgo(at, nowMs)}`);
  return html`<dl class="facts">
<dt>Workers</dt><dd>${jobs.running} of ${workers} busy</dd>
<dt>Waiting for a worker</dt><dd>${jobs.waiting}${oldest(jobs.waitingSince)}</dd>
<dt>Webhooks to send</dt><dd>${deliveries.due} now${oldest(deliveries.dueSince)}, ${deliveries.pending} in all, ${deliveries.inFlight} being sent</dd>
<dt>GitHub's deliveries</dt><dd>${inbox.pending} to be handled${oldest(inbox.pendingSince)}${
    inbox.failed === 0
      ? ''
      : html`; ${inbox.failed} failed: <code>npx slipway inbox list --state failed</code> says why`
  }</dd>
<dt>To be shown on GitHub</dt><dd>${outbox.waiting}</dd>
</dl>`;
}

function runsOf({ runs }: System): Markup {
  if (runs.length === 0) return html`<div class="empty"><p>All runs are over.</p></div>`;
  return html`<ul class="plain">${runs.map(
    ({ state, count }) =>
      html`<li><a href="/runs?state=${state}">${count === 1 ? 'one run' : `${count} runs`}</a> ${stateBadge(state)}</li>`,
  )}</ul>`;
}
