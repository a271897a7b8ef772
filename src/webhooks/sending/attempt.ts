import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Claim, DeliveryStore, Finished } from '../delivery-store.ts';
import type { WebhookStore } from '../webhook-store.ts';
import { nextAttemptMs } from './schedule.ts';
import type { Sender, SendResult } from './sender.ts';
import { signingKey } from './signature.ts';

/** What is to be stored after a claim: a result, or that nothing was sent. */
export type AttemptEnd = FinishedAttempt | { readonly kind: 'unsent'; readonly claim: Claim };

interface FinishedAttempt {
  readonly kind: 'finished';
  readonly claim: Claim;
  readonly finished: Finished;
  /** The webhook must be disabled, and why. */
  readonly disable: string | null;
}

export interface AttemptSignals {
  /** The process is about to end: what is not sent yet stays unsent. */
  readonly stop: AbortSignal;
  /** And it cannot wait any longer for what is. */
  readonly giveUp: AbortSignal;
}

export interface AttemptParts {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly delaysMs: readonly number[];
}

/** Carries out one claim and decides what it means for the delivery. Reads, sends, writes nothing. */
export async function attempt(
  parts: AttemptParts,
  claim: Claim,
  signals: AttemptSignals,
): Promise<AttemptEnd> {
  try {
    const [webhook, body] = await Promise.all([
      parts.webhooks.find(claim.webhookId),
      parts.deliveries.payload(claim.runId, claim.stateVersion),
    ]);
    // Removed or disabled since the claim: the row is gone, or says so already.
    if (!webhook?.enabled || signals.stop.aborted) return { kind: 'unsent', claim };
    if (body === null) throw new Error('the payload is missing');
    const message = {
      url: webhook.url,
      key: signingKey(webhook.secret),
      deliveryId: claim.deliveryId,
      attempt: claim.attempt,
      body,
    };
    return endOf(parts, claim, await parts.sender.send(message, signals.giveUp));
  } catch (error) {
    parts.logger.error({ err: error, delivery: claim.deliveryId }, 'webhook delivery failed inside');
    const failed = { kind: 'failed', error: 'internal', detail: null, statusCode: null } as const;
    return endOf(parts, claim, { ...failed, retryAfterMs: null, isGone: false, durationMs: 0 });
  }
}

function endOf(parts: AttemptParts, claim: Claim, result: SendResult): AttemptEnd {
  const nowMs = parts.clock.nowMs();
  const finished = (rest: Pick<Finished, 'outcome' | 'status'> & Partial<Finished>): FinishedAttempt => ({
    kind: 'finished',
    claim,
    disable: null,
    finished: {
      deliveryId: claim.deliveryId,
      attempt: claim.attempt,
      durationMs: result.durationMs,
      statusCode: null,
      error: null,
      detail: null,
      exchange: null,
      nextAttemptAtMs: null,
      ...rest,
    },
  });
  const retry = (retryAfterMs: number | null) => {
    const failed = { tries: claim.tries, endedAtMs: nowMs, random: parts.random(), retryAfterMs };
    const nextAttemptAtMs = nextAttemptMs(failed, parts.delaysMs);
    return { status: nextAttemptAtMs === null ? 'exhausted' : 'failed', nextAttemptAtMs } as const;
  };

  switch (result.kind) {
    case 'delivered':
      return finished({ outcome: 'delivered', status: 'delivered', statusCode: result.statusCode });
    case 'blocked':
      return finished({ outcome: 'blocked', error: 'blocked', detail: result.detail, ...retry(null) });
    case 'aborted':
      // The process ends; the next one sends it again at once.
      return finished({ outcome: 'unknown', status: 'unchanged', nextAttemptAtMs: nowMs });
    case 'failed': {
      const { error, detail, statusCode } = result;
      const failed = { outcome: 'failed', error, detail, statusCode } as const;
      if (!result.isGone) return finished({ ...failed, ...retry(result.retryAfterMs) });
      const end = finished({ ...failed, status: 'failed' });
      return { ...end, disable: 'The receiver answered 410 Gone.' };
    }
  }
}
