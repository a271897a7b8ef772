import type { Tx } from '../../tx.ts';
import type { Claim, DeliveryStore, Queue, Want, WebhookHealth } from '../delivery-store.ts';
import type { Webhook } from '../webhook.ts';
import type { WebhookStore } from '../webhook-store.ts';
import { inFlightAtMost } from './health.ts';
import type { Job, PlaceLimits, Places } from './places.ts';
import type { ReadyList } from './ready-list.ts';

export interface ClaimLimits extends PlaceLimits {
  readonly leaseMs: number;
  /** When to look again at what is due but could not be claimed. */
  readonly pollMs: number;
}

export interface ClaimingParts {
  readonly deliveries: DeliveryStore;
  readonly webhooks: WebhookStore;
  readonly ready: ReadyList;
  readonly places: Places;
  readonly limits: ClaimLimits;
}

/** Of all places, those that only webhooks with nothing in flight and no failures can have. */
const reservedPart = 0.25;

/** So many webhooks are looked at, and so many deliveries claimed, in one transaction. */
const maxWants = 256;
const maxClaims = 400;

/**
 * Chooses what is sent next and claims it. Webhooks take turns, each has its share, and a quarter of all places is
 * kept from those that fail: however many hang, the others find room.
 */
export function createClaiming(parts: ClaimingParts): (tx: Tx, nowMs: number) => Promise<readonly Job[]> {
  const { deliveries, ready, places, limits } = parts;
  const readWebhook = cachedWebhooks(parts.webhooks);

  function wantsOf(
    candidates: readonly string[],
    healths: ReadonlyMap<string, WebhookHealth>,
    nowMs: number,
  ): readonly Want[] {
    const reserved = Math.floor(limits.inFlight * reservedPart);
    const wants: Want[] = [];
    let left = limits.inFlight - places.inFlight;
    let room = maxClaims;
    for (const webhookId of candidates) {
      // Who is not looked at keeps its turn.
      if (room <= 0) break;
      const health = healths.get(webhookId);
      const present = places.claimsOf(webhookId);
      const isScarce = left <= reserved;
      const mayStart = left > 0 && !(isScarce && (health !== undefined || present > 0));
      const inLine = health === undefined ? places.mayLineUp(webhookId) : 0;
      if (!mayStart && inLine === 0) {
        // While all places are taken nobody may start, and who has waited longest stays first.
        if (left > 0) ready.passOver(webhookId);
        continue;
      }
      const most = inFlightAtMost(health, nowMs, isScarce ? 1 : limits.perWebhook);
      const starting = mayStart ? Math.max(0, Math.min(most - present, left)) : 0;
      const following = inLine === 0 ? 0 : limits.perWebhook + inLine - present;
      const wanted = Math.min(Math.max(starting, following), room);
      wants.push({ webhookId, inFlightAtMost: present + wanted });
      left -= starting;
      room -= wanted;
    }
    return wants;
  }

  /** It is back when one of its own ends, when it is told of, or at the time that is set here. */
  function planNext({ webhookId, nextAtMs }: Queue, pausedUntilMs: number, isBusy: boolean, nowMs: number) {
    ready.served(webhookId);
    if (nextAtMs === null) return;
    const dueMs = Math.max(nextAtMs, pausedUntilMs);
    if (dueMs > nowMs) ready.expect(webhookId, dueMs);
    else if (!isBusy) ready.expect(webhookId, nowMs + limits.pollMs);
  }

  /** However many may not start: who may is behind them. */
  async function choose(tx: Tx, nowMs: number) {
    for (;;) {
      const candidates: string[] = [];
      for (const webhookId of ready.due(nowMs)) {
        if (candidates.push(webhookId) === maxWants) break;
      }
      const healths = await deliveries.healths(tx, candidates);
      const wants = wantsOf(candidates, healths, nowMs);
      const isFull = places.inFlight >= limits.inFlight;
      if (wants.length > 0 || isFull || !ready.hasFresh()) return { healths, wants };
    }
  }

  return async (tx, nowMs) => {
    const { healths, wants } = await choose(tx, nowMs);
    if (wants.length === 0) return [];
    const options = { nowMs, leaseUntilMs: nowMs + limits.leaseMs, wants };
    const { claims, queues } = await deliveries.claim(tx, options);
    const jobs: Job[] = [];
    for (const claim of claims) jobs.push({ claim, webhook: await readWebhook(tx, claim) });
    const served = new Set(claims.map(({ webhookId }) => webhookId));
    for (const queue of queues) {
      const { webhookId } = queue;
      const isBusy = served.has(webhookId) || places.claimsOf(webhookId) > 0;
      planNext(queue, healths.get(webhookId)?.pausedUntilMs ?? 0, isBusy, nowMs);
    }
    return jobs;
  };
}

const maxCachedWebhooks = 1024;

/** Reading one means to decrypt its secrets: that is done once for each version. */
function cachedWebhooks(webhooks: WebhookStore): (tx: Tx, claim: Claim) => Promise<Webhook | Error> {
  const cache = new Map<string, Webhook>();
  return async (tx, { webhookId, webhookVersion }) => {
    const known = cache.get(webhookId);
    if (known?.version === webhookVersion) return known;
    try {
      const webhook = await webhooks.find(webhookId, tx);
      if (webhook === null) return new Error('the webhook is missing');
      cache.delete(webhookId);
      cache.set(webhookId, webhook);
      const [oldest] = cache.keys();
      if (cache.size > maxCachedWebhooks && oldest !== undefined) cache.delete(oldest);
      return webhook;
    } catch (error) {
      // One that cannot be decrypted must not keep the others from being sent.
      return error instanceof Error ? error : new Error('the webhook cannot be read', { cause: error });
    }
  };
}
