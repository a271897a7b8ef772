import { html } from 'hono/html';
import type { Markup } from '../layout.ts';

const steps = [
  { seconds: 86_400, unit: 'day' },
  { seconds: 3600, unit: 'hour' },
  { seconds: 60, unit: 'minute' },
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** "5 minutes ago", "in 2 hours". The exact time stands behind it; a script keeps it true and adds the reader's own time zone. */
export function timeAgo(unixSeconds: number, nowMs: number): Markup {
  const exact = exactOf(unixSeconds);
  return html`<time class="nowrap" datetime="${exact}" data-show="ago" title="${inUtc(exact)}">${ago(unixSeconds, nowMs)}</time>`;
}

/** "10:02", with the day when it is another than today; in UTC, until a script shows it in the reader's own time zone. */
export function clockTime(unixSeconds: number, nowMs: number): Markup {
  const exact = exactOf(unixSeconds);
  const isToday = exact.slice(0, 10) === exactOf(nowMs / 1000).slice(0, 10);
  const shown = inUtc(exact).slice(isToday ? 11 : 5, 16);
  return html`<time class="nowrap" datetime="${exact}" data-show="clock" title="${inUtc(exact)}">${shown}</time>`;
}

const exactOf = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();
const inUtc = (exact: string): string => `${exact.slice(0, 19).replace('T', ' ')} UTC`;

function ago(unixSeconds: number, nowMs: number): string {
  const seconds = unixSeconds - Math.floor(nowMs / 1000);
  const step = steps.find((each) => Math.abs(seconds) >= each.seconds);
  if (step) return relative.format(Math.trunc(seconds / step.seconds), step.unit);
  return seconds > 0 ? 'in a moment' : 'just now';
}
