import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { Transactions } from '../../tx.ts';
import { backoffMs, maxAttempts } from '../backoff.ts';
import { createClockWatch } from '../clock-watch.ts';
import { failureOf } from '../failure.ts';
import type { GithubApp } from '../github-app.ts';
import { createLanes } from '../lanes.ts';
import { createLoop, type Loop } from '../loop.ts';
import { splitFullName } from '../repositories.ts';
import { sendCheckRun } from './check-run-sender.ts';
import type { CheckRunStore, PendingCheckRun } from './check-run-store.ts';

/**
 * Brings GitHub's check runs up with what the reactor wrote down: the newest wish of each only, again and
 * again until GitHub has it. One request at a time for a repository, so that none overtakes another; several
 * repositories at once, so that one in trouble does not hold up the rest. No run ever waits for this.
 */
export interface FeedbackOutboxParts {
  readonly app: Pick<GithubApp, 'asInstallation'>;
  readonly store: CheckRunStore;
  readonly repositories: Pick<RepositoryStore, 'find'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly logger: Logger;
}

const maxInHand = 8;
/** What GitHub understands and will not have: it may not know a new commit yet, but soon it will. */
export const maxRefusals = 4;
/** A safety net for clocks that are set and for hints that are lost. */
const longestPauseMs = 30_000;
const afterStorageErrorMs = 1000;

export function createFeedbackOutbox(parts: FeedbackOutboxParts): Loop {
  const { app, store, repositories, transactions, clock, logger } = parts;
  const untrustedFrom = createClockWatch();
  const lanes = createLanes<number>(maxInHand, () => loop.wake());
  /** Until when GitHub asked us to leave it alone, by installation. Forgotten at a restart: GitHub says it again. */
  const limitedUntilMs = new Map<number, number>();

  async function send(pending: PendingCheckRun, stopping: AbortSignal): Promise<void> {
    const { id, version } = pending;
    const repository = await repositories.find(pending.repositoryId);
    const name = repository && splitFullName(repository.fullName);
    if (!repository || !name) {
      const reason = 'the App no longer sees the repository';
      await transactions.write((tx) => store.giveUp(tx, id, version, reason, clock.nowMs()));
      return;
    }
    const untilMs = limitedUntilMs.get(repository.installationId) ?? 0;
    if (untilMs > clock.nowMs()) {
      await transactions.write((tx) => store.postpone(tx, id, untilMs));
      return;
    }
    try {
      const checkRunId = await sendCheckRun(pending, {
        ...name,
        octokit: await app.asInstallation(repository.installationId),
        beforeCreate: () => transactions.write((tx) => store.setCreateTried(tx, id)),
        signal: stopping,
      });
      await transactions.write((tx) => store.sent(tx, id, version, checkRunId));
    } catch (error) {
      // Not GitHub's fault: the next start tries again.
      if (stopping.aborted) return;
      await afterFailure(pending, repository, error);
    }
  }

  async function afterFailure(
    pending: PendingCheckRun,
    repository: Repository,
    error: unknown,
  ): Promise<void> {
    const { id, version } = pending;
    const { installationId } = repository;
    const nowMs = clock.nowMs();
    const failure = failureOf(error, nowMs);
    const log = logger.child({ checkRun: id, repository: repository.fullName, err: error });
    if (failure.kind === 'later') {
      const untilMs = nowMs + failure.waitMs;
      limitedUntilMs.set(installationId, untilMs);
      await transactions.write((tx) => store.postpone(tx, id, untilMs));
      log.warn({ installation: installationId, untilMs }, 'GitHub wants to be left alone for a while');
      return;
    }
    const attempt = pending.attempts + 1;
    if (attempt >= (failure.kind === 'refused' ? maxRefusals : maxAttempts)) {
      await transactions.write((tx) => store.giveUp(tx, id, version, failure.reason, nowMs));
      log.error({ attempt }, 'a check run is given up; what is wanted next is tried again');
      return;
    }
    const nextAtMs = nowMs + backoffMs(attempt);
    await transactions.write((tx) => store.retryLater(tx, id, version, nextAtMs, failure.reason));
    log.warn({ attempt, nextAtMs }, 'a check run could not be sent, it is tried again');
  }

  /** A database that refuses: nothing is lost, the row says what is wanted. Put off, or this would spin. */
  async function notStored(id: string, error: unknown): Promise<void> {
    logger.error({ err: error, checkRun: id }, 'what became of a check run could not be stored');
    await setTimeout(afterStorageErrorMs);
  }

  const loop = createLoop({
    async step(stopping) {
      const nowMs = clock.nowMs();
      const laterThanMs = untrustedFrom(nowMs);
      if (laterThanMs !== null) {
        limitedUntilMs.clear();
        await transactions.write((tx) => store.bringForward(tx, laterThanMs, nowMs));
      }
      if (lanes.isFull()) return longestPauseMs;
      const pending = await store.due(nowMs, lanes.busy());
      if (pending) {
        const { repositoryId, id } = pending;
        lanes.run(repositoryId, () => send(pending, stopping).catch((error) => notStored(id, error)));
        return 0;
      }
      const dueMs = (await store.nextDueMs(lanes.busy())) ?? Number.POSITIVE_INFINITY;
      return Math.min(Math.max(dueMs - clock.nowMs(), 1), longestPauseMs);
    },
    onError: (error) => logger.error({ err: error }, 'the feedback outbox failed, it goes on'),
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
