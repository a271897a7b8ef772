import type { Logger } from '../../logger.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { Reconciler } from './installations.ts';
import { againMs, everyMs, jittered } from './pace.ts';

/** At start and every few minutes: what the App is installed on, and what it sees there. */
export function createInstallationLoop(parts: {
  reconciler: Pick<Reconciler, 'all'>;
  /** 0 up to 1. */
  random: () => number;
  logger: Logger;
}): Loop {
  return createLoop({
    async step() {
      const { isComplete, waitMs } = await parts.reconciler.all();
      return isComplete ? jittered(everyMs, parts.random()) : Math.max(waitMs, againMs);
    },
    onError: (error) => parts.logger.error({ err: error }, 'reconciling failed, it goes on'),
  });
}
