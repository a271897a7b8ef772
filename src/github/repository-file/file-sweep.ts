import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { RepositoryFiles } from './repository-files.ts';

/**
 * Looks at the files of repositories one after the other, aside from the inbox: an account may have hundreds.
 * What is to be looked at is in memory only; every start begins with all of it.
 */
export interface FileSweep extends Loop {
  add(repositoryIds: readonly number[]): void;
}

/** GitHub did not answer: soon again, but not at its throat. */
const againMs = 60_000;
const longestPauseMs = 60 * 60_000;

export function createFileSweep(parts: {
  files: Pick<RepositoryFiles, 'lookAgain'>;
  clock: Clock;
  logger: Logger;
}): FileSweep {
  const { files, clock, logger } = parts;
  /** When each is due; the first in first. */
  const waiting = new Map<number, number>();
  const loop = createLoop({
    async step() {
      const nowMs = clock.nowMs();
      const [id] = [...waiting].find(([, dueMs]) => dueMs <= nowMs) ?? [];
      if (id === undefined) return waiting.size === 0 ? longestPauseMs : againMs;
      waiting.delete(id);
      try {
        await files.lookAgain(id);
      } catch (error) {
        waiting.set(id, nowMs + againMs);
        logger.warn({ err: error, repository: id }, 'a repository file could not be read, it is tried again');
      }
      return 0;
    },
    onError: (error) => logger.error({ err: error }, 'reading repository files failed, it goes on'),
  });
  return {
    ...loop,
    add(repositoryIds) {
      for (const id of repositoryIds) waiting.set(id, clock.nowMs());
      loop.wake();
    },
  };
}
