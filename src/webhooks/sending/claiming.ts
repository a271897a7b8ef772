import type { Logger } from '../../logger.ts';
import type { Tx } from '../../tx.ts';
import type { Claim, DeliveryStore, Queue, Want, WebhookHealth } from '../delivery-store.ts';
import type { Webhook } from '../webhook.ts';
import type { WebhookStore } from '../webhook-store.ts';
import { inFlightAtMost } from './health.ts';
import type { ReadyList } from './ready-list.ts';

/** A claim with what its transaction knows of its webhook. */
export interface Job {
  readonly claim: Claim;
  /** Or why it cannot be read. */
  readonly webhook: Webhook | Error;
}

export interface ClaimLimits {
  /** In flight at once, in all and for one webhook. */
  readonly inFlight: number;
  readonly perWebhook: number;
  readonly leaseMs: number;
  /** When to look again at what is due but could not be claimed. */
  readonly pollMs: number;
}

/** Of all places, those that only webhooks with nothing in flight and no failures can have. */
const reservedPart = 0.25;

/** So many webhooks are looked at in one transaction. */
const maxWants = 256;

/**
 * Chooses what is sent next and claims it. Webhooks take turns, each has its share, and a quarter of all places is
 * kept from those that fail: however many hang, the others find room.
 */
export class Claiming {
  readonly #ready: ReadyList;
  readonly #limits: ClaimLimits;
  readonly #deliveries: DeliveryStore;
  readonly #readWebhook: (tx: Tx, claim: Claim) => Promise<Webhook | Error>;
  readonly #inFlight = new Map<string, number>();
  #all = 0;

  constructor(
    parts: { readonly deliveries: DeliveryStore; readonly webhooks: WebhookStore; readonly logger: Logger },
    ready: ReadyList,
    limits: ClaimLimits,
  ) {
    this.#deliveries = parts.deliveries;
    this.#readWebhook = cachedWebhooks(parts.webhooks);
    this.#ready = ready;
    this.#limits = limits;
  }

  get inFlight(): number {
    return this.#all;
  }

  async claim(tx: Tx, nowMs: number): Promise<readonly Job[]> {
    const free = this.#limits.inFlight - this.#all;
    if (free <= 0) return [];
    const candidates: string[] = [];
    for (const webhookId of this.#ready.due(nowMs)) {
      if (candidates.push(webhookId) === maxWants) break;
    }
    if (candidates.length === 0) return [];
    const healths = await this.#deliveries.healths(tx, candidates);
    const wants = this.#wantsOf(candidates, healths, nowMs, free);
    const { leaseMs } = this.#limits;
    const options = { nowMs, leaseUntilMs: nowMs + leaseMs, wants, limit: free };
    const { claims, queues } = await this.#deliveries.claim(tx, options);
    const jobs: Job[] = [];
    for (const claim of claims) jobs.push({ claim, webhook: await this.#readWebhook(tx, claim) });
    const served = new Set(claims.map(({ webhookId }) => webhookId));
    for (const queue of queues) {
      this.#planNext(queue, healths.get(queue.webhookId), served.has(queue.webhookId), nowMs);
    }
    return jobs;
  }

  /** The transaction of the claim is committed. */
  began({ webhookId }: Claim): void {
    this.#count(webhookId, 1);
  }

  ended({ webhookId }: Claim): void {
    this.#count(webhookId, -1);
    this.#ready.add(webhookId);
  }

  #wantsOf(
    candidates: readonly string[],
    healths: ReadonlyMap<string, WebhookHealth>,
    nowMs: number,
    free: number,
  ): readonly Want[] {
    const { inFlight, perWebhook } = this.#limits;
    const reserved = Math.floor(inFlight * reservedPart);
    const wants: Want[] = [];
    let left = free;
    for (const webhookId of candidates) {
      if (left <= 0) break;
      const health = healths.get(webhookId);
      const most = inFlightAtMost(health, nowMs, perWebhook);
      const present = this.#inFlight.get(webhookId) ?? 0;
      const isScarce = left <= reserved;
      if (isScarce && (health !== undefined || present > 0)) continue;
      const want = isScarce ? Math.min(most, 1) : most;
      wants.push({ webhookId, inFlightAtMost: want });
      left -= Math.max(0, want - present);
    }
    return wants;
  }

  /** It is back when one of its own ends, when it is told of, or at the time that is set here. */
  #planNext(
    { webhookId, nextAtMs }: Queue,
    health: WebhookHealth | undefined,
    wasServed: boolean,
    nowMs: number,
  ): void {
    this.#ready.served(webhookId);
    if (nextAtMs === null) return;
    const dueMs = Math.max(nextAtMs, health?.pausedUntilMs ?? 0);
    if (dueMs > nowMs) this.#ready.expect(webhookId, dueMs);
    else if (!wasServed && !this.#inFlight.has(webhookId)) {
      this.#ready.expect(webhookId, nowMs + this.#limits.pollMs);
    }
  }

  #count(webhookId: string, change: 1 | -1): void {
    this.#all += change;
    const count = (this.#inFlight.get(webhookId) ?? 0) + change;
    if (count === 0) this.#inFlight.delete(webhookId);
    else this.#inFlight.set(webhookId, count);
  }
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
