import { createLogger } from '../../src/logger.ts';
import type { RunState } from '../../src/runs/run.ts';
import { createDeliveries, type Deliveries } from '../../src/webhooks/deliveries.ts';
import type { Delivery } from '../../src/webhooks/delivery-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/endpoint.ts';
import { createPolicyRequests, type PolicyRequests } from '../../src/webhooks/policy-requests.ts';
import { createWebhookReactor } from '../../src/webhooks/reactor.ts';
import { type AttemptObserver, observing } from '../../src/webhooks/sending/attempt-observer.ts';
import type { Notices } from '../../src/webhooks/sending/notices.ts';
import { createPump, type Pump, type PumpLimits, pumpLimits } from '../../src/webhooks/sending/pump.ts';
import { createSender } from '../../src/webhooks/sending/sender.ts';
import { parseAllowedTargets } from '../../src/webhooks/targets/allowed-targets.ts';
import type { Resolve } from '../../src/webhooks/targets/name-resolver.ts';
import { createTargetGuard } from '../../src/webhooks/targets/target-guard.ts';
import { aRun, aStack } from '../support/builders.ts';
import { openStores, type Stores } from './stores.ts';

/** The outgoing half of an installation: what app.ts wires, on a database and receivers that are real. */
export interface Outgoing extends AsyncDisposable {
  readonly stores: Stores;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly policyRequests: PolicyRequests;
  readonly stackKey: string;
  /** Another life of the pump on the same database. */
  restartPump(): Promise<void>;
  stopPump(): Promise<void>;
  wake(): void;
  /** A run whose states are to be told; each call of `change` is one transaction. */
  startRun(): Promise<{ readonly id: string; change(stateVersion: number, state?: RunState): Promise<void> }>;
  /** Time passes, and the pump looks at the clock. */
  advance(ms: number): void;
  deliveriesOf(webhookId: string): Promise<readonly Delivery[]>;
}

export interface OutgoingOptions {
  readonly allowed?: readonly string[];
  readonly resolve?: Resolve;
  readonly deadlineMs?: number;
  readonly limits?: Partial<PumpLimits>;
  readonly observer?: AttemptObserver;
  readonly notices?: Notices;
  /** False: the pump starts with `restartPump`. */
  readonly starts?: boolean;
}

export async function startOutgoing(options: OutgoingOptions = {}): Promise<Outgoing> {
  const stores = await openStores();
  const { clock, newId, database: transactions } = stores;
  const allowed = parseAllowedTargets(options.allowed ?? ['127.0.0.1']);
  const targetGuard = createTargetGuard({ allowed, ...(options.resolve && { resolve: options.resolve }) });
  const sendLimits = { deadlineMs: options.deadlineMs ?? 2000, bodyMs: 200, bodyBytes: 65_536 };

  function newPump(): Pump & { readonly sender: AsyncDisposable } {
    const sender = createSender({
      guard: targetGuard,
      clock,
      version: '1',
      caBundle: null,
      limits: sendLimits,
    });
    const pump = createPump({
      webhooks: stores.webhooks,
      deliveries: stores.deliveries,
      sender,
      transactions,
      clock,
      logger: createLogger('silent'),
      random: () => 0,
      limits: { ...pumpLimits, ...options.limits },
      ...(options.notices && { notices: options.notices }),
      ...(options.observer && { observe: observing(options.observer, clock) }),
    });
    return { ...pump, sender };
  }

  let pump = newPump();
  const currentPump = { wake: () => pump.wake(), recall: (id: string) => pump.recall(id) };
  async function stopPump(): Promise<void> {
    await pump[Symbol.asyncDispose]();
    await pump.sender[Symbol.asyncDispose]();
  }
  if (options.starts !== false) await pump.start();

  const reactor = createWebhookReactor({ ...stores, pump: currentPump });
  const stackKey = await stores.addStack();
  const { webhooks: store, deliveries, missed } = stores;
  const parts = { store, missed, deliveries, targetGuard, transactions, clock, newId, pump: currentPump };
  return {
    stores,
    stackKey,
    webhooks: createWebhooks(parts),
    policyRequests: createPolicyRequests({ ...parts, webhooks: store }),
    deliveries: createDeliveries({
      store: deliveries,
      webhooks: store,
      transactions,
      clock,
      logger: createLogger('silent'),
      pump: currentPump,
    }),
    stopPump,
    wake: () => pump.wake(),
    async restartPump() {
      await stopPump();
      pump = newPump();
      await pump.start();
    },
    async startRun() {
      const id = await stores.addRun(stackKey);
      return {
        id,
        async change(stateVersion, state = 'PLANNING') {
          const run = aRun({ id, stackKey, state, stateVersion });
          const stack = aStack({ key: stackKey });
          const event = { run, stack, timestampMs: clock.nowMs(), actor: 'worker', note: null };
          await transactions.write((tx) => reactor(tx, event));
        },
      };
    },
    advance(ms) {
      clock.advance(ms);
      pump.wake();
    },
    deliveriesOf: async (webhookId) => {
      const newestFirst = await stores.deliveries.listOfWebhook(webhookId, { before: null, limit: 1000 });
      return newestFirst.toReversed();
    },
    async [Symbol.asyncDispose]() {
      await stopPump();
      await stores[Symbol.asyncDispose]();
    },
  };
}
