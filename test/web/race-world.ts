import { expect } from 'vitest';
import { createAuditLog } from '../../src/access/audit-log.ts';
import { createIdempotency } from '../../src/access/idempotency.ts';
import { createAccess } from '../../src/access/roles.ts';
import { createSessions } from '../../src/access/sessions.ts';
import { createTokens } from '../../src/access/tokens.ts';
import { createInboxControl } from '../../src/github/inbox-control.ts';
import { createLogger } from '../../src/logger.ts';
import { createOverrides } from '../../src/policies/overrides.ts';
import { createMending } from '../../src/runs/mending.ts';
import { createSeenPlans } from '../../src/runs/plan/seen-plans.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import type { Database } from '../../src/storage/database.ts';
import { createDeliveryStore } from '../../src/storage/delivery-store.ts';
import { createEventFeed } from '../../src/storage/event-feed.ts';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createMissedStore } from '../../src/storage/missed-store.ts';
import { createOverrideStore } from '../../src/storage/override-store.ts';
import { createReplayStore } from '../../src/storage/replay-store.ts';
import { createRunList } from '../../src/storage/run-list.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createSeenPlanStore } from '../../src/storage/seen-plan-store.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { createStackList } from '../../src/storage/stack-list.ts';
import { createTokenStore } from '../../src/storage/token-store.ts';
import { createWebhookStore } from '../../src/storage/webhook-store.ts';
import { createWeb } from '../../src/web/server.ts';
import { createDeliveries } from '../../src/webhooks/deliveries.ts';
import { createWebhooks } from '../../src/webhooks/endpoint.ts';
import { createReplays } from '../../src/webhooks/replays.ts';
import { createRunDeliveries } from '../../src/webhooks/run-deliveries.ts';
import { parseAllowedTargets } from '../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../src/webhooks/targets/target-guard.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { apiRequest, healthy } from './installation.ts';
import { policyParts } from './policy-parts.ts';

export interface Answer {
  readonly status: number;
  readonly body: {
    readonly code?: string;
    readonly state?: string;
    readonly stateVersion?: number;
    readonly id?: string;
    readonly holder?: string;
    readonly blockedBy?: Record<string, unknown>;
  };
}

export interface RaceWorld extends RunWorld {
  /** As a person called ada or bob would ask. */
  ask(who: 'ada' | 'bob', method: string, path: string, body?: unknown): Promise<Answer>;
  /** Everything at the same time, the transactions in an order that is different each time. */
  race<T extends readonly Promise<unknown>[]>(start: () => [...T]): Promise<Results<T>>;
}

type Results<T extends readonly Promise<unknown>[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/** For whoever has something else to do before its transaction: a plan is compressed by another thread. */
const patienceMs = 250;
/** Two decisions between two are four orders. */
const orders = 4;

/** Runs the race in every order; `run` says how it came out, and every way that is possible must have been seen. */
export async function inEveryOrder(
  outcomes: readonly string[],
  run: (world: RaceWorld) => Promise<string>,
): Promise<void> {
  const seen = new Set<string>();
  for (let order = 0; order < orders; order += 1) {
    await using world = await openRaceWorld(order);
    seen.add(await run(world));
  }
  expect([...seen].sort()).toEqual([...outcomes].sort());
}

/**
 * Holds every transaction until all that is under way waits for one (or for something else), and then lets one of them
 * have its turn. `order` decides which, in as many decisions as it has digits.
 */
function createTurnstile(order: number) {
  let rest = order;
  let waiting: (() => void)[] = [];
  let isOpen = true;
  return {
    async pass(): Promise<void> {
      if (isOpen) return;
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async closeWhile<T extends readonly Promise<unknown>[]>(start: () => [...T]): Promise<Results<T>> {
      isOpen = false;
      const calls = start();
      let left = calls.length;
      const oneLess = () => {
        left -= 1;
      };
      for (const call of calls) call.then(oneLess, oneLess);
      const all = Promise.all(calls);
      let hasEnded = false;
      const ended = () => {
        hasEnded = true;
      };
      all.then(ended, ended);
      while (!hasEnded) {
        const patientUntil = performance.now() + patienceMs;
        while (waiting.length < left && performance.now() < patientUntil) await nextTurn();
        const chosen = waiting.length === 0 ? undefined : waiting[rest % waiting.length];
        rest = Math.floor(rest / Math.max(waiting.length, 1));
        waiting = waiting.filter((each) => each !== chosen);
        chosen?.();
        await nextTurn();
      }
      isOpen = true;
      for (const resolve of waiting.splice(0)) resolve();
      return all;
    },
  };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function openRaceWorld(order: number): Promise<RaceWorld> {
  const turnstile = createTurnstile(order);
  let direct: Database | null = null;
  const intercept = (database: Database): Database => {
    direct = database;
    return {
      ...database,
      write: async (work) => {
        await turnstile.pass();
        return database.write(work);
      },
    };
  };
  const world = await openRunWorld({ intercept });
  const { database, clock, newId } = world;
  const logger = createLogger('silent');
  const box = createSecretBox(Buffer.alloc(32, 7));
  const base = { transactions: database, clock, newId, logger };
  const store = createWebhookStore(database, box);
  const deliveries = createDeliveryStore(database);
  const resolve = async () => ['93.184.216.34'];
  const targetGuard = createTargetGuard({ allowed: parseAllowedTargets([]), resolve });
  // What is written down of a call, and of the use of a token, is no part of the race.
  const aside = { ...base, transactions: direct ?? database };
  const audit = createAuditLog({ ...aside, store: createAuditStore(database) });
  const tokens = createTokens({ ...aside, store: createTokenStore(database) });
  const idempotency = createIdempotency({ ...base, store: createIdempotencyStore(database, box) });
  const sessions = createSessions({ ...base, audit, store: createSessionStore(database) });
  const web = createWeb({
    ...{
      ...world,
      ...base,
      cursorBox: box,
      tokens,
      sessions,
      idempotency,
      apiRateLimit: 0,
      audit,
      version: '0.1.0',
      github: null,
      health: async () => healthy,
    },
    ...{ login: null, admission: { admit: () => Promise.reject(new Error('not in this test')) } },
    ...{ publicUrl: () => 'http://127.0.0.1:3000', isSandboxed: true },
    overrides: createOverrides({ ...base, store: createOverrideStore(database), runs: world.runs }),
    mending: createMending({
      ...base,
      runs: world.runs,
      stacks: world.stackStore,
      commands: world.commands,
      vendors: [],
    }),
    seenPlans: createSeenPlans({ ...base, store: createSeenPlanStore(database), runs: world.runs }),
    githubUrl: 'https://github.example',
    appPage: async () => null,
    access: createAccess({ admins: [], permissions: { roleOf: async () => null } }),
    refusesVariable: () => false,
    vendors: [],
    system: () => Promise.reject(new Error('not in this test')),
    ...policyParts(database, box, base).web,
    stackList: createStackList(database),
    runList: createRunList(database),
    metrics: { text: async () => '', responded: () => undefined, isAnonymous: false },
    events: createEventFeed(database),
    inbox: createInboxControl({ store: createInboxStore(database), ...base, onReplay: () => undefined }),
    webhooks: createWebhooks({
      ...base,
      store,
      missed: createMissedStore(database),
      deliveries,
      pump: { recall: () => undefined },
      targetGuard,
    }),
    replays: createReplays({ ...base, store: createReplayStore(database), webhooks: store }),
    runDeliveries: createRunDeliveries({ webhooks: store, deliveries }),
    webhookTests: { send: () => Promise.reject(new Error('not in this test')) },
    deliveries: createDeliveries({ ...base, store: deliveries, webhooks: store, pump: { wake: () => {} } }),
  });
  const admin = { role: 'admin', account: null } as const;
  const operator = { kind: 'operator' } as const;
  const keys = {
    ada: (await tokens.create({ name: 'ada', ...admin }, operator)).token,
    bob: (await tokens.create({ name: 'bob', ...admin }, operator)).token,
  };

  return {
    ...world,
    async ask(who, method, path, body) {
      const response = await web.fetch(apiRequest(method, `/api/v1${path}`, { token: keys[who], body }));
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    },
    async race(start) {
      const results = await turnstile.closeWhile(start);
      await world.scheduler.settled();
      return results;
    },
  };
}
