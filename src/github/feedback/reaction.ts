import { z } from 'zod';
import { laneOf, type WantedItem } from './outbox-store.ts';
import { type Sender, target } from './sender.ts';

const reactionContents = ['eyes', '-1'] as const;
export type ReactionContent = (typeof reactionContents)[number];

const desiredReaction = z.object({ commentId: z.number().int(), content: z.enum(reactionContents) });
const reactionJson = z.object({ id: z.number().int() });

/** Also the mark that the comment was handled: there is one for each. */
export const reactionId = (commentId: number): string => `reaction:${commentId}`;

export function reactionOn(
  { repositoryId, commentId }: { readonly repositoryId: number; readonly commentId: number },
  content: ReactionContent,
): WantedItem {
  return {
    id: reactionId(commentId),
    kind: 'reaction',
    runId: null,
    repositoryId,
    lane: laneOf(repositoryId, 'reaction'),
    desired: { commentId, content } satisfies z.input<typeof desiredReaction>,
  };
}

/** GitHub answers the same to one that is there already, so this may be repeated. */
export const reactionSender: Sender = {
  purpose: 'content',
  gapMs: 0,
  async send(item, context) {
    const { commentId, content } = desiredReaction.parse(item.desired);
    const answer = await context.octokit.rest.reactions.createForIssueComment({
      ...target(context),
      comment_id: commentId,
      content,
    });
    return reactionJson.parse(answer.data).id;
  },
};
