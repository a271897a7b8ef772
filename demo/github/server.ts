/**
 * A stand-in for GitHub on this machine: REST API, real Git over HTTP, signed webhooks. The demo and the
 * scenario tests play people and GitHub itself through the object returned here; the product meets only HTTP.
 * It keeps no state between starts and knows nothing of the product.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { addAccount, addBot, addUser, defaultActor, type NewAccount, type NewUser } from './accounts.ts';
import { createApi } from './api.ts';
import type { CheckRun } from './check-run.ts';
import { Comments } from './comments.ts';
import type { Discussions } from './discussion.ts';
import { type Fault, Faults } from './faults.ts';
import { createGitHttp } from './git/http.ts';
import {
  changeInstalledRepository,
  type InstallOptions,
  installApp,
  suspendApp,
  uninstallApp,
} from './installations.ts';
import { MergeQueue } from './merge-queue.ts';
import type { RecordedRequest } from './pipeline.ts';
import { PullRequests } from './pull-requests.ts';
import { Pushes } from './pushes.ts';
import { RateLimit } from './rate-limit.ts';
import {
  type BranchCommit,
  commitTo,
  createRepository,
  type NewRepository,
  renameRepository,
  setBranch,
  setDefaultBranch,
  setPermission,
} from './repositories.ts';
import {
  acceptPermissions,
  archiveRepository,
  renameAccount,
  setPrivate,
  transferRepository,
} from './repository-changes.ts';
import type { Deployment } from './routes/deployments.ts';
import { createState, type GithubState, type Permissions, type Repository, requireAccount } from './state.ts';
import { addTeam, type NewTeam } from './teams.ts';
import { Webhooks, type WebhookTarget } from './webhooks.ts';

export interface StandInOptions {
  /** Default 0: any free one. */
  port?: number;
  appId: number;
  publicKeyPem: string;
  webhook: WebhookTarget | null;
  /** Where the bare repositories live; made and removed by the caller. */
  dir: string;
  app?: Partial<
    Pick<GithubState['app'], 'slug' | 'name' | 'clientId' | 'clientSecret' | 'permissions' | 'events'>
  >;
  tokenForm?: 'long' | 'short';
  /** Of GitHub's published description of requests. Unless it is told to bear them, its end throws when there were any. */
  bearsViolations?: boolean;
  nowMs?: () => number;
}

export type StandInGithub = Awaited<ReturnType<typeof startStandInGithub>>;

/** What app.yml asks for. */
const permissions: Permissions = {
  metadata: 'read',
  contents: 'read',
  checks: 'write',
  pull_requests: 'write',
  issues: 'read',
  deployments: 'write',
  merge_queues: 'read',
};
const events = [
  ...['push', 'pull_request', 'issue_comment', 'check_run', 'check_suite', 'merge_group', 'repository'],
];

export async function startStandInGithub(options: StandInOptions) {
  const state = createState({
    dir: options.dir,
    nowMs: options.nowMs ?? Date.now,
    tokenForm: options.tokenForm ?? 'long',
    app: newApp(options),
  });
  const webhooks = new Webhooks(state, options.webhook);
  const requests: RecordedRequest[] = [];
  const violations: string[] = [];
  const checkRuns: CheckRun[] = [];
  const faults = new Faults();
  const rateLimit = new RateLimit();
  const discussions: Discussions = { issues: [], comments: [] };
  const deployments: Deployment[] = [];
  const comments = new Comments(state, discussions, webhooks);
  const pulls = new PullRequests(state, discussions, webhooks);
  const pushes = new Pushes(state, webhooks, pulls);
  const mergeQueue = new MergeQueue(state, discussions, webhooks, pushes);
  let signsIn: string | null = null;
  const whoSignsIn = () => (signsIn === null ? defaultActor(state) : requireAccount(state, signsIn));
  const gitHttp = await createGitHttp();

  const parts = {
    ...{ state, webhooks, requests, violations, faults, rateLimit, gitHttp },
    ...{ checkRuns, deployments, discussions, comments },
  };
  const api = createApi({ ...parts, whoSignsIn });
  const server = createAdaptorServer({ fetch: api.fetch }) as Server;
  state.url = await listen(server, options.port ?? 0);

  return {
    url: state.url,
    app: state.app,
    requests,
    /** Answered 422. */
    violations,
    checkRuns,
    deployments,
    comments: discussions.comments,
    deliveries: webhooks.deliveries,
    setWebhook: (target: WebhookTarget | null) => {
      webhooks.target = target;
    },
    addAccount: (account: NewAccount) => addAccount(state, account),
    addUser: (user: NewUser) => addUser(state, user),
    addTeam: (team: NewTeam) => addTeam(state, team),
    /** The account behind another App, e.g. `renovate[bot]`. */
    addBot: (login: string) => addBot(state, login),
    installApp: (login: string, how?: InstallOptions) => installApp(state, webhooks, login, how),
    uninstallApp: (login: string) => uninstallApp(state, webhooks, login),
    /** Suspends the App on the account, or ends that. */
    suspendApp: (login: string, isSuspended: boolean) => suspendApp(state, webhooks, login, isSuspended),
    async addRepository(repository: NewRepository): Promise<Repository> {
      const created = await createRepository(state, repository);
      await changeInstalledRepository(state, webhooks, created, 'added');
      return created;
    },
    /** Takes a repository out of its account's installation, or puts it back. */
    setInstalled: (repository: Repository, installed: boolean) =>
      changeInstalledRepository(state, webhooks, repository, installed ? 'added' : 'removed'),
    archiveRepository: (repository: Repository, isArchived: boolean) =>
      archiveRepository(state, webhooks, repository, isArchived),
    setPrivate: (repository: Repository, isPrivate: boolean) =>
      setPrivate(state, webhooks, repository, isPrivate),
    /** To another account, with the App or without. */
    transferRepository: (repository: Repository, login: string) =>
      transferRepository(state, webhooks, repository, login),
    renameAccount: (login: string, newLogin: string) => renameAccount(state, webhooks, login, newLogin),
    acceptPermissions: (login: string, permissions: Permissions) =>
      acceptPermissions(state, webhooks, login, permissions),
    renameRepository: (repository: Repository, name: string) =>
      renameRepository(state, webhooks, repository, name),
    setDefaultBranch: (repository: Repository, branch: string) =>
      setDefaultBranch(state, webhooks, repository, branch),
    setPermission,
    commit: (repository: Repository, commit: BranchCommit) => commitTo(state, repository, commit),
    setBranch,
    push: pushes.push.bind(pushes),
    commitAndPush: pushes.commitAndPush.bind(pushes),
    forcePush: pushes.forcePush.bind(pushes),
    pushTag: pushes.pushTag.bind(pushes),
    deleteBranch: pushes.deleteBranch.bind(pushes),
    openPullRequest: pulls.open.bind(pulls),
    closePullRequest: pulls.close.bind(pulls),
    reopenPullRequest: pulls.reopen.bind(pulls),
    readyForReview: pulls.readyForReview.bind(pulls),
    changeBase: pulls.changeBase.bind(pulls),
    /** With an event, to which nothing has to follow. */
    renamePullRequest: pulls.rename.bind(pulls),
    mergePullRequest(repository: Repository, number: number, by?: string) {
      const pusher = by === undefined ? {} : { pusher: by };
      const tellPush = (branch: string) => pushes.push(repository, { branch, ...pusher });
      return pulls.merge(repository, number, tellPush, by);
    },
    openIssue: comments.openIssue.bind(comments),
    comment: comments.comment.bind(comments),
    editComment: comments.edit.bind(comments),
    removeComment: comments.remove.bind(comments),
    setConversationLocked: comments.setLocked.bind(comments),
    pressButton: comments.pressButton.bind(comments),
    rerequest: comments.rerequest.bind(comments),
    rerequestAll: comments.rerequestAll.bind(comments),
    enqueue: mergeQueue.enqueue.bind(mergeQueue),
    destroyMergeGroup: mergeQueue.destroy.bind(mergeQueue),
    /** Whom the login page lets in from now on; before that, the first person added. */
    signInAs: (login: string) => {
      signsIn = requireAccount(state, login).login;
    },
    redeliver: (deliveryId: string) => webhooks.redeliver(deliveryId),
    /** Resolves when every event that followed from an API request has its answer. */
    settled: () => webhooks.settled(),
    failNext: (fault: Fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    /** Of each installation, from its next hour on or while less was used. */
    setRateLimit: (limit: number) => {
      rateLimit.limit = limit;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await webhooks[Symbol.asyncDispose]();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await gitHttp[Symbol.asyncDispose]();
      if (violations.length > 0 && !options.bearsViolations) {
        throw new Error(`requests that GitHub does not describe: ${[...new Set(violations)].join('; ')}`);
      }
    },
  };
}

function newApp(options: StandInOptions): GithubState['app'] {
  const slug = options.app?.slug ?? 'slipway';
  const bot = { login: `${slug}[bot]`, type: 'Bot', name: null, email: null, emailPublic: false } as const;
  return {
    id: options.appId,
    slug,
    name: 'Slipway',
    clientId: 'Iv1.5117a9e0c1d2e3f4',
    clientSecret: 'stand-in-client-secret',
    permissions,
    events,
    ...options.app,
    publicKeyPem: options.publicKeyPem,
    bot: { ...bot, id: 900_001 },
  };
}

/** Loopback only: there are no real credentials here. */
async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
