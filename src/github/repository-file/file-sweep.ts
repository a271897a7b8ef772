import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import { UserError } from '../../user-error.ts';
import type { ApiBudget } from '../api-budget.ts';
import { backoffMs, maxAttempts } from '../backoff.ts';
import { createClockWatch } from '../clock-watch.ts';
import { failureOf } from '../failure.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { RepositoryFiles } from './repository-files.ts';

/**
 * Looks at the files of repositories one after the other, aside from the inbox: an account may have hundreds.
 * What is to be looked at is in memory only; every start begins with all of it, and so does every day.
 */
export interface FileSweep extends Loop {
  add(repositoryIds: readonly number[]): void;
}

interface Look {
  readonly dueMs: number;
  readonly failures: number;
}

/** A safety net for clocks that are set. */
const longestPauseMs = 60_000;

export function createFileSweep(parts: {
  files: Pick<RepositoryFiles, 'lookAgain'>;
  repositories: Pick<RepositoryStore, 'find' | 'findAccount'>;
  budget: Pick<ApiBudget, 'pausedUntilMs' | 'pause'>;
  clock: Clock;
  logger: Logger;
}): FileSweep {
  const { files, repositories, budget, clock, logger } = parts;
  const untrustedFrom = createClockWatch();
  /** By repository; the first in first. */
  const waiting = new Map<number, Look>();

  async function look(id: number, failures: number, stopping: AbortSignal): Promise<void> {
    const repository = await repositories.find(id);
    // What the App sees again, and what is not suspended any more, is added again.
    if (!repository || (await repositories.findAccount(repository.accountId))?.suspended) return;
    const untilMs = budget.pausedUntilMs(repository.installationId, 'background');
    if (untilMs > clock.nowMs()) {
      waiting.set(id, { dueMs: untilMs, failures });
      return;
    }
    try {
      await files.lookAgain(id);
    } catch (error) {
      // Not GitHub's fault: the next start looks at all of them.
      if (!stopping.aborted) afterFailure(repository, failures + 1, error);
    }
  }

  function afterFailure(
    { id, installationId, fullName }: Repository,
    failures: number,
    error: unknown,
  ): void {
    const nowMs = clock.nowMs();
    const failure = failureOf(error instanceof UserError ? error.cause : error, nowMs);
    const log = logger.child({ repository: fullName, err: error });
    if (failure.kind === 'later') {
      const dueMs = nowMs + failure.waitMs;
      budget.pause(installationId, dueMs);
      again(id, { dueMs, failures: failures - 1 });
      log.warn({ installation: installationId, dueMs }, 'GitHub wants to be left alone for a while');
    } else if (failure.kind === 'refused' || failures >= maxAttempts) {
      log.error({ failures }, 'a repository file could not be read; the next daily look tries again');
    } else {
      again(id, { dueMs: nowMs + backoffMs(failures), failures });
      log.warn({ failures }, 'a repository file could not be read, it is tried again');
    }
  }

  /** Unless it was added meanwhile, which is sooner. */
  function again(id: number, look: Look): void {
    if (!waiting.has(id)) waiting.set(id, look);
  }

  /** The clock was set back: everything would wait for as long as that was. */
  function bringForward(laterThanMs: number, nowMs: number): void {
    for (const [id, { dueMs, failures }] of waiting) {
      if (dueMs > laterThanMs) waiting.set(id, { dueMs: nowMs, failures });
    }
  }

  const loop = createLoop({
    async step(stopping) {
      const nowMs = clock.nowMs();
      const laterThanMs = untrustedFrom(nowMs);
      if (laterThanMs !== null) bringForward(laterThanMs, nowMs);
      const [id, due] = [...waiting].find(([, { dueMs }]) => dueMs <= nowMs) ?? [];
      if (id === undefined || !due) {
        const nextMs = Math.min(...[...waiting.values()].map(({ dueMs }) => dueMs));
        return Math.min(Math.max(nextMs - nowMs, 1), longestPauseMs);
      }
      waiting.delete(id);
      await look(id, due.failures, stopping);
      return 0;
    },
    onError: (error) => logger.error({ err: error }, 'reading repository files failed, it goes on'),
  });
  return {
    ...loop,
    add(repositoryIds) {
      for (const id of repositoryIds) waiting.set(id, { dueMs: clock.nowMs(), failures: 0 });
      loop.wake();
    },
  };
}
