import { createSender, type OutgoingMessage, type Sender } from '../../../src/webhooks/sending/sender.ts';
import { signingKey } from '../../../src/webhooks/sending/signature.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard, type TargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { manualClock } from '../../support/manual-clock.ts';

const clock = manualClock();
export const never = new AbortController().signal;
export const loopback = createTargetGuard({ allowed: parseAllowedTargets(['127.0.0.1']) });

/** With short limits: what breaks them does so for ever. */
export function aSender(guard: TargetGuard = loopback, bodyMs = 100): Sender {
  const limits = { deadlineMs: 300, bodyMs, bodyBytes: 65_536 };
  return createSender({ guard, clock, version: '1.2.3', caBundle: null, limits });
}

export function aMessage(url: string, change: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const body = Buffer.from('{"state":"FINISHED","stateVersion":3}');
  return { url, key: signingKey('secret'), deliveryId: '01JDELIVERY', attempt: 2, body, ...change };
}
