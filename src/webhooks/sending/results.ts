import type { Clock } from '../../clock.ts';
import type { Tx } from '../../tx.ts';
import type { DeliveryStore, WebhookHealth } from '../delivery-store.ts';
import type { WebhookStore } from '../webhook-store.ts';
import type { AttemptEnd, FinishedAttempt } from './attempt.ts';
import { afterFailure, afterSuccess } from './health.ts';
import type { Notice, Notices } from './notices.ts';

export interface ResultParts {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly notices: Notices;
  readonly clock: Clock;
}

/**
 * Stores what came of attempts, and what it means for their webhooks: their health, who is told, and whether they
 * are disabled. A success of a webhook that works writes nothing about it.
 */
export async function storeResults(parts: ResultParts, tx: Tx, ends: readonly AttemptEnd[]): Promise<void> {
  const { deliveries } = parts;
  const finished: FinishedAttempt[] = [];
  for (const end of ends) {
    if (end.kind === 'finished') finished.push(end);
    else await deliveries.handBack(tx, end.claim);
  }
  if (finished.length === 0) return;
  const counted = new Set(
    await deliveries.finish(
      tx,
      finished.map((end) => end.finished),
    ),
  );
  // A late result, or one of a webhook that is gone, is nobody's news.
  const telling = finished.filter((end) => end.isTelling && counted.has(end.finished));
  const byWebhook = Map.groupBy(telling, ({ claim }) => claim.webhookId);
  const healths = await deliveries.healths(tx, [...byWebhook.keys()]);
  for (const [webhookId, group] of byWebhook) {
    const before = healths.get(webhookId) ?? null;
    if (before === null && group.every(isDelivered)) continue;
    await judge(parts, tx, webhookId, before, group);
  }
}

async function judge(
  parts: ResultParts,
  tx: Tx,
  webhookId: string,
  before: WebhookHealth | null,
  ends: readonly FinishedAttempt[],
): Promise<void> {
  const { webhooks, deliveries, notices, clock } = parts;
  // It was changed meanwhile: what the receiver it had says is neither its failure, nor its wish, nor its pause.
  const webhook = await webhooks.find(webhookId, tx);
  const [current, former] = partition(ends, ({ claim }) => claim.webhookVersion === webhook?.version);
  for (const { disable, claim } of former) {
    // The one it has now was not asked yet.
    if (disable !== null && webhook?.enabled) await deliveries.restart(tx, claim.deliveryId, clock.nowMs());
  }
  if (current.length === 0) return;
  let health = before;
  for (const end of current) {
    const { runId, deliveryId, stateVersion } = end.claim;
    const about = { webhookId, runId, deliveryId, stateVersion };
    if (isDelivered(end)) {
      health = health && afterSuccess(health, clock.nowMs());
      continue;
    }
    const isExhausted = end.finished.status === 'exhausted';
    const after = afterFailure(health, {
      atMs: clock.nowMs(),
      error: errorOf(end),
      isExhausted,
      pauseUntilMs: end.pauseUntilMs,
    });
    health = after.health;
    if (isExhausted) await notices.notify(tx, { kind: 'exhausted', ...about, health });
    const reason = end.disable ?? (after.isLost ? 'Nothing was delivered for 72 hours.' : null);
    if (reason !== null) await disable(parts, tx, { kind: 'disabled', ...about, reason });
    else if (after.isWarning) await notices.notify(tx, { kind: 'failing', ...about, health });
  }
  if (health === null) await deliveries.clearHealth(tx, webhookId);
  else await deliveries.saveHealth(tx, webhookId, health);
}

/** Once: of several in flight each may say so. */
async function disable(
  { webhooks, deliveries, notices, clock }: ResultParts,
  tx: Tx,
  notice: Notice & { readonly kind: 'disabled' },
): Promise<void> {
  const { webhookId: id, reason } = notice;
  const webhook = await webhooks.find(id, tx);
  if (!webhook?.enabled) return;
  await webhooks.update(tx, id, { disabled: { reason, atMs: clock.nowMs() } });
  await deliveries.stopPending(tx, id);
  await notices.notify(tx, notice);
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [first: T[], second: T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

const isDelivered = ({ finished }: FinishedAttempt): boolean => finished.status === 'delivered';

function errorOf({ finished: { error, statusCode } }: FinishedAttempt): string {
  return statusCode === null ? (error ?? '') : `status ${statusCode}`;
}
