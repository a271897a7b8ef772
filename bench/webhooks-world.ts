/** The sending half of an installation on a database file of its own, filled as a benchmark wants it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { createIds } from '../src/ids.ts';
import { createLogger } from '../src/logger.ts';
import type { Commit } from '../src/stacks/repository.ts';
import { noHooks } from '../src/stacks/stack.ts';
import { openStores } from '../src/storage/stores.ts';
import { payloadOf } from '../src/webhooks/payload.ts';
import { everyEvent } from '../src/webhooks/webhook.ts';
import { createWebhookFeature } from '../src/webhooks/webhooks.ts';
import { steadyMs } from './webhooks-sink.ts';

export interface SendingWorld extends AsyncDisposable {
  readonly body: Buffer;
  start(): Promise<void>;
  /** The pump looks for what is due. */
  wake(): void;
  /** Ids of new webhooks for URLs. */
  addWebhooks(urls: readonly string[]): Promise<readonly string[]>;
  /** With everything that waits for them. */
  removeWebhooks(ids: readonly string[]): Promise<void>;
  /** One state of each of `runs` new runs for each of the webhooks, without waking anybody. */
  addBacklog(webhookIds: readonly string[], runs: number): Promise<void>;
  /** One state of a new run for the webhooks, as a transition tells it. */
  addEvent(webhookIds: readonly string[]): Promise<TellingEvent>;
  /** A small transaction of somebody else. */
  writeSomething(): Promise<void>;
  /** Deliveries that are not over. */
  countPending(): Promise<number>;
}

export interface TellingEvent {
  readonly deliveryIds: readonly string[];
  /** By the machine's steady clock. */
  readonly committedAtMs: number;
}

const commit: Commit = {
  authorLogin: 'ada',
  authorName: 'Ada Example',
  hash: '1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
  message: 'Widen the network\n\nThe second zone needs room for the new hosts.',
  timestamp: 1_795_000_000,
  url: 'https://github.example/acme/infra/commit/1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
};

export async function openSendingWorld(): Promise<SendingWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const stores = await openStores({
    dataDir,
    databasePath: join(dataDir, 'slipway.db'),
    secretKeyPath: join(dataDir, 'secret.key'),
  });
  const { database, deliveries } = stores;
  const clock = systemClock;
  const newId = createIds(clock);
  const feature = createWebhookFeature({
    stores,
    transactions: database,
    allowedTargets: ['127.0.0.1'],
    caBundle: null,
    version: '1.0.0',
    clock,
    newId,
    // What hangs and fails on purpose is no news.
    logger: createLogger('error'),
    observer: { attemptEnded: () => undefined },
    noteOnRun: () => Promise.resolve(),
  });
  const account = { id: 1, login: 'acme', installationId: 1, suspended: false };
  const repository = {
    id: 1,
    accountId: 1,
    installationId: 1,
    fullName: 'acme/infra',
    defaultBranch: 'main',
    isPrivate: true,
  };
  const stackKey = newId();
  const settings = {
    name: 'Network',
    description: 'The network of production',
    labels: ['prod'],
    branch: 'main',
    projectRoot: '',
    additionalProjectGlobs: [],
    autodeploy: false,
    planBinding: true,
    promotion: false,
    publicDetails: false,
    allowForks: false,
    trustedBots: [],
    checks: 'each' as const,
    unaffectedChecks: false,
    deploymentEnvironment: null,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    hooks: noHooks,
  };
  await database.write(async (tx) => {
    await stores.repositories.saveAccount(tx, account);
    await stores.repositories.saveRepository(tx, repository);
    const stack = { key: stackKey, id: 'network', accountId: 1, repositoryId: 1, settings, createdAtMs: 0 };
    await stores.stacks.insert(tx, stack);
  });

  const newRun = () =>
    ({
      id: newId(),
      stackKey,
      type: 'PROPOSED',
      branch: 'main',
      commit,
      createdAtMs: clock.nowMs(),
      triggeredBy: 'ada@example.com',
      startedBy: 'person:ada',
      priority: 0,
    }) as const;
  const bodyOf = (run: ReturnType<typeof newRun>) =>
    payloadOf({
      run: { ...run, state: 'QUEUED', stateVersion: 1, restarts: 0, hadWorker: false, isRenewed: false },
      stack: {
        ...{ key: stackKey, account: 'acme', id: 'network', repository, settings },
        ...{ lock: null, managedBy: null, createdAtMs: 0 },
      },
      timestampMs: clock.nowMs(),
      actor: 'worker',
      note: null,
    });

  async function insertEvent(
    tx: Parameters<typeof stores.runs.insert>[0],
    webhookIds: readonly string[],
  ): Promise<readonly string[]> {
    const run = newRun();
    await stores.runs.insert(tx, { ...run, dedupeKey: run.id });
    await deliveries.insertPayload(tx, run.id, 1, bodyOf(run));
    const ids: string[] = [];
    for (const webhookId of webhookIds) {
      const id = newId();
      await deliveries.insert(tx, {
        id,
        webhookId,
        runId: run.id,
        stateVersion: 1,
        createdAtMs: clock.nowMs(),
      });
      ids.push(id);
    }
    return ids;
  }

  let written = 0;
  return {
    body: bodyOf(newRun()),
    start: () => feature.pump.start(),
    wake: () => feature.pump.wake(),
    async addWebhooks(urls) {
      const ids = urls.map(() => newId());
      await database.write(async (tx) => {
        for (const [index, url] of urls.entries()) {
          const rest = { enabled: true, headers: {}, filter: everyEvent, createdAtMs: clock.nowMs() };
          const webhook = { id: ids[index] ?? '', stackKey, endpoint: url, url, secret: 'a secret', ...rest };
          await stores.webhooks.insert(tx, webhook);
        }
      });
      return ids;
    },
    async removeWebhooks(ids) {
      for (const id of ids) await database.write((tx) => stores.webhooks.remove(tx, id));
    },
    async addBacklog(webhookIds, runs) {
      for (let from = 0; from < runs; from += 100) {
        await database.write(async (tx) => {
          for (let run = from; run < Math.min(runs, from + 100); run += 1) await insertEvent(tx, webhookIds);
        });
      }
    },
    async addEvent(webhookIds) {
      let committedAtMs = Number.NaN;
      const deliveryIds = await database.write(async (tx) => {
        tx.afterCommit(() => {
          committedAtMs = steadyMs();
          for (const id of webhookIds) feature.pump.wake(id);
        });
        return insertEvent(tx, webhookIds);
      });
      return { deliveryIds, committedAtMs };
    },
    async writeSomething() {
      written += 1;
      await database.write((tx) =>
        stores.repositories.saveAccount(tx, { ...account, installationId: written }),
      );
    },
    async countPending() {
      const query = database.read.selectFrom('delivery').where('next_at_ms', 'is not', null);
      const row = await query.select((count) => count.fn.countAll<number>().as('count')).executeTakeFirst();
      return row?.count ?? 0;
    },
    async [Symbol.asyncDispose]() {
      await feature[Symbol.asyncDispose]();
      await stores.logs[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true });
    },
  };
}
