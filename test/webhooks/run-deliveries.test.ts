import { describe, expect, it } from 'vitest';
import type { DeliverySummary } from '../../src/webhooks/delivery-store.ts';
import { type RunToTell, toldTo } from '../../src/webhooks/run-deliveries.ts';
import { everyEvent, type WebhookSummary } from '../../src/webhooks/webhook.ts';
import { aWebhook } from '../support/builders.ts';
import { asStored } from './sending/messages.ts';

const createdAtMs = 5000;
const run: RunToTell = {
  id: '01JRUN',
  stackKey: '01JSTACK',
  type: 'TRACKED',
  changes: [{ state: 'PLANNING', stateVersion: 1, timestampMs: createdAtMs }],
};

function aSummary(change: Partial<WebhookSummary> = {}): WebhookSummary {
  return { ...asStored(aWebhook({ id: '01JHOOK', stackKey: '01JSTACK' })), createdAtMs, ...change };
}

function lightFor(
  deliveries: readonly Partial<DeliverySummary>[],
  webhook: Partial<WebhookSummary> = {},
): { light: string | undefined; isComplete: boolean } {
  const whole = deliveries.map(
    (change): DeliverySummary => ({
      id: '01JDELIVERY',
      webhookId: '01JHOOK',
      stateVersion: 1,
      status: 'pending',
      isPlanned: true,
      nextAttemptAtMs: null,
      ...change,
    }),
  );
  const { states, isComplete } = toldTo(aSummary(webhook), run, whole);
  return { light: states[0]?.light, isComplete };
}

describe('a state of a run is for a webhook', () => {
  it.each([
    ['delivered', false, 'green'],
    ['pending', true, 'amber'],
    ['failed', true, 'amber'],
    ['failed', false, 'red'],
    ['exhausted', false, 'red'],
    ['skipped', false, 'red'],
  ] as const)('%s (planned: %s): %s', (status, isPlanned, light) => {
    expect(lightFor([{ status, isPlanned }])).toEqual({ light, isComplete: light === 'green' });
  });

  it('red when it was never queued though wanted', () => {
    expect(lightFor([])).toEqual({ light: 'red', isComplete: false });
    expect(lightFor([{ stateVersion: 2, status: 'delivered' }]).light).toBe('red');
  });

  it('grey when the webhook does not want it, or did not exist yet', () => {
    const grey = { light: 'grey', isComplete: true };
    expect(lightFor([], { filter: { states: ['FINISHED'], runTypes: null } })).toEqual(grey);
    expect(lightFor([], { filter: { states: null, runTypes: ['TASK'] } })).toEqual(grey);
    expect(lightFor([], { filter: everyEvent, createdAtMs: createdAtMs + 1 })).toEqual(grey);
  });

  it('what its delivery says, even if the webhook would not want it any more', () => {
    expect(lightFor([{ status: 'exhausted' }], { filter: { states: [], runTypes: null } }).light).toBe('red');
    expect(lightFor([{ status: 'delivered' }], { createdAtMs: createdAtMs + 1 }).light).toBe('green');
  });
});
