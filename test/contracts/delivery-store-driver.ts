import type { Transactions } from '../../src/tx.ts';
import type { Claim, Claimed, DeliveryStore, Finished, Want } from '../../src/webhooks/delivery-store.ts';

export interface DeliveryStoreWorld extends AsyncDisposable {
  readonly deliveries: DeliveryStore;
  readonly transactions: Transactions;
  newId(): string;
  addRun(): Promise<string>;
  addWebhook(): Promise<string>;
  removeWebhook(id: string): Promise<void>;
}

export const t0 = 1_795_000_000_000;
export const leaseMs = 45_000;

/** The store and the few calls that every test makes. */
export function driver(world: DeliveryStoreWorld) {
  const { deliveries, transactions } = world;
  const write = transactions.write.bind(transactions);
  return {
    async add(webhookId: string, runId: string, stateVersion: number, createdAtMs = t0): Promise<string> {
      const delivery = { id: world.newId(), webhookId, runId, stateVersion, createdAtMs };
      await write((tx) => deliveries.insert(tx, delivery));
      return delivery.id;
    },
    /** From every webhook that has anything. */
    async claim(
      nowMs: number,
      { perWebhook = 4 }: { readonly perWebhook?: number } = {},
    ): Promise<readonly Claim[]> {
      const queues = await deliveries.queues();
      const wants = queues.map(({ webhookId }) => ({ webhookId, inFlightAtMost: perWebhook }));
      const options = { nowMs, leaseUntilMs: nowMs + leaseMs, wants };
      return (await write((tx) => deliveries.claim(tx, options))).claims;
    },
    claimFrom: (nowMs: number, wants: readonly Want[]): Promise<Claimed> =>
      write((tx) => deliveries.claim(tx, { nowMs, leaseUntilMs: nowMs + leaseMs, wants })),
    async finish(claim: Claim | undefined, change: Partial<Finished> = {}): Promise<boolean> {
      if (!claim) throw new Error('nothing was claimed');
      const delivered = { outcome: 'delivered', status: 'delivered', statusCode: 204 } as const;
      const { deliveryId, attempt, startedAtMs, rejections } = claim;
      const rest = { error: null, detail: null, exchange: null, durationMs: 12, nextAttemptAtMs: null };
      const finished = { deliveryId, attempt, startedAtMs, rejections, ...delivered, ...rest, ...change };
      const counted = await write((tx) => deliveries.finish(tx, [finished]));
      return counted.includes(finished);
    },
    failed: (nextAttemptAtMs: number): Partial<Finished> => ({
      outcome: 'failed',
      status: 'failed',
      statusCode: 500,
      error: 'status',
      nextAttemptAtMs,
    }),
    stop: (webhookId: string) => write((tx) => deliveries.stopPending(tx, webhookId)),
    restart: (id: string, nowMs: number) => write((tx) => deliveries.restart(tx, id, nowMs)),
    endLeases: () => write((tx) => deliveries.endLeases(tx)),
    handBack: (claim: Claim | undefined) => {
      if (!claim) throw new Error('nothing was claimed');
      return write((tx) => deliveries.handBack(tx, claim));
    },
  };
}
