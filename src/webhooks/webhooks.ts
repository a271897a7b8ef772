import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Reactor } from '../runs/run-event.ts';
import type { Transactions } from '../tx.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { createWebhooks, type Webhooks } from './endpoint.ts';
import type { MissedStore } from './missed-store.ts';
import { createPolicyRequests, type PolicyRequests } from './policy-requests.ts';
import { createWebhookReactor } from './reactor.ts';
import { createReplayLoop, type ReplayLoop } from './replay-loop.ts';
import type { ReplayStore } from './replay-store.ts';
import { createReplays, type Replays } from './replays.ts';
import { createRunDeliveries, type RunDeliveries } from './run-deliveries.ts';
import { createRunNotices, type NoteOnRun } from './run-notices.ts';
import { type AttemptObserver, observing } from './sending/attempt-observer.ts';
import { createPump, type Pump } from './sending/pump.ts';
import { createSender } from './sending/sender.ts';
import { parseAllowedTargets } from './targets/allowed-targets.ts';
import { createTargetGuard } from './targets/target-guard.ts';
import { createTestDeliveries, type TestDeliveries } from './test-delivery.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Webhooks, put together: endpoints, the deliveries of every state change, and the pump that sends them. */
export interface WebhookFeature extends AsyncDisposable {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly reactor: Reactor;
  readonly pump: Pump;
  readonly replays: Replays;
  readonly runDeliveries: RunDeliveries;
  readonly policyRequests: PolicyRequests;
  readonly tests: TestDeliveries;
  readonly replayLoop: ReplayLoop;
}

export interface WebhookFeatureParts {
  readonly stores: {
    readonly webhooks: WebhookStore;
    readonly missed: MissedStore;
    readonly deliveries: DeliveryStore;
    readonly replays: ReplayStore;
  };
  readonly transactions: Transactions;
  readonly noteOnRun: NoteOnRun;
  /** WEBHOOK_ALLOWED_TARGETS. */
  readonly allowedTargets: readonly string[];
  /** More certificate authorities, in PEM. */
  readonly caBundle: string | null;
  /** Of Slipway, for the user agent. */
  readonly version: string;
  readonly observer: AttemptObserver;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createWebhookFeature(parts: WebhookFeatureParts): WebhookFeature {
  const { webhooks, missed, deliveries } = parts.stores;
  const guard = createTargetGuard({ allowed: parseAllowedTargets(parts.allowedTargets) });
  const newSender = () => createSender({ ...parts, guard });
  const sender = newSender();
  const notices = createRunNotices({ ...parts, webhooks });
  const pump = createPump({
    ...parts,
    webhooks,
    deliveries,
    sender,
    notices,
    observe: observing(parts.observer, parts.clock),
  });
  const replayParts = { ...parts, store: parts.stores.replays, webhooks, deliveries, pump };
  const replayLoop = createReplayLoop(replayParts);
  return {
    webhooks: createWebhooks({ ...parts, store: webhooks, missed, deliveries, targetGuard: guard, pump }),
    deliveries: createDeliveries({ ...parts, store: deliveries, webhooks, pump }),
    reactor: createWebhookReactor({ ...parts, webhooks, deliveries, pump }),
    pump,
    replays: createReplays(replayParts),
    runDeliveries: createRunDeliveries({ webhooks, deliveries }),
    policyRequests: createPolicyRequests({ ...parts, webhooks, deliveries, pump }),
    tests: createTestDeliveries({ ...parts, webhooks, deliveries, newSender }),
    replayLoop,
    async [Symbol.asyncDispose]() {
      await replayLoop[Symbol.asyncDispose]();
      await pump[Symbol.asyncDispose]();
      await sender[Symbol.asyncDispose]();
    },
  };
}
