import type { Actor } from '../../src/access/actor.ts';
import type { Run } from '../../src/runs/run.ts';
import type { PullRequest, PullRequestDetails } from '../../src/stacks/pull-request.ts';
import type { PushVerdict } from '../../src/stacks/push-judge.ts';
import type { Account, Commit, Repository } from '../../src/stacks/repository.ts';
import { noHooks, type Stack, type StackSettings } from '../../src/stacks/stack.ts';
import type { WebhookHealth } from '../../src/webhooks/delivery-store.ts';
import { everyEvent } from '../../src/webhooks/webhook.ts';
import type { NewWebhook } from '../../src/webhooks/webhook-store.ts';

/** Builders: a complete, ordinary value each, with what matters to the test said by the test. */
/** A person by their login. */
export const person = (login: string) =>
  ({ kind: 'person', login, email: `${login}@example.com` }) as const satisfies Actor;

export function aCommit(change: Partial<Commit> = {}): Commit {
  return {
    authorLogin: 'ada',
    authorName: 'Ada Example',
    hash: '1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
    message: 'Widen the network',
    timestamp: 1_795_000_000,
    url: 'https://github.example/acme/infra/commit/1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
    ...change,
  };
}

export function aPullRequest(change: Partial<PullRequest> = {}): PullRequest {
  return { number: 7, base: 'main', title: 'Widen it', author: 'bob', isFork: false, ...change };
}

/** Of an open pull request with that head branch. */
export function pullRequestDetails(change: Partial<PullRequestDetails> = {}): PullRequestDetails {
  const head = { headOwner: 'acme', isMergeable: true };
  return { action: 'synchronize', state: 'open', labels: [], ...head, ...change };
}

/** Of push policies of which no rule holds. */
export function verdict(change: Partial<PushVerdict> = {}): PushVerdict {
  return {
    ...{ outcome: 'unmatched', messages: [], notrigger: false, prioritize: false, allowFork: false },
    ...{ notify: false, fail: false, cancel: [], lock: null, unlock: [] },
    ...change,
  };
}

export function anAccount(change: Partial<Account> = {}): Account {
  return { id: 11, login: 'acme', installationId: 101, suspended: false, ...change };
}

export function aRepository(change: Partial<Repository> = {}): Repository {
  return {
    id: 21,
    accountId: 11,
    installationId: 101,
    fullName: 'acme/infra',
    defaultBranch: 'main',
    isPrivate: true,
    ...change,
  };
}

export function stackSettings(change: Partial<StackSettings> = {}): StackSettings {
  return {
    name: 'Network Prod',
    description: '',
    labels: [],
    branch: 'main',
    projectRoot: '',
    additionalProjectGlobs: [],
    autodeploy: false,
    planBinding: true,
    promotion: false,
    publicDetails: false,
    allowForks: false,
    trustedBots: [],
    checks: 'each',
    unaffectedChecks: false,
    deploymentEnvironment: null,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    hooks: noHooks,
    ...change,
  };
}

export function aStack(change: Partial<Stack> = {}): Stack {
  return {
    key: '01JSTACK00000000000000000A',
    account: 'acme',
    id: 'network-prod',
    repository: aRepository(),
    settings: stackSettings(),
    lock: null,
    managedBy: null,
    createdAtMs: 1_795_000_000_000,
    ...change,
  };
}

export function aRun(change: Partial<Run> = {}): Run {
  return {
    id: '01JRUN0000000000000000000A',
    stackKey: '01JSTACK00000000000000000A',
    type: 'TRACKED',
    state: 'QUEUED',
    stateVersion: 1,
    branch: 'main',
    commit: aCommit(),
    createdAtMs: 1_795_000_000_000,
    triggeredBy: 'ada@example.com',
    startedBy: 'person:ada',
    restarts: 0,
    hadWorker: false,
    isRenewed: false,
    priority: 0,
    ...change,
  };
}

/** Of a webhook that fails. */
export function someHealth(change: Partial<WebhookHealth> = {}): WebhookHealth {
  const counted = { failedAttempts: 12, exhausted: 1, warnings: 1 };
  const times = { failingSinceMs: 1_795_000_000_000, lastFailedAtMs: 1_795_000_030_000, pausedUntilMs: null };
  return { ...counted, ...times, lastError: 'status 500', ...change };
}

/** `url` is the endpoint, too, unless that is given. */
export function aWebhook(change: Partial<NewWebhook> & Pick<NewWebhook, 'id' | 'stackKey'>): NewWebhook {
  const url = change.url ?? `https://hooks.example/${change.id}`;
  const rest = { enabled: true, secret: null, headers: {}, filter: everyEvent, createdAtMs: 0 };
  return { endpoint: url, url, ...rest, ...change };
}
