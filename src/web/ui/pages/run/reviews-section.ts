import { html } from 'hono/html';
import { z } from 'zod';
import { reviewSchema } from '../../../api/run-reviews.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import { visibleText } from '../../components/visible-text.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';

type Review = z.output<typeof reviewSchema>;

const reviewList = z.object({ items: z.array(reviewSchema) });
const verdicts = {
  approve: { look: 'good', icon: '✓', words: 'approved' },
  reject: { look: 'bad', icon: '✗', words: 'rejected' },
} as const;
const ways = { api: '', comment: 'by comment', check: 'on GitHub' } as const;

/** What people said to approval policies. Nothing when nobody did. */
export async function reviewsSection({ api, nowMs }: View, { apiPath }: RunFacts): Promise<Markup | string> {
  const { items } = await api.get(`${apiPath}/reviews`, reviewList);
  if (items.length === 0) return '';
  return html`<h2>Reviews</h2>
<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Who</th><th scope="col">Said</th><th scope="col">Of the state</th><th scope="col">When</th><th scope="col">Note</th></tr></thead>
<tbody>${items.map((review) => row(review, nowMs))}</tbody></table></div>`;
}

function row(
  { reviewer, role, via, verdict, state, note = '', timestamp, carriedFrom }: Review,
  nowMs: number,
): Markup {
  const { look, icon, words } = verdicts[verdict];
  return html`<tr><td>${reviewer} <span class="small soft">${role}</span></td>
<td><span class="badge ${look}" data-icon="${icon}">${words}</span> <span class="small soft">${ways[via]}</span></td>
<td>${stateBadge(state)}${
    carriedFrom === undefined
      ? ''
      : html`<div class="small soft">of <a href="/runs/${carriedFrom}/policies">an earlier run</a> with the same changes, so it counts here</div>`
  }</td>
<td>${timeAgo(timestamp, nowMs)}</td>
<td class="text note">${visibleText(note, 1000)}</td></tr>`;
}
