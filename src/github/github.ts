import type { IdentityProvider } from '../access/login.ts';
import type { Permissions } from '../access/permissions.ts';
import type { Sessions } from '../access/sessions.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Gates } from '../runs/approvals/gates.ts';
import type { BranchHeadStore } from '../runs/branch-heads.ts';
import type { Conversation } from '../runs/conversation.ts';
import type { Offers } from '../runs/offers.ts';
import type { PullRequestNotes } from '../runs/pull-request-notes.ts';
import type { Reactor } from '../runs/run-event.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Source } from '../runs/source.ts';
import type { ShowUnaffected } from '../runs/unaffected.ts';
import type { RepositoryDirectory, RepositoryStore } from '../stacks/repository-store.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { VendorRules } from '../stacks/vendor-settings.ts';
import type { Transactions } from '../tx.ts';
import { type ApiBudget, createApiBudget } from './api-budget.ts';
import { createAppPage } from './app-page.ts';
import { answerText, hasOnlyBegun } from './comments/answer-text.ts';
import { createDeliveryHandler } from './delivery-handler.ts';
import { createEventHandlers, type EventSinks } from './events/handlers.ts';
import { createCommentWishes } from './feedback/comment/comment-wishes.ts';
import { createConversation } from './feedback/conversation.ts';
import { createDeploymentReactor } from './feedback/deployment.ts';
import { createOnGateChanged } from './feedback/gate-changed.ts';
import { createOffers } from './feedback/offers.ts';
import { createOutbox } from './feedback/outbox.ts';
import type { OutboxStore } from './feedback/outbox-store.ts';
import type { ReadPolicyLines } from './feedback/policy-lines.ts';
import { createPullRequestNotes } from './feedback/pull-request-notes.ts';
import { createFeedbackReactor } from './feedback/reactor.ts';
import { createNoteOnRun, type NoteOnRun } from './feedback/run-notes.ts';
import { createSenders } from './feedback/senders.ts';
import { createShowUnaffected } from './feedback/show-unaffected.ts';
import type { GitSettings } from './git.ts';
import { createGithubApp, type GithubAppSettings } from './github-app.ts';
import { createInbox, type Inbox, maxBodyBytes } from './inbox.ts';
import { createInboxControl, type InboxControl } from './inbox-control.ts';
import type { InboxStore } from './inbox-store.ts';
import { createInboxWorker } from './inbox-worker.ts';
import type { InstallationStore } from './installation-store.ts';
import { createKnownRepositories } from './known-repositories.ts';
import { createPermissions } from './permissions.ts';
import { createPullRequestReader } from './pull-request-reader.ts';
import { createHeadLoop, type OnMissedPush } from './reconcile/head-loop.ts';
import { createHeadReader } from './reconcile/head-reader.ts';
import { createInstallationLoop } from './reconcile/installation-loop.ts';
import { createReconciler } from './reconcile/installations.ts';
import { createLostDeliveries } from './reconcile/lost-deliveries.ts';
import type { LostDeliveryStore } from './reconcile/lost-delivery-store.ts';
import type { ReconcileObserver } from './reconcile/reconcile-observer.ts';
import { createRepositoryDirectory } from './repositories.ts';
import { createFileSweep } from './repository-file/file-sweep.ts';
import { createFileReader } from './repository-file/read-file.ts';
import type { RepositoryFileStore } from './repository-file/repository-file-store.ts';
import { createRepositoryFiles, type OnRelabeled } from './repository-file/repository-files.ts';
import { createGithubSource } from './source.ts';
import { createUserLogin, type UserLoginSettings } from './user-login.ts';

/** GitHub as the rest of the product sees it, put together: what comes in, what may be asked, what goes out. */
export interface Github extends AsyncDisposable {
  readonly inbox: (Inbox & { readonly maxBodyBytes: number }) | null;
  readonly inboxControl: InboxControl;
  readonly source: Source;
  readonly directory: RepositoryDirectory;
  readonly permissions: Permissions;
  /** Where the App is on GitHub; null while GitHub does not say. */
  readonly appPage: () => Promise<string | null>;
  /** Null without client id and secret of the App. */
  readonly identityProvider: IdentityProvider | null;
  readonly reactor: Reactor;
  readonly noteOnRun: NoteOnRun;
  readonly onGateChanged: ReturnType<typeof createOnGateChanged>;
  readonly conversation: Conversation;
  readonly offers: Offers;
  readonly pullRequestNotes: PullRequestNotes;
  readonly showUnaffected: ShowUnaffected;
  readonly budget: Pick<ApiBudget, 'standing'>;
  /** Starts the loops: deliveries are handled, check runs sent, all of it compared with GitHub, repository files read. */
  start(): void;
}

export interface GithubParts extends EventSinks {
  readonly settings: GithubAppSettings & {
    readonly webUrl: string;
    readonly userFlow: Pick<UserLoginSettings, 'clientId' | 'clientSecret'> | null;
  };
  readonly stores: {
    readonly inbox: InboxStore;
    readonly outbox: OutboxStore;
    readonly lostDeliveries: LostDeliveryStore;
    readonly branchHeads: BranchHeadStore;
    readonly repositories: RepositoryStore & InstallationStore;
    readonly repositoryFiles: RepositoryFileStore;
    readonly stacks: StackStore;
    readonly runs: Pick<
      RunStore,
      'find' | 'newestOfType' | 'newestOfCommit' | 'ofPullRequest' | 'plan' | 'activeRun' | 'firstQueued'
    >;
  };
  /** By whose rules the repository file is judged. */
  readonly vendors: readonly VendorRules[];
  readonly git: Omit<GitSettings, 'webUrl'>;
  /** Holds what is needed for a moment; what a former life left there may be removed. */
  readonly scratchDirectory: string;
  readonly sessions: Pick<Sessions, 'endAllOf'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly observer: ReconcileObserver;
  readonly publicUrl: () => string;
  readonly gates: Gates;
  readonly isSandboxed: boolean;
  readonly onMissedPush: OnMissedPush;
  readonly policyLines: ReadPolicyLines;
  readonly onRelabeled: OnRelabeled;
}

/** Of check runs; people do not see the difference. */
const calmMs = 1000;

export async function createGithub(parts: GithubParts): Promise<Github> {
  const { settings, stores, transactions, clock, logger } = parts;
  const budget = createApiBudget({ clock });
  const app = await createGithubApp(settings, budget, logger);
  const source = createGithubSource({
    app,
    apiUrl: settings.apiUrl,
    git: { webUrl: settings.webUrl, ...parts.git },
    scratchDirectory: parts.scratchDirectory,
    logger,
  });
  const reconciler = createReconciler({
    app,
    store: stores.repositories,
    transactions,
    budget,
    clock,
    logger,
    onSeen: (repositoryIds) => fileSweep.add(repositoryIds),
  });
  const known = createKnownRepositories({ app, store: stores.repositories, reconciler, transactions });
  const files = createRepositoryFiles({
    ...parts,
    ...stores,
    files: stores.repositoryFiles,
    reader: createFileReader(app),
    known,
    webUrl: settings.webUrl,
    onWanted: () => outbox.wake(),
  });
  const fileSweep = createFileSweep({ files, repositories: stores.repositories, budget, clock, logger });
  const pullRequests = createPullRequestReader({ app, source, repositories: stores.repositories });
  const handlers = createEventHandlers({
    ...parts,
    ...{ app, appId: settings.appId, repositories: known, files, pullRequests, reconciler },
    onPullRequest: {
      ...parts.onPullRequest,
      async changed(change, deliveryId) {
        const notes = await parts.onPullRequest.changed(change, deliveryId);
        await comments.changed({ repositoryId: change.repositoryId, number: change.pullRequest.number });
        return notes;
      },
    },
  });
  const handle = await createDeliveryHandler(app.probot, handlers);

  const inboxWorker = createInboxWorker({ store: stores.inbox, transactions, handle, clock, logger });
  const outbox = createOutbox({
    app,
    senders: createSenders({ ...stores, ...parts, appId: settings.appId, webUrl: settings.webUrl }),
    budget,
    store: stores.outbox,
    repositories: stores.repositories,
    transactions,
    clock,
    logger,
  });
  const feedback = { store: stores.outbox, clock, onWanted: () => outbox.wake() };
  const comments = createCommentWishes({ ...feedback, runs: stores.runs, transactions });
  const offers = createOffers(feedback);
  const reactors = [
    createFeedbackReactor({
      ...feedback,
      calmMs,
      publicUrl: parts.publicUrl,
      isSandboxed: parts.isSandboxed,
    }),
    comments.reactor,
    createDeploymentReactor(feedback),
    offers.reactor,
  ];
  const reconciling = { app, transactions, observer: parts.observer, clock, random: Math.random, logger };
  const lostDeliveries = createLostDeliveries({
    ...reconciling,
    store: stores.lostDeliveries,
    isHandled: (event) => Object.hasOwn(handlers, event),
  });
  const installations = createInstallationLoop({ ...reconciling, reconciler });
  const heads = createHeadLoop({
    ...reconciling,
    ...stores,
    reader: createHeadReader(app),
    source,
    files,
    budget,
    onMissedPush: parts.onMissedPush,
  });
  const loops = [inboxWorker, outbox, installations, fileSweep, lostDeliveries, heads];

  return {
    inbox: {
      maxBodyBytes,
      ...createInbox({
        webhookSecret: settings.webhookSecret,
        store: stores.inbox,
        transactions,
        clock,
        onStored: () => inboxWorker.wake(),
      }),
    },
    inboxControl: createInboxControl({
      store: stores.inbox,
      transactions,
      clock,
      onReplay: () => inboxWorker.wake(),
    }),
    source,
    directory: createRepositoryDirectory(app),
    permissions: createPermissions({ app, clock }),
    appPage: createAppPage({ app, clock, logger }),
    identityProvider: settings.userFlow && createUserLogin({ ...settings, ...settings.userFlow }),
    async reactor(tx, event) {
      for (const react of reactors) await react(tx, event);
    },
    offers,
    pullRequestNotes: createPullRequestNotes({ ...feedback, app }),
    showUnaffected: createShowUnaffected({ ...feedback, publicUrl: parts.publicUrl }),
    onGateChanged: createOnGateChanged(feedback),
    noteOnRun: createNoteOnRun({ ...stores, ...feedback }),
    conversation: createConversation({ ...feedback, comments, answerText, isPatient: hasOnlyBegun }),
    budget,
    start() {
      for (const loop of loops) loop.start();
    },
    async [Symbol.asyncDispose]() {
      // They know that they are to stop before their requests fail, so that this is not taken for a failure.
      const stopped = Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
      // A GitHub that does not answer must not hold up the end; what was under way is tried at the next start.
      app[Symbol.dispose]();
      await stopped;
    },
  };
}
