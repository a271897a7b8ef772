import { createSessions } from '../../src/access/sessions.ts';
import { createDeliveryHandler } from '../../src/github/delivery-handler.ts';
import type { OnButton, OnOffer } from '../../src/github/events/check-run.ts';
import type { OnRerun } from '../../src/github/events/check-suite.ts';
import { createEventHandlers } from '../../src/github/events/handlers.ts';
import type { OnComment } from '../../src/github/events/issue-comment.ts';
import { createInbox } from '../../src/github/inbox.ts';
import { createInboxWorker } from '../../src/github/inbox-worker.ts';
import { createKnownRepositories } from '../../src/github/known-repositories.ts';
import { createPullRequestReader } from '../../src/github/pull-request-reader.ts';
import { createReconciler } from '../../src/github/reconcile/installations.ts';
import { createFileReader } from '../../src/github/repository-file/read-file.ts';
import { createRepositoryFiles } from '../../src/github/repository-file/repository-files.ts';
import { createGithubSource } from '../../src/github/source.ts';
import { createIds } from '../../src/ids.ts';
import type { DestroyedGroup, MergeGroup, MergeGroups } from '../../src/runs/merge-groups.ts';
import type { PullRequestClosing } from '../../src/runs/pull-requests.ts';
import type { PullRequestChange, PullRequestContent } from '../../src/stacks/pull-request.ts';
import type { Push } from '../../src/stacks/trigger.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { createRepositoryFileStore } from '../../src/storage/repository-file-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { pulumiRules } from '../../src/vendors/pulumi/rules.ts';
import { serveInbox, silent, startGithub, tempDatabase, webhookSecret } from './support.ts';

export interface SeenPush {
  push: Push;
  deliveryId: string;
}

export interface SeenChange {
  change: Omit<PullRequestChange, 'read'>;
  content: PullRequestContent;
}

/** The whole way in: the stand-in's webhooks, the inbox over HTTP, its worker, Probot, our handlers. */
export async function startReceiving(
  options: {
    onButton?: OnButton;
    onOffer?: OnOffer;
    onRerun?: OnRerun;
    onComment?: OnComment;
    isJudged?: boolean;
  } = {},
) {
  const started = await startGithub();
  const temp = await tempDatabase();
  const { database } = temp;
  const { clock } = started;
  const store = createRepositoryStore(database);
  const inboxStore = createInboxStore(database);
  const seen: number[] = [];
  const reconciler = createReconciler({
    app: started.app,
    store,
    transactions: database,
    budget: started.budget,
    clock,
    logger: silent,
    onSeen: (ids) => void seen.push(...ids),
  });
  const repositories = createKnownRepositories({
    app: started.app,
    store,
    reconciler,
    transactions: database,
  });
  const stacks = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const runs = createRunStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const repositoryFiles = createRepositoryFileStore(database);
  const outbox = createOutboxStore(database);
  const files = createRepositoryFiles({
    reader: createFileReader(started.app),
    files: repositoryFiles,
    stacks,
    runs,
    outbox,
    repositories: store,
    known: repositories,
    vendors: [pulumiRules],
    transactions: database,
    clock,
    newId: createIds(clock),
    webUrl: started.github.url,
    onWanted: () => undefined,
    onRelabeled: async () => undefined,
  });
  const pushes: SeenPush[] = [];
  const path = process.env['PATH'] ?? '';
  const source = createGithubSource({
    ...{ app: started.app, apiUrl: started.apiUrl, scratchDirectory: temp.path, logger: silent },
    git: { webUrl: started.github.url, path, caBundle: null },
  });
  const changes: SeenChange[] = [];
  const closings: PullRequestClosing[] = [];
  const pullRequests = createPullRequestReader({ app: started.app, source, repositories: store });
  const groups: (MergeGroup | DestroyedGroup)[] = [];
  const mergeGroups: MergeGroups = {
    async requested(group) {
      groups.push(group);
      return ['network: previewed'];
    },
    async destroyed(group) {
      groups.push(group);
      return ['network: stopped'];
    },
  };
  const onRerun = options.onRerun ?? (() => Promise.reject(new Error('no "Re-run" in this test')));
  const sessions = createSessions({
    store: createSessionStore(database),
    transactions: database,
    clock,
    newId: createIds(clock),
    audit: { note: async () => undefined },
  });
  const notHere = (what: string) => () => Promise.reject(new Error(`no ${what} in this test`));
  const handlers = createEventHandlers({
    ...{ app: started.app, appId: started.github.app.id, repositories, files, pullRequests, reconciler },
    sessions,
    onPush: (push, deliveryId) => {
      pushes.push({ push, deliveryId });
      return Promise.resolve([`network: TRACKED run ${pushes.length}`, 'dns: not affected']);
    },
    onPullRequest: {
      async changed({ read, ...change }) {
        changes.push({ change, content: await read() });
        return ['network: previewed'];
      },
      closed(closing) {
        closings.push(closing);
        return Promise.resolve(['network: stopped']);
      },
      isJudged: () => Promise.resolve(options.isJudged ?? false),
    },
    onButton: options.onButton ?? notHere('button'),
    onOffer: options.onOffer ?? notHere('offer'),
    onComment: options.onComment ?? notHere('command'),
    onRerun,
    mergeGroups: () => mergeGroups,
  });
  const handle = await createDeliveryHandler(started.app.probot, handlers);
  const parts = { store: inboxStore, transactions: database, clock };
  const worker = createInboxWorker({ ...parts, handle, logger: silent });
  const inbox = createInbox({ ...parts, webhookSecret, onStored: () => worker.wake() });
  const served = await serveInbox(inbox);
  worker.start();
  const webhook = { url: served.url, secret: webhookSecret };
  started.github.setWebhook(webhook);
  return {
    ...started,
    database,
    store,
    inboxStore,
    reconciler,
    seen,
    stacks,
    runs,
    files,
    repositoryFiles,
    outbox,
    source,
    pullRequests,
    handle,
    clock,
    worker,
    /** Where the stand-in sends its events. */
    webhook,
    pushes,
    changes,
    closings,
    groups,
    sessions,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}
