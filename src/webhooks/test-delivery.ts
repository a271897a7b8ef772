import type { Clock } from '../clock.ts';
import { toUnixSeconds } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Run } from '../runs/run.ts';
import type { Stack } from '../stacks/stack.ts';
import type { AttemptExchange, AttemptOutcome, DeliveryStore } from './delivery-store.ts';
import { type Explanation, explain } from './explanation.ts';
import { payloadOf } from './payload.ts';
import type { Sender, SendResult } from './sending/sender.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * One attempt at once, to see whether a receiver works: signed like any other, over a connection of its own, with
 * a header that says so. It is no delivery: nothing is stored, nothing is tried again, and what comes of it says
 * nothing about the health of the webhook.
 */
export interface TestDeliveries {
  /** The webhook may be disabled. 'missing': there is none; 'busy': its last test is not over. */
  send(webhookId: string, stack: Stack): Promise<TestResult | 'missing' | 'busy'>;
}

export interface TestResult {
  readonly id: string;
  readonly ok: boolean;
  readonly outcome: Exclude<AttemptOutcome, 'started'>;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly detail: string | null;
  readonly explanation: Explanation | null;
  readonly durationMs: number;
  readonly exchange: AttemptExchange | null;
  /** Null without one: http:, or the connection did not get so far. */
  readonly certificate: CertificateState | null;
}

export interface CertificateState {
  /** Unix seconds. */
  readonly expiresAt: number;
  /** Whole days from now; negative when it is over. */
  readonly daysLeft: number;
  /** It should be renewed now. */
  readonly isEnding: boolean;
}

const warnDays = 14;
const daySeconds = 24 * 60 * 60;

export function createTestDeliveries(parts: {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly deliveries: Pick<DeliveryStore, 'latestPayload'>;
  /** A sender without open connections, so that every phase is seen. */
  readonly newSender: () => Sender;
  readonly clock: Clock;
  readonly newId: NewId;
}): TestDeliveries {
  const { clock, newId } = parts;
  const busy = new Set<string>();

  async function attempt(webhookId: string, stack: Stack): Promise<TestResult | 'missing'> {
    const webhook = await parts.webhooks.find(webhookId);
    if (!webhook) return 'missing';
    const body =
      (await parts.deliveries.latestPayload(stack.key)) ?? samplePayload(stack, newId(), clock.nowMs());
    const deliveryId = newId();
    await using sender = parts.newSender();
    const message = { webhook, deliveryId, attempt: 1, rejections: 0, body, isTest: true };
    const result = await sender.send(message);
    return resultOf(deliveryId, result, toUnixSeconds(clock.nowMs()));
  }

  return {
    async send(webhookId, stack) {
      if (busy.has(webhookId)) return 'busy';
      busy.add(webhookId);
      try {
        return await attempt(webhookId, stack);
      } finally {
        busy.delete(webhookId);
      }
    },
  };
}

function resultOf(id: string, result: SendResult, now: number): TestResult {
  const { durationMs, exchange } = result;
  const validTo = exchange?.connection?.tls?.validTo ?? null;
  const seen = outcomeOf(result);
  return {
    id,
    ok: seen.outcome === 'delivered',
    ...seen,
    explanation: explain(seen),
    durationMs,
    exchange,
    certificate: validTo === null ? null : certificateState(validTo, now),
  };
}

function outcomeOf(result: SendResult): Pick<TestResult, 'outcome' | 'statusCode' | 'error' | 'detail'> {
  const nothing = { statusCode: null, error: null, detail: null };
  switch (result.kind) {
    case 'delivered':
      return { ...nothing, outcome: 'delivered', statusCode: result.statusCode };
    case 'failed': {
      const { statusCode, error, detail } = result;
      return { outcome: 'failed', statusCode, error, detail };
    }
    case 'blocked':
      return { ...nothing, outcome: 'blocked', error: 'blocked', detail: result.detail };
    case 'aborted':
    case 'unsent':
      return { ...nothing, outcome: 'unknown' };
  }
}

export function certificateState(expiresAt: number, now: number): CertificateState {
  const daysLeft = Math.floor((expiresAt - now) / daySeconds);
  return { expiresAt, daysLeft, isEnding: daysLeft < warnDays };
}

/** For a stack that has no run yet: as the end of its first run would be told. */
function samplePayload(stack: Stack, runId: string, nowMs: number): Buffer {
  const run: Run = {
    id: runId,
    stackKey: stack.key,
    type: 'TRACKED',
    state: 'FINISHED',
    stateVersion: 8,
    branch: stack.settings.branch,
    commit: {
      authorLogin: '',
      authorName: 'Slipway',
      hash: '0'.repeat(40),
      message: 'A test of this webhook: there is no such commit',
      timestamp: toUnixSeconds(nowMs),
      url: `https://github.com/${stack.repository.fullName}`,
    },
    createdAtMs: nowMs,
    triggeredBy: 'slipway',
    startedBy: 'server',
    delta: { added: 1, changed: 0, deleted: 0, resources: 1 },
    restarts: 0,
    hadWorker: true,
    isRenewed: false,
    priority: 0,
  };
  return payloadOf({ run, stack, timestampMs: nowMs, actor: 'server', note: null });
}
