import type { Clock } from '../clock.ts';
import type { Transactions } from '../tx.ts';
import type { DeliveryFilter, DeliveryRecord, InboxStanding, InboxStore } from './inbox-store.ts';

/** What operators see of the inbox and may do with it; works on the database, whether or not a server runs. */
export interface InboxControl {
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<readonly DeliveryRecord[]>;
  find(id: string): Promise<DeliveryRecord | null>;
  /** As it came; may hold e-mail addresses. Null when the delivery is unknown or its body was dropped. */
  body(id: string): Promise<Uint8Array | null>;
  /**
   * Handles a settled delivery once more, from the first attempt. No push makes a second run by it: runs are
   * deduplicated by delivery and commit.
   */
  replay(id: string): Promise<'replayed' | 'unknown' | 'pending' | 'body-dropped'>;
  standing(): Promise<InboxStanding>;
}

export function createInboxControl(parts: {
  store: InboxStore;
  transactions: Transactions;
  clock: Clock;
  /** Called after the commit. The server of another process finds it by itself, a moment later. */
  onReplay: () => void;
}): InboxControl {
  const { store, transactions, clock, onReplay } = parts;
  return {
    list: (filter) => store.list(filter),
    find: (id) => store.find(id),
    body: (id) => store.body(id),
    standing: () => store.standing(),
    async replay(id) {
      const isReopened = await transactions.write(async (tx) => {
        const reopened = await store.reopen(tx, id, clock.nowMs());
        if (reopened) tx.afterCommit(onReplay);
        return reopened;
      });
      if (isReopened) return 'replayed';
      const found = await store.find(id);
      if (!found) return 'unknown';
      return found.state === 'pending' ? 'pending' : 'body-dropped';
    },
  };
}
