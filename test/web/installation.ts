import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '../../src/access/actor.ts';
import { createAdmission } from '../../src/access/admission.ts';
import { createAuditLog } from '../../src/access/audit-log.ts';
import { createIdempotency } from '../../src/access/idempotency.ts';
import type { LoginJudge } from '../../src/access/login-judge.ts';
import { createAccess } from '../../src/access/roles.ts';
import { type Browser, createSessions, type Person, personActor } from '../../src/access/sessions.ts';
import { createTokens } from '../../src/access/tokens.ts';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { createInboxControl } from '../../src/github/inbox-control.ts';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { PolicyEngine } from '../../src/policies/engine.ts';
import { createOverrides } from '../../src/policies/overrides.ts';
import { createRunCommands } from '../../src/runs/commands.ts';
import { createMending } from '../../src/runs/mending.ts';
import { createSeenPlans } from '../../src/runs/plan/seen-plans.ts';
import type { Run } from '../../src/runs/run.ts';
import { createScheduler } from '../../src/runs/scheduler.ts';
import { createSummaryReactor } from '../../src/runs/stack-summary.ts';
import { createTransitions, type Transitions } from '../../src/runs/transition.ts';
import { createTriggers } from '../../src/runs/triggers.ts';
import { type Stack, vendorName } from '../../src/stacks/stack.ts';
import { createStacks } from '../../src/stacks/stacks.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { createBranchHeadStore } from '../../src/storage/branch-head-store.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createDeliveryStore } from '../../src/storage/delivery-store.ts';
import { createEventFeed } from '../../src/storage/event-feed.ts';
import { createFileLogStore } from '../../src/storage/file-log-store.ts';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createMissedStore } from '../../src/storage/missed-store.ts';
import { createOverrideStore } from '../../src/storage/override-store.ts';
import { createReplayStore } from '../../src/storage/replay-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRetentionStore } from '../../src/storage/retention-store.ts';
import { createRunList } from '../../src/storage/run-list.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createSeenPlanStore } from '../../src/storage/seen-plan-store.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { createStackList } from '../../src/storage/stack-list.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { createStandingStore } from '../../src/storage/standing-store.ts';
import { createTokenStore } from '../../src/storage/token-store.ts';
import { createWebhookStore } from '../../src/storage/webhook-store.ts';
import { vendorRules } from '../../src/vendor-rules.ts';
import type { Health } from '../../src/web/health.ts';
import type { Web, WebParts } from '../../src/web/server.ts';
import type { SystemReport } from '../../src/web/system-report.ts';
import { createDeliveries } from '../../src/webhooks/deliveries.ts';
import { createWebhooks } from '../../src/webhooks/endpoint.ts';
import { createWebhookReactor } from '../../src/webhooks/reactor.ts';
import { createReplays } from '../../src/webhooks/replays.ts';
import { createRunDeliveries } from '../../src/webhooks/run-deliveries.ts';
import type { Sender, SendResult } from '../../src/webhooks/sending/sender.ts';
import { parseAllowedTargets } from '../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../src/webhooks/targets/target-guard.ts';
import { createTestDeliveries } from '../../src/webhooks/test-delivery.ts';
import { approvalParts } from '../support/approvals.ts';
import { aCommit, anAccount, aRepository, person, stackSettings } from '../support/builders.ts';
import { noneJudged } from '../support/run-world.ts';
import { anExchange } from '../webhooks/exchanges.ts';
import { checkedAgainstDocument } from './documented.ts';
import { policyParts } from './policy-parts.ts';

export const branchHead = aCommit();
export const otherAccount = anAccount({ id: 12, login: 'globex', installationId: 102 });
export const healthy: Health = {
  status: 'ready',
  checks: {
    database: { ok: true, detail: '/var/lib/slipway/slipway.db' },
    disk: { ok: true, detail: '12.0 GiB free' },
    sandbox: { ok: true, detail: 'bubblewrap' },
    tools: { ok: true, detail: '/usr/bin/pulumi' },
  },
};

const systemReport: SystemReport = {
  version: '0.1.0',
  startedAtMs: 1_795_000_000_000,
  doctor: {
    ok: true,
    items: [
      { name: 'pulumi', status: 'ok', detail: '3.259.0, /usr/bin/pulumi (from PATH)' },
      { name: 'sandbox', status: 'warning', detail: 'no limit of memory', hint: 'Delegate a cgroup.' },
    ],
  },
  workers: 2,
  jobs: { waiting: 1, running: 2, waitingSinceMs: 1_795_000_000_000 },
  runs: { UNCONFIRMED: 1 },
  deliveries: { pending: 3, due: 1, inFlight: 1, dueSinceMs: 1_795_000_000_000 },
  inbox: { pending: 0, failed: 1, pendingSinceMs: null },
  outboxWaiting: 0,
};

type InstallationChange = Partial<WebParts> & {
  readonly judge?: LoginJudge;
  readonly engine?: Partial<PolicyEngine>;
};

const noLoginPolicies: LoginJudge = {
  judge: async () => ({ kind: 'no-policies', settle: async () => true }),
};

/**
 * The web on the real features and a real database; only GitHub, name servers and the senders are doubles. Each answer of
 * its API must be one that the OpenAPI document describes.
 */
export function anInstallation({ judge = noLoginPolicies, engine, ...change }: InstallationChange = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-web-'));
  const database = openDatabase(join(directory, 'slipway.db'));
  const box = createSecretBox(randomBytes(32));
  const logged: Record<string, unknown>[] = [];
  const logger = createLogger('debug', {
    write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>),
  });

  // Deterministic: a second passes with each look.
  let nowMs = 1_795_000_000_000;
  const clock = { nowMs: () => (nowMs += 1000) };
  const newId = createIds(clock);
  const base = { transactions: database, clock, newId };
  const stackStore = createStackStore(database, box);
  const runs = createRunStore(database, box);
  const repositories = createRepositoryStore(database);
  const inboxStore = createInboxStore(database);
  const webhookStore = createWebhookStore(database, box);
  const deliveryStore = createDeliveryStore(database);
  const logs = createFileLogStore(join(directory, 'logs'));
  const pump = { wake: () => {} };
  // What tests of webhooks end with, one after the other; then they are delivered.
  const outcomes: SendResult[] = [];

  // GitHub: which repositories the App sees, who has which role, which commits there are.
  const roles = new Map<string, Role>();
  const installed = new Map([
    ['acme/infra', { account: anAccount(), repository: aRepository() }],
    [
      'globex/infra',
      {
        account: otherAccount,
        repository: aRepository({ id: 22, accountId: 12, installationId: 102, fullName: 'globex/infra' }),
      },
    ],
  ]);

  const guards: string[] = [];
  const approvals = approvalParts({ database, clock, newId, runs, guardsOf: () => guards });
  const { gates, reviewing, approvalJobs } = approvals;
  const scheduler = createScheduler({
    ...{ gates, approvalJobs },
    runs,
    stacks: stackStore,
    transitions: () => transitions,
    transactions: database,
    logger,
  });
  const transitions: Transitions = createTransitions({
    runs,
    stacks: stackStore,
    clock,
    reactors: [
      createWebhookReactor({ webhooks: webhookStore, deliveries: deliveryStore, newId, pump }),
      createSummaryReactor(runs),
      approvalJobs.reactor,
      scheduler.reactor,
    ],
  });
  const commands = createRunCommands({ runs, stacks: stackStore, transitions, gates, ...base });
  const stacks = createStacks({
    ...base,
    store: stackStore,
    repositories,
    directory: { lookUp: async (fullName) => installed.get(fullName) ?? null },
    vendors: vendorRules,
    onUnlock: (key) => scheduler.wake(key),
    onRelabeled: (tx, key) => approvalJobs.policiesChanged(tx, [key]),
  });
  const targetGuard = createTargetGuard({
    allowed: parseAllowedTargets([]),
    resolve: async () => ['93.184.216.34'],
  });
  const webhooks = createWebhooks({
    ...base,
    store: webhookStore,
    missed: createMissedStore(database),
    deliveries: deliveryStore,
    pump: { recall: () => undefined },
    targetGuard,
  });
  const replays = createReplays({
    ...base,
    store: createReplayStore(database),
    webhooks: webhookStore,
    logger,
  });
  const policies = policyParts(database, box, { ...base, logger }, engine);
  const tokenStore = createTokenStore(database);
  const tokens = createTokens({ ...base, store: tokenStore });
  const idempotency = createIdempotency({ ...base, store: createIdempotencyStore(database, box) });
  const audit = createAuditLog({ ...base, store: createAuditStore(database) });
  const sessions = createSessions({ ...base, audit, store: createSessionStore(database) });
  const githubTraffic = () => createApiBudget({ clock }).standing();
  const store = createStandingStore(database);
  const metrics = createMetrics({ store, githubTraffic, clock, version: '0.1.0' });
  const access = createAccess({
    admins: ['root-ada'],
    permissions: {
      roleOf: async ({ login }, { fullName }) =>
        roles.get(`${login} ${fullName}`) ?? roles.get(login) ?? null,
    },
  });
  const isAdmin = (who: Person) => access.isInstanceAdmin(personActor(who));
  const admission = createAdmission({ ...base, judge, isAdmin, sessions, audit, logger });
  const logIn = (who: Person, browser: Browser) =>
    admission.admit({ person: who, memberships: () => Promise.reject(new Error('not asked')) }, browser);
  const web: Web = checkedAgainstDocument({
    version: '0.1.0',
    logger,
    newId,
    access,
    tokens,
    sessions,
    admission,
    audit,
    idempotency,
    apiRateLimit: 0,
    login: null,
    publicUrl: () => 'https://slipway.example.com',
    isSandboxed: true,
    githubUrl: 'https://github.example',
    appPage: async () => 'https://github.example/apps/slipway-acme',
    stacks,
    stackStore,
    repositories,
    vendors: vendorRules.map((rules) => ({ ...rules, tool: rules.name === 'opentofu' ? null : {} })),
    stackList: createStackList(database),
    cursorBox: box,
    transactions: database,
    refusesVariable: (stack, name) =>
      vendorRules.some(
        (rules) => rules.name === vendorName(stack.settings.vendor) && rules.refusesVariable(name),
      ),
    runs,
    runList: createRunList(database),
    seenPlans: createSeenPlans({ ...base, store: createSeenPlanStore(database), runs }),
    commands,
    gates,
    reviewing,
    mending: createMending({ ...base, runs, stacks: stackStore, commands, vendors: vendorRules }),
    overrides: createOverrides({ ...base, store: createOverrideStore(database), runs }),
    triggers: createTriggers({
      branchHeads: createBranchHeadStore(database),
      transactions: database,
      clock,
      stacks: stackStore,
      runs,
      commands,
      source: {
        resolve: async (_repository, branch, sha) =>
          branch === 'main' && (sha === null || sha === branchHead.hash) ? branchHead : null,
        changedPaths: async () => null,
        compare: () => Promise.reject(new Error('not in this test')),
        fetch: () => Promise.reject(new Error('not in this test')),
      },
      judgedEvents: noneJudged,
      unaffected: () => Promise.reject(new Error('not in this test')),
    }),
    logs,
    events: createEventFeed(database),
    webhooks,
    ...policies.web,
    clock,
    replays,
    runDeliveries: createRunDeliveries({ webhooks: webhookStore, deliveries: deliveryStore }),
    webhookTests: createTestDeliveries({
      ...base,
      webhooks: webhookStore,
      deliveries: deliveryStore,
      newSender: () => aSenderDouble(outcomes),
    }),
    deliveries: createDeliveries({ ...base, store: deliveryStore, webhooks: webhookStore, logger, pump }),
    github: null,
    inbox: createInboxControl({ store: inboxStore, ...base, onReplay: () => undefined }),
    health: async () => healthy,
    system: async () => systemReport,
    metrics: { ...metrics, isAnonymous: false },
    streamLimits: {
      pollMs: 5,
      lifetimeMs: 60_000,
      maxOpen: 3,
      maxOpenOfOne: 3,
      askMs: 50,
      silenceMs: 10_000,
    },
    ...change,
  });

  async function addStack(name = 'Network Prod', repository = 'acme/infra'): Promise<Stack> {
    const settings = stackSettings({ name });
    return stacks.create(await stacks.prepare({ name, repository, vendor: settings.vendor }));
  }

  async function addRun(stack: Stack, type: Run['type'] = 'TRACKED', actor = 'ada'): Promise<Run> {
    const branch = type === 'PROPOSED' ? 'topic' : 'main';
    const request = {
      stackKey: stack.key,
      type,
      branch,
      commit: branchHead,
      by: person(actor),
    };
    const run = await commands.create({ ...request, dedupeKey: null });
    if (run === 'duplicate') throw new Error('cannot be');
    await scheduler.settled();
    return fresh(run);
  }

  async function fresh(run: Run): Promise<Run> {
    const found = await runs.find(run.id);
    if (!found) throw new Error('the run is gone');
    return found;
  }

  /** As the worker would: each command in turn. */
  async function move(run: Run, ...steps: Parameters<Transitions['move']>[2][]): Promise<Run> {
    for (const step of steps) {
      const before = await fresh(run);
      const by = { actor: 'worker', note: null };
      const moved = await database.write((tx) => transitions.move(tx, before, step, by));
      if (moved.kind !== 'moved') throw new Error(`${step.kind} in ${before.state} was ${moved.kind}`);
    }
    await scheduler.settled();
    return fresh(run);
  }

  async function token(role: Role, account: string | null = null): Promise<string> {
    return (await tokens.create({ name: `${role}-token`, role, account }, { kind: 'operator' })).token;
  }

  return {
    ...{
      guards,
      approvals,
      web,
      database,
      logged,
      roles,
      installed,
      tokens,
      sessions,
      logIn,
      audit,
      tokenStore,
      stacks,
      stackStore,
      repositories,
      runs,
      commands,
      transitions,
      logs,
      inboxStore,
      metrics,
    },
    ...{
      webhooks,
      policies,
      retention: createRetentionStore(database),
      replays,
      outcomes,
      deliveryStore,
      scheduler,
      addStack,
      addRun,
      move,
      token,
      directory,
    },
    async [Symbol.asyncDispose]() {
      web.endStreams();
      await scheduler.settled();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function aSenderDouble(outcomes: SendResult[]): Sender {
  return {
    async send({ isTest }) {
      const headers: Record<string, string> = isTest ? { 'x-slipway-test': 'true' } : {};
      const exchange = anExchange({ request: { headers } });
      return outcomes.shift() ?? { kind: 'delivered', statusCode: 204, durationMs: 12, exchange };
    },
    stop: () => undefined,
    giveUp: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

export type Installation = ReturnType<typeof anInstallation>;

/** From READY, where the scheduler leaves a first run, to the confirmation. */
export const untilUnconfirmed = [
  { kind: 'claim' },
  { kind: 'prepared' },
  { kind: 'initialized' },
  {
    kind: 'planned',
    hasChanges: true,
    hasWarnings: false,
    hasApprovalPolicies: false,
    autodeploy: false,
    stackLocked: false,
  },
] as const;

export function apiRequest(
  method: string,
  path: string,
  options: { token?: string; body?: unknown } = {},
): Request {
  const { token, body } = options;
  return new Request(`http://slipway.test${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Status and parsed body. */
export async function call(
  installation: Installation,
  method: string,
  path: string,
  options: { token?: string; body?: unknown } = {},
) {
  const response = await installation.web.fetch(apiRequest(method, path, options));
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
