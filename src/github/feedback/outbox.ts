import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { Transactions } from '../../tx.ts';
import { backoffMs, maxAttempts } from '../backoff.ts';
import type { GithubApp } from '../github-app.ts';
import { rateLimitMs } from '../github-error.ts';
import { createLoop, type Loop } from '../loop.ts';
import { splitFullName } from '../repositories.ts';
import { sendCheckRun } from './check-run-sender.ts';
import type { CheckRunStore, PendingCheckRun } from './check-run-store.ts';

/**
 * Brings GitHub's check runs up with what the reactor wrote down: one request at a time, the newest wish of
 * a run only, again and again until GitHub has it. No run ever waits for this.
 */
export interface FeedbackOutboxParts {
  readonly app: Pick<GithubApp, 'asInstallation'>;
  readonly store: CheckRunStore;
  readonly repositories: Pick<RepositoryStore, 'find'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A safety net for clocks that are set and for hints that are lost. */
const longestPauseMs = 30_000;

export function createFeedbackOutbox(parts: FeedbackOutboxParts): Loop {
  const { app, store, repositories, transactions, clock, logger } = parts;
  /** Until when GitHub asked us to leave it alone, by installation. Forgotten at a restart: GitHub says it again. */
  const limitedUntilMs = new Map<number, number>();

  async function send(pending: PendingCheckRun, stopping: AbortSignal): Promise<void> {
    const { runId, version } = pending;
    const repository = await repositories.find(pending.repositoryId);
    const name = repository && splitFullName(repository.fullName);
    if (!repository || !name) {
      const reason = 'the App no longer sees the repository';
      await transactions.write((tx) => store.giveUp(tx, runId, version, reason));
      return;
    }
    const untilMs = limitedUntilMs.get(repository.installationId) ?? 0;
    if (untilMs > clock.nowMs()) {
      await transactions.write((tx) => store.postpone(tx, runId, untilMs));
      return;
    }
    try {
      const checkRunId = await sendCheckRun(pending, {
        ...name,
        octokit: await app.asInstallation(repository.installationId),
        beforeCreate: () => transactions.write((tx) => store.setCreateTried(tx, runId)),
        signal: stopping,
      });
      await transactions.write((tx) => store.sent(tx, runId, version, checkRunId));
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
    const { runId, version } = pending;
    const attempt = pending.attempts + 1;
    const reason = error instanceof Error ? error.message.slice(0, 500) : 'unknown';
    const log = logger.child({ run: runId, attempt });
    if (attempt >= maxAttempts) {
      await transactions.write((tx) => store.giveUp(tx, runId, version, reason));
      log.error({ err: error }, 'a check run is given up');
      return;
    }
    const nowMs = clock.nowMs();
    const limitMs = rateLimitMs(error, nowMs);
    if (limitMs !== null) limitedUntilMs.set(repository.installationId, nowMs + limitMs);
    const nextAtMs = nowMs + Math.max(backoffMs(attempt), limitMs ?? 0);
    await transactions.write((tx) => store.retryLater(tx, runId, nextAtMs, reason));
    log.warn({ err: error, nextAtMs }, 'a check run could not be sent, it is tried again');
  }

  return createLoop({
    async step(stopping) {
      const pending = await store.due(clock.nowMs());
      if (pending) {
        await send(pending, stopping);
        return 0;
      }
      const dueMs = (await store.nextDueMs()) ?? Number.POSITIVE_INFINITY;
      return Math.min(Math.max(dueMs - clock.nowMs(), 1), longestPauseMs);
    },
    onError: (error) => logger.error({ err: error }, 'the feedback outbox failed, it goes on'),
  });
}
