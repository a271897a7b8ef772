import type { AnsweredComments } from '../runs/comments/answered-comments.ts';
import type { Database } from './database.ts';

export function createAnsweredComments(database: Database): AnsweredComments {
  return {
    async has(commentId, tx) {
      const db = tx ? database.inside(tx) : database.read;
      const query = db.selectFrom('answered_comment').select('comment_id');
      return (await query.where('comment_id', '=', commentId).executeTakeFirst()) !== undefined;
    },

    async add(tx, commentId, atMs) {
      await database
        .inside(tx)
        .insertInto('answered_comment')
        .values({ comment_id: commentId, answered_at_ms: atMs })
        .execute();
    },

    async removeOld(tx, beforeMs) {
      await database
        .inside(tx)
        .deleteFrom('answered_comment')
        .where('answered_at_ms', '<', beforeMs)
        .execute();
    },
  };
}
