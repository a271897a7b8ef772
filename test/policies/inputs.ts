import { type ApprovalFacts, approvalInput } from '../../src/policies/input/approval.ts';
import { type LoginFacts, loginInput } from '../../src/policies/input/login.ts';
import { type RunUpdatedFacts, runUpdatedInput } from '../../src/policies/input/notification.ts';
import { type PlanFacts, planInput, planOfSteps } from '../../src/policies/input/plan.ts';
import {
  type PullRequestFacts,
  type PushFacts,
  pullRequestInput,
  pushInput,
} from '../../src/policies/input/push.ts';
import { type TriggerFacts, triggerInput } from '../../src/policies/input/trigger.ts';
import { currentReviews, type Review } from '../../src/runs/approvals/review.ts';
import type { RunState } from '../../src/runs/run.ts';
import type { PlanStep, ResourceState } from '../../src/worker/vendor-results.ts';
import { aCommit, aPullRequest, aRun, aStack, pullRequestDetails } from '../support/builders.ts';

/** Inputs of all kinds, made by the builders, with what matters said by the test. */
const nowMs = 1_795_000_600_123;

const bucket = 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs';

export function aState(change: Partial<ResourceState> = {}): ResourceState {
  const names = {
    parent: 'urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev',
    provider: 'aws',
    urn: bucket,
  };
  return {
    custom: true,
    id: 'logs-1',
    inputs: {},
    outputs: {},
    type: 'aws:s3/bucket:Bucket',
    ...names,
    ...change,
  };
}

/** `op` of a bucket; `state` is that of whichever side there is. */
export function aStep(op: PlanStep['op'], state: Partial<ResourceState> = {}): PlanStep {
  const { provider, type, urn } = aState(state);
  const isGone = op === 'delete' || op === 'delete-replaced';
  const isNew = op === 'create' || op === 'create-replacement';
  return {
    ...{ op, provider, type, urn },
    new: isGone ? null : aState(state),
    old: isNew ? null : aState(state),
  };
}

export function planInputOf(steps: readonly PlanStep[], change: Partial<PlanFacts> = {}) {
  return planInput({
    run: aRun({ state: 'PLANNING', stateVersion: 5 }),
    ...{
      flags: [],
      plan: { vendor: 'pulumi', steps },
      stack: aStack(),
      previousRun: null,
      custom: {},
      nowMs,
    },
    tool: { name: 'pulumi', plan: planOfSteps(steps) },
    ...change,
  });
}

/** Later ones are those with a later time. */
export function aReview(login: string, change: Partial<Review> = {}): Review {
  const { atMs = nowMs - 60_000 } = change;
  return {
    ...{ id: `${String(atMs).padStart(15, '0')} ${login}`, runId: 'r1', stackKey: 's1', changesDigest: null },
    ...{ verdict: 'approve', reviewer: { key: `person:${login}`, name: `${login}@example.com` } },
    ...{ role: 'writer', via: 'api', state: 'UNCONFIRMED', stateVersion: 6, note: null, atMs },
    ...change,
  };
}

/** `given`: to the run as it stands; `older`: to earlier versions of it. */
export function approvalInputOf(
  given: readonly Review[],
  { older = [], ...change }: Partial<Omit<ApprovalFacts, 'reviews'>> & { older?: readonly Review[] } = {},
) {
  const { run = aRun({ state: 'UNCONFIRMED', stateVersion: 6 }) } = change;
  const here = given.map((review) => ({ ...review, stateVersion: run.stateVersion }));
  const reviews = currentReviews(run, [...older, ...here]);
  return approvalInput({ ...{ flags: [], stack: aStack(), nowMs }, ...change, run, reviews });
}

export function pushInputOf(push: Partial<PushFacts['push']> = {}, change: Partial<PushFacts> = {}) {
  const files = ['network/main.ts'];
  const whole = { branch: 'main', head: aCommit(), isForced: false, pusherLogin: 'Ada', changedPaths: files };
  return pushInput({
    kind: 'push',
    stack: aStack(),
    inProgress: [],
    nowMs,
    push: { ...whole, ...push },
    ...change,
  });
}

export function pullRequestInputOf(
  pullRequest: Partial<PullRequestFacts['change']> = {},
  change: Partial<PullRequestFacts> = {},
) {
  const head = aCommit({ hash: '2'.repeat(40) });
  return pullRequestInput({
    ...{ kind: 'pull_request', stack: aStack(), inProgress: [], nowMs },
    content: { head, changedPaths: ['network/main.ts'], bots: [] },
    change: {
      repositoryId: 21,
      details: pullRequestDetails(),
      ...{ pullRequest: aPullRequest(), branch: 'widen', headHash: head.hash, isDraft: false },
      sender: { login: 'Bob', email: 'bob@example.com' },
      ...pullRequest,
    },
    ...change,
  });
}

export function triggerInputOf(state: RunState, change: Partial<TriggerFacts> = {}) {
  const run = aRun({ state, stateVersion: 9 });
  const stack = aStack();
  const workflow = [{ run, stackId: stack.id }];
  return triggerInput({ ...{ run, flags: [], stack, stacks: [stack], workflow, nowMs }, ...change });
}

export function runUpdatedInputOf(state: RunState, change: Partial<RunUpdatedFacts> = {}) {
  const event = { run: aRun({ state }), stack: aStack(), timestampMs: nowMs, actor: 'worker', note: null };
  const history = [
    { state: 'QUEUED', timestampMs: nowMs - 60_000 },
    { state: 'READY', timestampMs: nowMs - 59_500 },
    { state, timestampMs: nowMs },
  ] as const;
  const endpoints = [{ id: 'hook-1', stackId: event.stack.id }];
  const url = 'https://slipway.example/runs/01JRUN0000000000000000000A';
  return runUpdatedInput({
    ...{ account: 'acme', event, flags: [], history, endpoints, url, nowMs },
    ...change,
  });
}

export function loginInputOf(login: string, memberships: Partial<LoginFacts['memberships']> = {}) {
  return loginInput({
    person: { login, userId: 4, email: `${login}@example.com` },
    isAdmin: false,
    memberships: { accounts: [], teams: [], ...memberships },
    request: { address: '127.0.0.1', atMs: nowMs },
  });
}
