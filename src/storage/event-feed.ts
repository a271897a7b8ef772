import type { EventFeed } from '../runs/event-feed.ts';
import type { Database } from './database.ts';

/** There is one writer, so `seq` is given in the order of commits and none appears late. */
export function createEventFeed(database: Database): EventFeed {
  return {
    async read({ after, account, limit }) {
      let query = database.read
        .selectFrom('run_event')
        .innerJoin('payload', (join) =>
          join
            .onRef('payload.run_id', '=', 'run_event.run_id')
            .onRef('payload.state_version', '=', 'run_event.state_version'),
        )
        .innerJoin('run', 'run.id', 'run_event.run_id')
        .innerJoin('stack', 'stack.key', 'run.stack_key')
        .innerJoin('account', 'account.id', 'stack.account_id')
        .select(['run_event.seq', 'stack.key as stackKey', 'payload.body as payload'])
        .where('run_event.seq', '>', after)
        .orderBy('run_event.seq')
        .limit(limit);
      if (account !== null) {
        query = query.where((where) => where.fn('lower', ['account.login']), '=', account.toLowerCase());
      }
      return query.execute();
    },

    async removedUpTo() {
      const row = await database.read.selectFrom('removed_event').select('seq').executeTakeFirst();
      return row?.seq ?? 0;
    },
  };
}
