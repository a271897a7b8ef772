import { html } from 'hono/html';
import type { z } from 'zod';
import type { attemptSchema } from '../../../api/attempt-object.ts';
import type { webhookSummarySchema } from '../../../api/webhook-object.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup } from '../../layout.ts';

type WebhookSummary = z.output<typeof webhookSummarySchema>;
type Attempt = Omit<z.output<typeof attemptSchema>, 'exchange'>;

/** How a webhook fares, in a few words. */
export function webhookState({ enabled, health, disabledReason }: WebhookSummary): Markup {
  if (!enabled)
    return html`<span class="bad-words">disabled</span>${disabledReason === undefined ? '' : html`: ${disabledReason}`}`;
  if (health?.failingSince !== undefined)
    return html`<span class="bad-words">failing</span>${health.lastError === undefined ? '' : html`: ${health.lastError}`}`;
  return html`${health?.pausedUntil === undefined ? 'enabled' : 'paused'}`;
}

/** "204 in 41 ms, 3 minutes ago" */
export function lastResult({ lastAttempt }: WebhookSummary, nowMs: number): Markup {
  if (lastAttempt === undefined) return html`<span class="soft">nothing was sent yet</span>`;
  return html`${attemptResult(lastAttempt)}, ${timeAgo(lastAttempt.at, nowMs)}`;
}

/** "204 in 41 ms" */
export function attemptResult({ outcome, statusCode, error, durationMs }: Attempt): string {
  if (outcome === 'started') return 'under way';
  if (outcome === 'unknown') return 'unknown: the server ended meanwhile';
  const what = statusCode ?? (outcome === 'blocked' ? 'blocked' : (error ?? outcome));
  return durationMs === undefined ? String(what) : `${what} in ${durationMs} ms`;
}

/** What is wrong with it, what the server does about it, and what people can do. Empty for one that works. */
export function standingNotice(
  {
    enabled,
    health,
    missed,
    disabledReason,
    disabledAt,
    lastAttempt,
  }: WebhookSummary & { readonly missed?: number | undefined },
  { nowMs, replayPath }: { readonly nowMs: number; readonly replayPath: string },
): Markup | string {
  if (enabled && health === undefined) return '';
  const since = health?.failingSince;
  const advice = lastAttempt?.explanation;
  return html`<div class="notice ${enabled && since === undefined ? 'person' : 'bad'}">
${enabled ? '' : html`<p>It is disabled${disabledAt === undefined ? '' : html` since ${timeAgo(disabledAt, nowMs)}`}${disabledReason === undefined ? '' : `: ${disabledReason}`}. Nothing is sent to it.</p>`}
${since === undefined ? '' : html`<p>${failedWords(health)}, the first ${timeAgo(since, nowMs)}.${health?.lastError === undefined ? '' : ` The last error was ${health.lastError}.`}</p>`}
${since !== undefined && enabled ? html`<p>Each delivery is tried again, over about three days. A webhook that fails all that time is disabled.</p>` : ''}
${since !== undefined && advice ? html`<p>${advice.what} ${advice.advice}</p>` : ''}
${health?.pausedUntil === undefined ? '' : html`<p>It is paused, as the receiver asked for by <code>Retry-After</code>, and goes on ${timeAgo(health.pausedUntil, nowMs)}. What is to be sent waits.</p>`}
${missed === undefined || missed === 0 ? '' : html`<p>${counted(missed, 'state change')} did not get there meanwhile. <a href="${replayPath}">Replay what was missed</a></p>`}
</div>`;
}

function failedWords(health: WebhookSummary['health']): string {
  const { failedAttempts = 0, exhausted = 0 } = health ?? {};
  const givenUp = exhausted === 0 ? '' : `, ${counted(exhausted, 'delivery', 'deliveries')} given up`;
  return `${counted(failedAttempts, 'attempt')} in a row failed${givenUp}`;
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
