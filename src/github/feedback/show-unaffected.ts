import type { Clock } from '../../clock.ts';
import type { ShowUnaffected } from '../../runs/unaffected.ts';
import { type AggregateWish, aggregateId, kindOfType } from './aggregate-check.ts';
import { checkItem, checkRunItem } from './check-run.ts';
import type { OutboxStore } from './outbox-store.ts';
import { unaffectedCheckOf, unaffectedId } from './unaffected-check.ts';

/** A neutral check of its own, or a row of the commit's one check, as the stack says. Only writes rows. */
export function createShowUnaffected(parts: {
  readonly store: Pick<OutboxStore, 'want' | 'find'>;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): ShowUnaffected {
  const { store, clock, publicUrl, onWanted } = parts;
  return async (tx, unaffected) => {
    const { stack, type, commit, reason } = unaffected;
    const repositoryId = stack.repository.id;
    const nowMs = clock.nowMs();
    if (stack.settings.checks === 'aggregate') {
      const kind = kindOfType(type);
      const id = aggregateId(repositoryId, commit, kind);
      const before = (await store.find(id, tx))?.desired as AggregateWish | undefined;
      if (before?.unaffected[stack.key] === reason) return;
      const reasons = { ...before?.unaffected, [stack.key]: reason };
      const wish: AggregateWish = { ...(before ?? { commit, kind, sinceMs: nowMs }), unaffected: reasons };
      await store.want(tx, checkItem(id, wish, { repositoryId, runId: null }), nowMs);
    } else {
      if (await store.find(unaffectedId(unaffected), tx)) return;
      const desired = unaffectedCheckOf(unaffected, { publicUrl: publicUrl(), nowMs });
      await store.want(tx, checkRunItem(desired, { repositoryId, runId: null }), nowMs);
    }
    tx.afterCommit(onWanted);
  };
}
