import type { Clock } from '../../clock.ts';
import type { ShowUnaffected, Unaffected } from '../../runs/unaffected.ts';
import type { Tx } from '../../tx.ts';
import { type AggregateWish, aggregateId, kindOfType } from './aggregate-check.ts';
import { type CheckRunBody, checkItem, checkRunItem } from './check-run.ts';
import type { OutboxStore, WantedItem } from './outbox-store.ts';
import { reasonInRow, unaffectedCheckOf, unaffectedId } from './unaffected-check.ts';

/** A check of its own, or a row of the commit's one check, as the stack says. Only writes rows. */
export function createShowUnaffected(parts: {
  readonly store: Pick<OutboxStore, 'want' | 'find'>;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): ShowUnaffected {
  const { store, clock, publicUrl, onWanted } = parts;

  /** Null when it is shown already. */
  async function aggregate(tx: Tx, unaffected: Unaffected, nowMs: number): Promise<WantedItem | null> {
    const { stack, type, commit, policies } = unaffected;
    const repositoryId = stack.repository.id;
    const kind = kindOfType(type);
    const id = aggregateId(repositoryId, commit, kind);
    const before = (await store.find(id, tx))?.desired as AggregateWish | undefined;
    const reason = reasonInRow(unaffected);
    const wasStopped = before?.stopped?.includes(stack.key) ?? false;
    const isStopped = policies?.isFailure ?? false;
    if (before?.unaffected[stack.key] === reason && wasStopped === isStopped) return null;
    const others = before?.stopped?.filter((key) => key !== stack.key) ?? [];
    const wish: AggregateWish = {
      ...(before ?? { commit, kind, sinceMs: nowMs }),
      unaffected: { ...before?.unaffected, [stack.key]: reason },
      stopped: isStopped ? [...others, stack.key] : others,
    };
    return checkItem(id, wish, { repositoryId, runId: null });
  }

  async function ofItsOwn(tx: Tx, unaffected: Unaffected, nowMs: number): Promise<WantedItem | null> {
    const desired = unaffectedCheckOf(unaffected, { publicUrl: publicUrl(), nowMs });
    const before = (await store.find(unaffectedId(unaffected), tx))?.desired as CheckRunBody | undefined;
    const { conclusion, output } = desired;
    if (before?.conclusion === conclusion && before?.output.summary === output.summary) return null;
    return checkRunItem(desired, { repositoryId: unaffected.stack.repository.id, runId: null });
  }

  return async (tx, unaffected) => {
    const nowMs = clock.nowMs();
    const isAggregate = unaffected.stack.settings.checks === 'aggregate';
    const item = await (isAggregate ? aggregate : ofItsOwn)(tx, unaffected, nowMs);
    if (!item) return;
    await store.want(tx, item, nowMs);
    tx.afterCommit(onWanted);
  };
}
