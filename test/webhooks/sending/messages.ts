import { createSender, type OutgoingMessage, type Sender } from '../../../src/webhooks/sending/sender.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard, type TargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import type { Webhook } from '../../../src/webhooks/webhook.ts';
import type { NewWebhook } from '../../../src/webhooks/webhook-store.ts';
import { aWebhook } from '../../support/builders.ts';
import { manualClock } from '../../support/manual-clock.ts';

const clock = manualClock();
export const loopback = createTargetGuard({ allowed: parseAllowedTargets(['127.0.0.1']) });

/** With short limits: what breaks them does so for ever. */
export function aSender(guard: TargetGuard = loopback, bodyMs = 100): Sender {
  const limits = { deadlineMs: 300, bodyMs, bodyBytes: 65_536 };
  return createSender({ guard, clock, version: '1.2.3', caBundle: null, limits });
}

export function aMessage(
  url: string,
  {
    webhook,
    ...change
  }: Partial<Omit<OutgoingMessage, 'webhook'>> & { readonly webhook?: Partial<Webhook> } = {},
): OutgoingMessage {
  const body = Buffer.from('{"state":"FINISHED","stateVersion":3}');
  return {
    webhook: {
      ...asStored(aWebhook({ id: url, stackKey: '01JSTACK', url, secret: 'secret' })),
      ...webhook,
    },
    deliveryId: '01JDELIVERY',
    attempt: 2,
    rejections: 0,
    body,
    ...change,
  };
}

/** A new webhook as it is read back. */
export function asStored(webhook: NewWebhook): Webhook {
  const headerNames = Object.keys(webhook.headers);
  return { ...webhook, headerNames, oldSecrets: [], disabledReason: null, disabledAtMs: null, version: 1 };
}
