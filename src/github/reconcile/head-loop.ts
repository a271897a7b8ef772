import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { type BranchHeadStore, judgeHead, settleMs, type TrackedBranch } from '../../runs/branch-heads.ts';
import type { MissedOutcome, MissedPush } from '../../runs/missed-pushes.ts';
import type { Source } from '../../runs/source.ts';
import type { Transactions } from '../../tx.ts';
import { UserError } from '../../user-error.ts';
import type { ApiBudget } from '../api-budget.ts';
import { createClockWatch } from '../clock-watch.ts';
import { failureOf } from '../failure.ts';
import { laneOfRepository } from '../inbox.ts';
import type { InboxStore } from '../inbox-store.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import type { HeadReader } from './head-reader.ts';
import type { LostDeliveryStore } from './lost-delivery-store.ts';
import { everyMs, jittered } from './pace.ts';
import type { ReconcileObserver } from './reconcile-observer.ts';

/**
 * Looks at the branches that stacks follow, one after the other, for what no push told: deliveries that GitHub keeps no
 * trace of, and pushes that it tells nobody (to many branches at once, or larger than it delivers). What differs
 * counts when it is still so at a second look, and nothing about the repository is on its way.
 */
export interface HeadLoop extends Loop {
  /** One look at one branch; resolves to the milliseconds until the next. */
  step(stopping: AbortSignal): Promise<number>;
}

export type OnMissedPush = (
  missed: MissedPush,
) => Promise<{ readonly notes: readonly string[]; readonly outcomes: readonly MissedOutcome[] }>;

export interface HeadLoopParts {
  readonly reader: HeadReader;
  readonly branchHeads: BranchHeadStore;
  readonly inbox: Pick<InboxStore, 'hasPending'>;
  readonly lostDeliveries: Pick<LostDeliveryStore, 'isAwaited'>;
  readonly source: Pick<Source, 'resolve'>;
  readonly files: Pick<RepositoryFiles, 'beforePush'>;
  readonly onMissedPush: OnMissedPush;
  readonly budget: Pick<ApiBudget, 'pausedUntilMs' | 'pause'>;
  readonly transactions: Transactions;
  readonly observer: ReconcileObserver;
  readonly clock: Clock;
  /** 0 up to 1. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** A safety net for clocks that are set. */
const longestPauseMs = 60_000;

/** A head that is not what we know, and since when it is this very one. */
interface Suspect {
  readonly tracked: TrackedBranch;
  readonly head: string | null;
  readonly sinceMs: number;
  readonly lookAtMs: number;
}

export function createHeadLoop(parts: HeadLoopParts): HeadLoop {
  const { reader, branchHeads, source, budget, transactions, clock, logger } = parts;
  const untrustedFrom = createClockWatch();
  let queue: TrackedBranch[] = [];
  let nextRoundMs = 0;
  const suspects = new Map<string, Suspect>();

  async function look(tracked: TrackedBranch, stopping: AbortSignal): Promise<void> {
    const { repository, branch } = tracked;
    const key = keyOf(tracked);
    const head = await reader.head(repository, branch, stopping);
    // After the question: a push that was handled meanwhile is known.
    const known = await branchHeads.find(repository.id, branch);
    const nowMs = clock.nowMs();
    const before = suspects.get(key);
    const sinceMs = before?.head === head ? before.sinceMs : null;
    const isExpected = known !== null && known.hash !== head && (await isOnItsWay(repository.id));
    const verdict = judgeHead({ known, head, sinceMs, isExpected, nowMs });
    if (verdict === 'wait') {
      suspects.set(key, { tracked, head, sinceMs: sinceMs ?? nowMs, lookAtMs: nowMs + settleMs });
      return;
    }
    if (verdict === 'adopt' || known === null) await save(tracked, head);
    // The name may belong to another repository by now.
    else if (verdict !== 'unchanged' && (await reader.isStillThere(repository, stopping))) {
      await (head === null ? gone(tracked) : missed(tracked, { known, head }));
    }
    // Not before: what GitHub did not answer is asked for again soon.
    suspects.delete(key);
  }

  async function gone(tracked: TrackedBranch): Promise<void> {
    const { repository, branch } = tracked;
    await save(tracked, null);
    logger.info({ repository: repository.fullName, branch }, 'a branch that stacks follow is gone');
  }

  async function isOnItsWay(repositoryId: number): Promise<boolean> {
    const isPending = await parts.inbox.hasPending('push', laneOfRepository(repositoryId));
    return isPending || (await parts.lostDeliveries.isAwaited('push', repositoryId));
  }

  async function missed(
    { repository, branch }: TrackedBranch,
    { known, head: hash }: Pick<MissedPush, 'known'> & { readonly head: string },
  ): Promise<void> {
    const head = await source.resolve(repository, branch, null);
    // It goes on moving: the next round.
    if (head?.hash !== hash) return;
    const file = await parts.files.beforePush({ repositoryId: repository.id, branch, changedPaths: null });
    const newStacks = file?.newStacks ?? [];
    const { notes, outcomes } = await parts.onMissedPush({
      ...{ repositoryId: repository.id, branch, known, head, newStacks },
    });
    for (const outcome of outcomes) parts.observer.push(outcome);
    const said = [...(file ? [file.note] : []), ...notes].join('; ');
    logger.warn(
      { repository: repository.fullName, branch, before: known.hash, head: hash, note: said },
      'GitHub did not tell of a push',
    );
  }

  async function save({ repository, branch }: TrackedBranch, hash: string | null): Promise<void> {
    await transactions.write((tx) =>
      branchHeads.save(tx, repository.id, branch, { hash, seenAtMs: clock.nowMs() }),
    );
  }

  function afterFailure({ repository, branch }: TrackedBranch, error: unknown): void {
    const nowMs = clock.nowMs();
    const failure = failureOf(error instanceof UserError ? error.cause : error, nowMs);
    if (failure.kind === 'later') budget.pause(repository.installationId, nowMs + failure.waitMs);
    logger.warn(
      { err: error, repository: repository.fullName, branch },
      'GitHub could not be asked where a branch is; the next round asks again',
    );
  }

  const pausedUntilMs = ({ repository }: TrackedBranch): number =>
    budget.pausedUntilMs(repository.installationId, 'background');

  /** A round is made of what was there at its beginning, first what the one before did not come to. */
  async function beginRound(nowMs: number): Promise<void> {
    nextRoundMs = nowMs + jittered(everyMs, parts.random());
    await transactions.write((tx) => branchHeads.forgetUntracked(tx));
    const left = new Set(queue.map(keyOf));
    const tracked = await branchHeads.tracked();
    const isLeft = (each: TrackedBranch) => left.has(keyOf(each));
    queue = [...tracked.filter(isLeft), ...tracked.filter((each) => !isLeft(each))];
    const followed = new Set(queue.map(keyOf));
    for (const key of suspects.keys()) if (!followed.has(key)) suspects.delete(key);
  }

  /** Suspects get a look in between. Until when there is nothing to look at, where there is nothing. */
  async function nextTarget(nowMs: number): Promise<TrackedBranch | number> {
    for (const suspect of suspects.values()) {
      if (suspect.lookAtMs > nowMs) continue;
      suspects.set(keyOf(suspect.tracked), { ...suspect, lookAtMs: nowMs + settleMs });
      if (pausedUntilMs(suspect.tracked) <= nowMs) return suspect.tracked;
    }
    if (nextRoundMs <= nowMs) await beginRound(nowMs);
    const closedUntilMs = new Map<number, number>();
    for (const [index, tracked] of queue.entries()) {
      const { installationId } = tracked.repository;
      const untilMs = closedUntilMs.get(installationId) ?? pausedUntilMs(tracked);
      if (untilMs <= nowMs) {
        queue.splice(index, 1);
        return tracked;
      }
      closedUntilMs.set(installationId, untilMs);
    }
    const looks = [...suspects.values()].map(({ lookAtMs }) => lookAtMs);
    return Math.min(nextRoundMs, ...looks, ...closedUntilMs.values());
  }

  async function step(stopping: AbortSignal): Promise<number> {
    const nowMs = clock.nowMs();
    if (untrustedFrom(nowMs) !== null) {
      nextRoundMs = 0;
      suspects.clear();
    }
    const target = await nextTarget(nowMs);
    if (typeof target === 'number') return Math.min(Math.max(target - nowMs, 1), longestPauseMs);
    try {
      await look(target, stopping);
    } catch (error) {
      if (!stopping.aborted) afterFailure(target, error);
    }
    return 0;
  }

  return {
    step,
    ...createLoop({
      step,
      onError: (error) => logger.error({ err: error }, 'looking at branches failed, it goes on'),
    }),
  };
}

const keyOf = ({ repository, branch }: TrackedBranch): string => `${repository.id} ${branch}`;
