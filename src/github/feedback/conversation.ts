import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { CommandAnswer, Conversation } from '../../runs/conversation.ts';
import type { CommentWishes } from './comment/comment-wishes.ts';
import type { OutboxStore } from './outbox-store.ts';
import { reactionOn } from './reaction.ts';

/** What commands of comments are told, as rows of the outbox: a reaction, and an answer in the comment of ours. */
export function createConversation(parts: {
  readonly store: Pick<OutboxStore, 'want' | 'find'>;
  readonly comments: Pick<CommentWishes, 'answer'>;
  /** In markdown, fit for everybody who reads the pull request. */
  readonly answerText: (answer: CommandAnswer) => string;
  /** Whether it says no more than that something has begun, of which there will be more to say soon. */
  readonly isPatient: (answer: CommandAnswer) => boolean;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): Conversation {
  const { store, comments, answerText, isPatient, clock, onWanted } = parts;
  return {
    async react(tx, comment, content) {
      const item = reactionOn(comment, content);
      // The same again would be another request.
      if (isDeepStrictEqual((await store.find(item.id, tx))?.desired, item.desired)) return;
      await store.want(tx, item, clock.nowMs());
      tx.afterCommit(onWanted);
    },

    answer: (tx, place, answer) =>
      comments.answer(tx, place, answerText(answer), { isPatient: isPatient(answer) }),
  };
}
