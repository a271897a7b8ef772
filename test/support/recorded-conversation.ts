import type { CommandAnswer, Conversation, Reaction } from '../../src/runs/conversation.ts';

/** What was told back, as it would be committed. */
export function recordedConversation() {
  const reactions = new Map<number, Reaction>();
  const answers: CommandAnswer[] = [];
  const conversation: Conversation = {
    react(tx, { commentId }, reaction) {
      tx.afterCommit(() => reactions.set(commentId, reaction));
      return Promise.resolve();
    },
    answer(tx, _, answer) {
      // As it comes out of a row.
      tx.afterCommit(() => answers.push(JSON.parse(JSON.stringify(answer)) as CommandAnswer));
      return Promise.resolve();
    },
  };
  return { conversation, reactions, answers };
}
