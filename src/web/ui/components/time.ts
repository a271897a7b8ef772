import { html } from 'hono/html';
import type { Markup } from '../layout.ts';

const steps = [
  { seconds: 86_400, unit: 'day' },
  { seconds: 3600, unit: 'hour' },
  { seconds: 60, unit: 'minute' },
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** "5 minutes ago"; the exact time stands behind it, and a script shows it in the reader's own time zone. */
export function timeAgo(unixSeconds: number, nowMs: number): Markup {
  const exact = new Date(unixSeconds * 1000).toISOString();
  const shown = `${exact.slice(0, 16).replace('T', ' ')} UTC`;
  return html`<time class="nowrap" datetime="${exact}" title="${shown}">${ago(unixSeconds, nowMs)}</time>`;
}

function ago(unixSeconds: number, nowMs: number): string {
  const seconds = unixSeconds - Math.floor(nowMs / 1000);
  const step = steps.find((each) => Math.abs(seconds) >= each.seconds);
  return step ? relative.format(Math.trunc(seconds / step.seconds), step.unit) : 'just now';
}
