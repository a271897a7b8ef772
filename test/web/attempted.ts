import type { Claim, Finished } from '../../src/webhooks/delivery-store.ts';
import { anExchange } from '../webhooks/exchanges.ts';
import type { Installation } from './installation.ts';

const nowMs = 1_999_000_000_000;

/** The first delivery of a webhook after its first attempt: refused with 401 unless said otherwise. */
export async function attempted(
  { database, deliveryStore }: Installation,
  webhookId: string,
  change: Partial<Finished> = {},
): Promise<Claim> {
  return database.write(async (tx) => {
    const wants = [{ webhookId, inFlightAtMost: 1 }];
    const options = { nowMs, leaseUntilMs: nowMs + 45_000, wants, limit: 1 };
    const { claims } = await deliveryStore.claim(tx, options);
    const [claim] = claims;
    if (!claim) throw new Error('nothing to claim');
    await deliveryStore.finish(tx, [
      {
        deliveryId: claim.deliveryId,
        attempt: claim.attempt,
        startedAtMs: nowMs,
        outcome: 'failed',
        status: 'failed',
        statusCode: 401,
        error: 'status',
        detail: null,
        durationMs: 12,
        exchange: anExchange(),
        nextAttemptAtMs: nowMs + 5000,
        rejections: 1,
        ...change,
      },
    ]);
    return claim;
  });
}
