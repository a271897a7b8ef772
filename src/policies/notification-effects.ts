import type { PullRequestNotes } from '../runs/pull-request-notes.ts';
import type { Run } from '../runs/run.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { NotificationDecision, Wanted } from './decisions/notification.ts';
import type { Notices } from './notices.ts';
import type { PullRequestMessage, WebhookMessage } from './notification-objects.ts';
import type { Policy } from './policy.ts';
import type { PolicyRequest, PolicyRequests } from './policy-requests.ts';

/** What comes of what notification policies want of one state change. */
export interface Effects {
  /** What cannot be done, for people, each a sentence without a full stop. */
  readonly problems: readonly { readonly policy: Policy; readonly words: string }[];
  apply(tx: Tx): Promise<void>;
}

export interface NotifiedChange {
  /** In the state that is told of. */
  readonly run: Run;
  readonly stack: Stack;
  /** Page of the run. */
  readonly url: string;
}

type Step = (tx: Tx) => Promise<void>;
/** Work to do in the transaction, or why there is none. */
type Prepared = Step | { readonly refused: string };

/** Of one kind and state change. */
const maxWanted = 20;

export function createNotificationEffects(parts: {
  notices: Pick<Notices, 'tell'>;
  pullRequestNotes: PullRequestNotes;
  requests: PolicyRequests;
}) {
  const { notices, pullRequestNotes, requests } = parts;

  function inbox({ run, stack }: NotifiedChange, { message, policy }: NotificationDecision['inbox'][number]) {
    const { severity = 'INFO', title = `${stack.settings.name}: ${run.state}`, body = '' } = message;
    return (tx: Tx) => notices.tell(tx, { run, stack, policy }, { severity, title, body });
  }

  async function numbersOf({ run, stack }: NotifiedChange, { id, commit, branch }: PullRequestMessage) {
    if (id !== undefined) return [id];
    if (commit !== undefined) return pullRequestNotes.find(stack.repository, { commit });
    if (branch !== undefined) return pullRequestNotes.find(stack.repository, { intoBranch: branch });
    if (run.pullRequest) return [run.pullRequest.number];
    // A push made it, and the event of its pull request may be on its way.
    return pullRequestNotes.find(stack.repository, { commit: run.commit.hash });
  }

  async function pullRequest(
    change: NotifiedChange,
    { message, policy }: Wanted<PullRequestMessage>,
  ): Promise<Prepared> {
    const { run, stack, url } = change;
    const numbers = await numbersOf(change, message);
    if (numbers.length === 0) return { refused: `pull_request: ${missing(message)}` };
    const { body = `The stack ${stack.id} is ${run.state}: ${url}` } = message;
    if (body.trim() === '') return { refused: 'pull_request: the text is empty' };
    const about = { repositoryId: stack.repository.id, runId: run.id, stateVersion: run.stateVersion };
    const key = message.deduplication_key ?? null;
    return async (tx) => {
      for (const number of numbers) {
        await pullRequestNotes.write(tx, { ...about, number, policyId: policy.id, key, body });
      }
    };
  }

  async function webhook(
    { run, stack }: NotifiedChange,
    { message, policy }: Wanted<WebhookMessage>,
  ): Promise<Prepared> {
    const request: PolicyRequest = {
      ...{
        webhookId: message.endpoint_id,
        stackKey: stack.key,
        runId: run.id,
        stateVersion: run.stateVersion,
      },
      ...{ policy, headers: message.headers ?? {} },
      ...(message.payload === undefined ? {} : { payload: message.payload }),
    };
    const reason = await requests.refusalOf(request);
    return reason === null ? (tx) => requests.send(tx, request) : { refused: `webhook: ${reason}` };
  }

  /** Rejects while GitHub does not answer. */
  return async (change: NotifiedChange, wanted: NotificationDecision): Promise<Effects> => {
    const steps: Step[] = [];
    const problems: Effects['problems'][number][] = [];
    async function prepare<M>(
      rule: string,
      all: readonly Wanted<M>[],
      one: (change: NotifiedChange, each: Wanted<M>) => Promise<Prepared> | Prepared,
    ): Promise<void> {
      for (const [index, each] of all.entries()) {
        const { policy } = each;
        if (index === maxWanted) {
          problems.push({
            policy,
            words: `${rule}: more than ${maxWanted} are wanted; the rest is left out`,
          });
          return;
        }
        const prepared = await one(change, each);
        if (typeof prepared === 'function') steps.push(prepared);
        else problems.push({ policy, words: prepared.refused });
      }
    }
    await prepare('inbox', wanted.inbox, inbox);
    await prepare('pull_request', wanted.pullRequest, pullRequest);
    await prepare('webhook', wanted.webhook, webhook);
    return {
      problems,
      async apply(tx) {
        for (const step of steps) await step(tx);
      },
    };
  };
}

function missing({ commit, branch }: PullRequestMessage): string {
  if (commit !== undefined) return `no pull request has the commit ${commit}`;
  if (branch !== undefined) return `no pull request is open into ${branch}`;
  return 'no pull request has the commit of the run, and none is named';
}
