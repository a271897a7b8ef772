import { html } from 'hono/html';
import type { z } from 'zod';
import type { toldSchema } from '../../api/run-deliveries.ts';
import type { Markup } from '../layout.ts';
import { timeAgo } from './time.ts';

type Told = z.output<typeof toldSchema>['states'][number];

const icons: Readonly<Record<Told['light'], string>> = { green: '✓', amber: '…', red: '✗', grey: '–' };

/** Whether a state change reached a webhook: icon and word, and when it is tried again. */
export function deliveryLight(told: Told, nowMs: number): Markup {
  const { light, nextAttemptAt } = told;
  const next =
    told.status === 'failed' && nextAttemptAt !== undefined ? html`, ${timeAgo(nextAttemptAt, nowMs)}` : '';
  return html`<span class="light ${light}"><span aria-hidden="true">${icons[light]}</span> ${wordsOf(told)}${next}</span>`;
}

function wordsOf({ light, status }: Told): string {
  switch (status) {
    case 'delivered':
      return 'delivered';
    case 'pending':
      return 'on its way';
    case 'failed':
      return light === 'amber' ? 'retrying' : 'failed';
    case 'exhausted':
      return 'failed';
    case 'skipped':
      return 'skipped';
    case undefined:
      return light === 'red' ? 'not sent' : 'not wanted';
  }
}
