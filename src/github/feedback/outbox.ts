import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { Transactions } from '../../tx.ts';
import type { ApiBudget } from '../api-budget.ts';
import { backoffMs, maxAttempts } from '../backoff.ts';
import { createClockWatch } from '../clock-watch.ts';
import { failureOf } from '../failure.ts';
import type { GithubApp } from '../github-app.ts';
import { createLanes } from '../lanes.ts';
import { createLoop, type Loop } from '../loop.ts';
import { splitFullName } from '../repositories.ts';
import type { OutboxKind, OutboxStore, PendingItem } from './outbox-store.ts';
import { GivenUp, type Sender } from './sender.ts';

/**
 * Brings what GitHub shows up with what was written down: the newest wish of each item only, again and again until
 * GitHub has it. One request at a time in a lane, so that none overtakes another; several lanes at once, so that one
 * in trouble does not hold up the rest. No run ever waits for this.
 */
export interface OutboxParts {
  readonly app: Pick<GithubApp, 'asInstallation'>;
  readonly senders: Readonly<Record<OutboxKind, Sender>>;
  readonly budget: ApiBudget;
  readonly store: OutboxStore;
  readonly repositories: Pick<RepositoryStore, 'find'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly logger: Logger;
}

const maxInHand = 8;
/**
 * What GitHub understands and will not have: it may not know a new commit yet, but soon it will. About 11 minutes: that the
 * App was taken out of a repository, or suspended, is found out before, and then it is kept (reconcile/pace.ts).
 */
export const maxRefusals = 6;
/** A safety net for clocks that are set and for hints that are lost. */
const longestPauseMs = 30_000;
const afterStorageErrorMs = 1000;
/** At its pace an installation has room for one more every few milliseconds: a backlog is put off at once, not each time. */
const shortestPauseMs = 1000;

export function createOutbox(parts: OutboxParts): Loop {
  const { app, senders, budget, store, repositories, transactions, clock, logger } = parts;
  const untrustedFrom = createClockWatch();
  const lanes = createLanes<string>(maxInHand, () => loop.wake());
  /** When what has a gap may be sent again, by item. */
  const closedUntilMs = new Map<string, number>();

  async function send(item: PendingItem, stopping: AbortSignal): Promise<void> {
    const { id, version } = item;
    const repository = await repositories.find(item.repositoryId);
    const name = repository && splitFullName(repository.fullName);
    if (!repository || !name) {
      const reason = 'the App no longer sees the repository';
      await transactions.write((tx) => store.giveUp(tx, id, version, reason, clock.nowMs()));
      return;
    }
    const sender = senders[item.kind];
    const { installationId } = repository;
    const nowMs = clock.nowMs();
    const pausedUntilMs = budget.pausedUntilMs(installationId, sender.purpose);
    if (pausedUntilMs > nowMs) {
      const untilMs = Math.max(pausedUntilMs, nowMs + shortestPauseMs);
      const { kind } = item;
      await transactions.write((tx) => store.postponeDue(tx, { installationId, kind, nowMs }, untilMs));
      return;
    }
    const closedMs = closedUntilMs.get(id) ?? 0;
    if (closedMs > nowMs) {
      await transactions.write((tx) => store.postpone(tx, id, closedMs));
      return;
    }
    if (sender.gapMs > 0) closeFor(id, sender.gapMs);
    try {
      const remoteId = await sender.send(item, {
        ...name,
        repository,
        octokit: await app.asInstallation(installationId),
        beforeCreate: () => transactions.write((tx) => store.setCreateTried(tx, id)),
        signal: stopping,
      });
      await transactions.write((tx) => store.sent(tx, id, version, remoteId));
    } catch (error) {
      // Not GitHub's fault: the next start tries again.
      if (stopping.aborted) return;
      await afterFailure(item, repository, error);
    }
  }

  function closeFor(id: string, gapMs: number): void {
    const nowMs = clock.nowMs();
    for (const [other, untilMs] of closedUntilMs) {
      // Oldest first: what follows is closed for longer, or nearly so.
      if (untilMs > nowMs) break;
      closedUntilMs.delete(other);
    }
    closedUntilMs.delete(id);
    closedUntilMs.set(id, nowMs + gapMs);
  }

  async function afterFailure(item: PendingItem, repository: Repository, error: unknown): Promise<void> {
    const { id, kind, version } = item;
    const { installationId } = repository;
    const nowMs = clock.nowMs();
    const failure = failureOf(error, nowMs);
    const log = logger.child({ item: id, kind, repository: repository.fullName, err: error });
    if (error instanceof GivenUp) {
      await transactions.write((tx) => store.giveUp(tx, id, version, error.message, nowMs));
      log.warn('what GitHub should show is refused; what is wanted next is tried again');
      return;
    }
    if (failure.kind === 'later') {
      const untilMs = nowMs + failure.waitMs;
      budget.pause(installationId, untilMs);
      await transactions.write((tx) => store.postpone(tx, id, untilMs));
      log.warn({ installation: installationId, untilMs }, 'GitHub wants to be left alone for a while');
      return;
    }
    const attempt = item.attempts + 1;
    if (attempt >= (failure.kind === 'refused' ? maxRefusals : maxAttempts)) {
      await transactions.write((tx) => store.giveUp(tx, id, version, failure.reason, nowMs));
      log.error({ attempt }, 'what GitHub should show is given up; what is wanted next is tried again');
      return;
    }
    const nextAtMs = nowMs + backoffMs(attempt);
    await transactions.write((tx) => store.retryLater(tx, id, version, nextAtMs, failure.reason));
    log.warn({ attempt, nextAtMs }, 'what GitHub should show could not be sent, it is tried again');
  }

  /** A database that refuses: nothing is lost, the row says what is wanted. Put off, or this would spin. */
  async function notStored(id: string, error: unknown): Promise<void> {
    logger.error({ err: error, item: id }, 'what became of something for GitHub could not be stored');
    await setTimeout(afterStorageErrorMs);
  }

  const loop = createLoop({
    async step(stopping) {
      const nowMs = clock.nowMs();
      const laterThanMs = untrustedFrom(nowMs);
      if (laterThanMs !== null) {
        budget.forget();
        closedUntilMs.clear();
        await transactions.write((tx) => store.bringForward(tx, laterThanMs, nowMs));
      }
      if (lanes.isFull()) return longestPauseMs;
      const item = await store.due(nowMs, lanes.busy());
      if (item) {
        lanes.run(item.lane, () => send(item, stopping).catch((error) => notStored(item.id, error)));
        return 0;
      }
      const dueMs = (await store.nextDueMs(lanes.busy())) ?? Number.POSITIVE_INFINITY;
      return Math.min(Math.max(dueMs - clock.nowMs(), 1), longestPauseMs);
    },
    onError: (error) => logger.error({ err: error }, 'the outbox failed, it goes on'),
  });

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await lanes.settled();
    },
  };
}
