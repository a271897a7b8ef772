import { z } from 'zod';
import type { RunStore } from '../../../runs/run-store.ts';
import type { StackStore } from '../../../stacks/stack-store.ts';
import { statusOf } from '../../github-error.ts';
import { givenUpIfForbidden } from '../forbidden.ts';
import type { PendingItem } from '../outbox-store.ts';
import type { ReadPolicyLines } from '../policy-lines.ts';
import { type SendContext, type Sender, target } from '../sender.ts';
import { commentBody, markerOf, type Objection } from './comment-body.ts';
import { type PullRequestPlace, parseDesiredComment } from './comment-item.ts';
import { commentGapMs } from './comment-wishes.ts';
import type { StackView } from './rows.ts';
import { viewsOf } from './views.ts';

/** So many runs are told of; the others have it in their checks. */
const mostObjections = 20;

const commentJson = z.object({ id: z.number().int() });
const listedCommentJson = commentJson.extend({
  body: z.string().nullish(),
  performed_via_github_app: z.object({ id: z.number().int() }).nullish(),
});
const pullRequestJson = z.object({ head: z.object({ sha: z.string() }) });

/**
 * The one comment of a pull request, edited in place. At most one is made: when a create may have succeeded without our
 * hearing of it, the App's comments are searched for its marker first. One that somebody deleted is made again.
 */
export function createCommentSender(parts: {
  readonly appId: number;
  readonly stacks: Pick<StackStore, 'ofRepository'>;
  readonly runs: Pick<RunStore, 'ofPullRequest'>;
  /** Of GitHub's pages. */
  readonly webUrl: string;
  readonly publicUrl: () => string;
  readonly isSandboxed: boolean;
  readonly policyLines: ReadPolicyLines;
}): Sender {
  const { appId, stacks, runs, webUrl, publicUrl, isSandboxed } = parts;

  /** Only of plans: before them there is nothing that a pull request could do about it. */
  async function objectionsTo(views: readonly StackView[]): Promise<readonly Objection[]> {
    const objections: Objection[] = [];
    for (const { id: stackId, showsDetails, preview, deploying } of views) {
      for (const run of [preview, deploying]) {
        if (!showsDetails || !run?.changesDigest || objections.length >= mostObjections) continue;
        const lines = (await parts.policyLines(run.id)).filter(({ isObjection }) => isObjection);
        if (lines.length > 0) objections.push({ stackId, runId: run.id, lines });
      }
    }
    return objections;
  }

  async function bodyOf(place: PullRequestPlace, answer: string | null, context: SendContext) {
    const { repositoryId, number } = place;
    const itsRuns = await runs.ofPullRequest(repositoryId, number);
    if (itsRuns.length === 0 && answer === null) return null;
    const views = viewsOf(await stacks.ofRepository(repositoryId), itsRuns);
    return commentBody(
      { ...place, stacks: views, objections: await objectionsTo(views), answer },
      {
        publicUrl: publicUrl(),
        checksUrl: `${webUrl}/${context.owner}/${context.repo}/pull/${number}/checks`,
        headHash: await headOf(context, number),
        isSandboxed,
      },
    );
  }

  async function send(item: PendingItem, context: SendContext): Promise<number | null> {
    const { remoteId, createTried, repositoryId } = item;
    const { number, answer } = parseDesiredComment(item.desired);
    const place = { repositoryId, number };
    const body = await bodyOf(place, answer, context);
    if (body === null) return remoteId;
    if (remoteId !== null && (await update(context, remoteId, body))) return remoteId;
    if (createTried) {
      const found = await findOurs(context, place);
      if (found !== null && (await update(context, found, body))) return found;
    } else {
      await context.beforeCreate();
    }
    return create(context, number, body);
  }

  async function findOurs(context: SendContext, place: PullRequestPlace): Promise<number | null> {
    const { paginate, rest } = context.octokit;
    const question = { ...target(context), issue_number: place.number, per_page: 100 };
    const marker = markerOf(place);
    for await (const { data } of paginate.iterator(rest.issues.listComments, question)) {
      const ours = data
        .map((json) => listedCommentJson.parse(json))
        // Anybody can write the marker.
        .find((json) => json.performed_via_github_app?.id === appId && json.body?.startsWith(marker));
      if (ours) return ours.id;
    }
    return null;
  }

  return {
    purpose: 'content',
    gapMs: commentGapMs,
    send: (item, context) => send(item, context).catch(givenUpIfForbidden('a comment on the pull request')),
  };
}

async function create(context: SendContext, number: number, body: string): Promise<number> {
  const answer = await context.octokit.rest.issues.createComment({
    ...target(context),
    issue_number: number,
    body,
  });
  return commentJson.parse(answer.data).id;
}

/** False when somebody deleted it. */
async function update(context: SendContext, id: number, body: string): Promise<boolean> {
  try {
    await context.octokit.rest.issues.updateComment({ ...target(context), comment_id: id, body });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

/** The hash of the newest commit, live: a push that concerns no stack makes no run. Null when GitHub does not say. */
async function headOf(context: SendContext, number: number): Promise<string | null> {
  try {
    const { data } = await context.octokit.rest.pulls.get({ ...target(context), pull_number: number });
    return pullRequestJson.parse(data).head.sha;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}
