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
import { putComment } from './issue-comment.ts';
import type { StackView } from './rows.ts';
import { viewsOf } from './views.ts';

/** So many runs are told of; the others have it in their checks. */
const mostObjections = 20;

const pullRequestJson = z.object({ head: z.object({ sha: z.string() }) });

/** The one comment of a pull request that tells of its runs, edited in place. */
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
    const { number, answer } = parseDesiredComment(item.desired);
    const place = { repositoryId: item.repositoryId, number };
    const body = await bodyOf(place, answer, context);
    if (body === null) return item.remoteId;
    return putComment(item, { number, body, marker: markerOf(place) }, appId, context);
  }

  return {
    purpose: 'content',
    gapMs: commentGapMs,
    send: (item, context) => send(item, context).catch(givenUpIfForbidden('a comment on the pull request')),
  };
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
