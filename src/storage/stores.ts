import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { createIds } from '../ids.ts';
import { createAnsweredComments } from './answered-comments.ts';
import { createAuditStore } from './audit-store.ts';
import { createBackupMark } from './backup-mark.ts';
import { createBranchHeadStore } from './branch-head-store.ts';
import { type Database, openDatabase } from './database.ts';
import { createDecisionStore } from './decision-store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createEventFeed } from './event-feed.ts';
import { createFileLogStore } from './file-log-store.ts';
import { createFlagStore } from './flag-store.ts';
import { createGateStore } from './gate-store.ts';
import { createIdempotencyStore } from './idempotency-store.ts';
import { createInboxStore } from './inbox-store.ts';
import { createLostDeliveryStore } from './lost-delivery-store.ts';
import { createMissedStore } from './missed-store.ts';
import { createNoticeStore } from './notice-store.ts';
import { openProblem } from './open-problem.ts';
import { createOutboxStore } from './outbox-store.ts';
import { createOverrideStore } from './override-store.ts';
import { createPolicyStore } from './policy-store.ts';
import { createReplayStore } from './replay-store.ts';
import { createRepositoryFileStore } from './repository-file-store.ts';
import { createRepositoryStore } from './repository-store.ts';
import { createRetentionStore } from './retention-store.ts';
import { createReviewStore } from './review-store.ts';
import { createRunCauseStore } from './run-cause-store.ts';
import { createRunList } from './run-list.ts';
import { createRunStore } from './run-store.ts';
import { createSampleStore } from './sample-store.ts';
import { purposes } from './sealed-columns.ts';
import { createSecretBox, opens, type SecretBox } from './secret-box.ts';
import { keyThatFits, loadSecretKey } from './secret-key.ts';
import { createSeenPlanStore } from './seen-plan-store.ts';
import { createSessionStore } from './session-store.ts';
import { createStackList } from './stack-list.ts';
import { createStackStore } from './stack-store.ts';
import { createStandingStore } from './standing-store.ts';
import { createTokenStore } from './token-store.ts';
import { createWebhookStore } from './webhook-store.ts';

export interface StorePaths {
  readonly dataDir: string;
  readonly databasePath: string;
  readonly secretKeyPath: string;
}

/**
 * Every store of the default storage: one SQLite file, one key file, log files.
 * Throws a UserError when a path cannot be used, the key does not fit, or the database is damaged or a newer one.
 */
export async function openStores(paths: StorePaths, clock: Clock = systemClock) {
  openDirectory(paths.dataDir);
  openDirectory(dirname(paths.databasePath));
  const { database, box } = await openChecked(paths);
  const newDecisionId = createIds(clock, await newestId(database, ['policy_decision']));
  return {
    database,
    newestId: await newestId(database, ['run', 'job', 'delivery', 'replay', 'notice']),
    stacks: createStackStore(database, box),
    stackList: createStackList(database),
    repositories: createRepositoryStore(database),
    repositoryFiles: createRepositoryFileStore(database),
    runs: createRunStore(database, box),
    runList: createRunList(database),
    causes: createRunCauseStore(database),
    reviews: createReviewStore(database),
    runGates: createGateStore(database),
    seenPlans: createSeenPlanStore(database),
    retention: createRetentionStore(database),
    logs: createFileLogStore(join(paths.dataDir, 'logs')),
    events: createEventFeed(database),
    webhooks: createWebhookStore(database, box),
    missed: createMissedStore(database),
    deliveries: createDeliveryStore(database),
    replays: createReplayStore(database),
    inbox: createInboxStore(database),
    backupMark: createBackupMark(database),
    branchHeads: createBranchHeadStore(database),
    lostDeliveries: createLostDeliveryStore(database),
    outbox: createOutboxStore(database),
    answered: createAnsweredComments(database),
    tokens: createTokenStore(database),
    sessions: createSessionStore(database),
    audit: createAuditStore(database),
    idempotency: createIdempotencyStore(database, box),
    standing: createStandingStore(database),
    policies: createPolicyStore(database),
    overrides: createOverrideStore(database),
    flags: createFlagStore(database),
    decisions: createDecisionStore(database, box, { clock, newId: newDecisionId }),
    samples: createSampleStore(database, box),
    notices: createNoticeStore(database),
    cursorBox: box,
  };
}

function openDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw openProblem(`The directory ${path}`, error) ?? error;
  }
}

async function openChecked({ databasePath, secretKeyPath }: StorePaths) {
  const key = loadSecretKey(secretKeyPath, existsSync(databasePath));
  try {
    const database = openDatabase(databasePath);
    try {
      return { database, box: await boxThatFits(database, key, secretKeyPath) };
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    throw openProblem(`The database ${databasePath}`, error) ?? error;
  }
}

export type Stores = Awaited<ReturnType<typeof openStores>>;

/** Queues and "the newest run" go by identifiers: those of this life have to sort after those of the former. */
async function newestId(
  { read }: Database,
  tables: readonly ('run' | 'job' | 'delivery' | 'replay' | 'policy_decision' | 'notice')[],
): Promise<string | null> {
  const ids: string[] = [];
  for (const table of tables) {
    const row = await read.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
    if (row) ids.push(row.id);
  }
  return ids.sort().at(-1) ?? null;
}

/** The first key that a database sees is its own. Throws `secret-key-wrong`. */
async function boxThatFits(database: Database, key: Buffer, path: string): Promise<SecretBox> {
  const canary = await database.write(async (tx) => {
    const db = database.inside(tx);
    const row = await db.selectFrom('canary').select('box').executeTakeFirst();
    const sealed = row?.box ?? createSecretBox(key).seal(purposes.canary(), purposes.canary());
    if (!row) await db.insertInto('canary').values({ id: 1, box: sealed }).execute();
    return sealed;
  });
  return createSecretBox(keyThatFits(path, (one) => opens(createSecretBox(one), purposes.canary(), canary)));
}
