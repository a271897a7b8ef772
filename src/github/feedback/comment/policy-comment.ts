import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { PullRequestNote } from '../../../runs/pull-request-notes.ts';
import { statusOf } from '../../github-error.ts';
import { cutMarkdown } from '../cut-markdown.ts';
import { givenUpIfForbidden } from '../forbidden.ts';
import { laneOf, type WantedItem } from '../outbox-store.ts';
import { GivenUp, type SendContext, type Sender, target } from '../sender.ts';
import { commentGapMs } from './comment-wishes.ts';
import { maxCommentLength, putComment } from './issue-comment.ts';

const desiredPolicyComment = z.object({
  number: z.number().int(),
  body: z.string(),
  /** Whose words these are: older ones do not take the place of newer ones. */
  runId: z.string(),
  stateVersion: z.number().int(),
});
export type DesiredPolicyComment = z.output<typeof desiredPolicyComment>;

/** A comment that a policy wants. Without a key it goes with its run, as nobody will edit it. */
export function policyCommentItem(note: PullRequestNote): WantedItem {
  const { repositoryId, number, runId, stateVersion, policyId, key, body } = note;
  const name = key === null ? [runId, String(stateVersion), body] : [key];
  const mark = createHash('sha256')
    .update(JSON.stringify([policyId, ...name]))
    .digest('hex')
    .slice(0, 32);
  return {
    id: `policy-comment:${repositoryId}:${number}:${mark}`,
    kind: 'policy_comment',
    runId: key === null ? runId : null,
    repositoryId,
    lane: laneOf(repositoryId, 'policy_comment'),
    desired: { number, body, runId, stateVersion } satisfies DesiredPolicyComment,
  };
}

/** Whether what is wanted there is of a later state, or of a later run. */
export function isOvertaken(note: PullRequestNote, there: unknown): boolean {
  const { runId, stateVersion } = desiredPolicyComment.parse(there);
  return runId === note.runId ? stateVersion > note.stateVersion : runId > note.runId;
}

export function createPolicyCommentSender({ appId }: { readonly appId: number }): Sender {
  return {
    purpose: 'content',
    gapMs: commentGapMs,
    async send(item, context) {
      const { number, body: text } = desiredPolicyComment.parse(item.desired);
      const marker = `<!-- slipway:${item.id} -->`;
      const body = `${marker}\n${shownMarkdown(text, maxCommentLength - marker.length - 1)}`;
      try {
        // GitHub takes comments on issues by the same numbers.
        if (item.remoteId === null) await requirePullRequest(context, number);
        return await putComment(item, { number, body, marker }, appId, context);
      } catch (error) {
        return givenUpIfForbidden('a comment on the pull request')(error);
      }
    },
  };
}

async function requirePullRequest(context: SendContext, number: number): Promise<void> {
  try {
    await context.octokit.rest.pulls.get({ ...target(context), pull_number: number });
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    throw new GivenUp(`there is no pull request ${number}`, { cause: error });
  }
}

/** Also as an entity, and before one: GitHub looks for mentions in what it has made of them. */
const mention = /(?:@|&(?:#0*64|#x0*40|commat);)(?=[\p{L}\p{N}_&-])/giu;

/** People's markdown, as it is but that it mentions nobody: what a run does is no reason to call people. */
export function shownMarkdown(text: string, limit: number): string {
  const shown = text.toWellFormed().replace(mention, '@\u200b');
  return cutMarkdown(shown, limit, 'The text is longer than a comment may be; its end is left out.');
}
