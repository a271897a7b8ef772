import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Claim, Finished } from '../delivery-store.ts';
import type { Webhook } from '../webhook.ts';
import { nextAttemptMs } from './schedule.ts';
import type { Sender, SendResult } from './sender.ts';
import { hasAnotherKey } from './signing-keys.ts';

/** What is to be stored after a claim: a result, or that nothing was sent. */
export type AttemptEnd = FinishedAttempt | { readonly kind: 'unsent'; readonly claim: Claim };

export interface FinishedAttempt {
  readonly kind: 'finished';
  readonly claim: Claim;
  readonly finished: Finished;
  /** It says something about the webhook: not what ended with the process, nor what is our own fault. */
  readonly isTelling: boolean;
  /** Nothing more is sent to the webhook before: its receiver asked for it. */
  readonly pauseUntilMs: number | null;
  /** The webhook must be disabled, and why. */
  readonly disable: string | null;
}

export interface AttemptParts {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly delaysMs: readonly number[];
}

/**
 * Carries out one claim and decides what it means for the delivery. Sends, reads and writes nothing. The webhook
 * is the one of the claim's transaction, or why it could not be read.
 */
export async function attempt(
  parts: AttemptParts,
  claim: Claim,
  webhook: Webhook | Error,
): Promise<AttemptEnd> {
  try {
    if (webhook instanceof Error) throw webhook;
    const { deliveryId, attempt: number, rejections, body, policyHeaders } = claim;
    if (body === null) throw new Error('the payload is missing');
    const ofPolicy = policyHeaders === undefined ? {} : { policyHeaders };
    const message = { webhook, deliveryId, attempt: number, rejections, body, ...ofPolicy };
    return endOf(parts, claim, webhook, await parts.sender.send(message));
  } catch (error) {
    parts.logger.error({ err: error, delivery: claim.deliveryId }, 'webhook delivery failed inside');
    const failed = { kind: 'failed', error: 'internal', detail: null, statusCode: null } as const;
    const nothing = { retryAfterMs: null, wantsNoMore: null, durationMs: 0, exchange: null };
    return endOf(parts, claim, null, { ...failed, ...nothing });
  }
}

function endOf(parts: AttemptParts, claim: Claim, webhook: Webhook | null, result: SendResult): AttemptEnd {
  const nowMs = parts.clock.nowMs();
  const finished = (
    rest: Pick<Finished, 'outcome' | 'status'> & Partial<Finished>,
    meaning: Partial<FinishedAttempt> = {},
  ): FinishedAttempt => ({
    kind: 'finished',
    claim,
    isTelling: true,
    pauseUntilMs: null,
    disable: null,
    ...meaning,
    finished: {
      deliveryId: claim.deliveryId,
      attempt: claim.attempt,
      startedAtMs: claim.startedAtMs,
      durationMs: result.durationMs,
      statusCode: null,
      error: null,
      detail: null,
      exchange: result.exchange,
      nextAttemptAtMs: null,
      rejections: claim.rejections,
      ...rest,
    },
  });
  const retry = (retryAfterMs: number | null, isQuick = false) => {
    const [random, tries] = [parts.random(), claim.tries];
    const nextAttemptAtMs = nextAttemptMs(
      { tries, isQuick, endedAtMs: nowMs, random, retryAfterMs },
      parts.delaysMs,
    );
    return { status: nextAttemptAtMs === null ? 'exhausted' : 'failed', nextAttemptAtMs } as const;
  };

  switch (result.kind) {
    case 'unsent':
      return { kind: 'unsent', claim };
    case 'delivered':
      return finished({ outcome: 'delivered', status: 'delivered', statusCode: result.statusCode });
    case 'blocked':
      return finished({ outcome: 'blocked', error: 'blocked', detail: result.detail, ...retry(null) });
    case 'aborted':
      // The process ends; the next one sends it again at once.
      return finished(
        { outcome: 'unknown', status: 'unchanged', nextAttemptAtMs: nowMs },
        { isTelling: false },
      );
    case 'failed': {
      const { error, detail, statusCode, retryAfterMs, wantsNoMore: disable } = result;
      const failed = { outcome: 'failed', error, detail, statusCode } as const;
      if (disable !== null) return finished({ ...failed, status: 'failed' }, { disable });
      const isRefused = statusCode === 401 || statusCode === 403;
      const rejections = claim.rejections + (isRefused ? 1 : 0);
      const isQuick = isRefused && webhook !== null && mayKnowAnother(webhook, claim, nowMs);
      const pauseUntilMs = retryAfterMs === null ? null : nowMs + retryAfterMs;
      return finished(
        { ...failed, rejections, ...retry(retryAfterMs, isQuick) },
        { pauseUntilMs, isTelling: error !== 'internal' },
      );
    }
  }
}

/** While a secret is being replaced, a receiver that refuses the one may accept the other: that is tried soon. */
function mayKnowAnother({ oldSecrets }: Webhook, { rejections }: Claim, nowMs: number): boolean {
  const valid = 1 + oldSecrets.filter(({ untilMs }) => untilMs > nowMs).length;
  return hasAnotherKey(valid, rejections);
}
