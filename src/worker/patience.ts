import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.ts';
import type { ServerApi } from './server-api.ts';

/**
 * What a worker found out must not be lost because the disk of the server is full for a while: reports are
 * repeated until they are stored. Output is not among them: logs.ts has rules of its own.
 */

/** As long as an operator may need; after that the half has failed, and an apply locks its stack. */
const patienceMs = 10 * 60_000;
const pauseMs = 1000;

export function isStorageFull(error: unknown): boolean {
  if (error instanceof UserError) return error.code === 'storage-full';
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** `lost` ends the wait: then nobody wants the report any more. */
export function withPatience(server: ServerApi, lost: AbortSignal): ServerApi {
  const untilStored =
    <Given extends readonly unknown[], T>(report: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      for (const startedMs = performance.now(); ; ) {
        try {
          return await report(...given);
        } catch (error) {
          const isOver = lost.aborted || performance.now() - startedMs > patienceMs;
          if (isOver || !isStorageFull(error)) throw error;
        }
        await delay(pauseMs, undefined, { signal: lost }).catch(() => undefined);
      }
    };
  return {
    ...server,
    saveFrozen: untilStored(server.saveFrozen),
    prepared: untilStored(server.prepared),
    initialized: untilStored(server.initialized),
    planned: untilStored(server.planned),
    applied: untilStored(server.applied),
    failed: untilStored(server.failed),
    handBack: untilStored(server.handBack),
    // What became of the run is not told by its list of commands.
    command: (...given) =>
      untilStored(server.command)(...given).catch((error: unknown) => {
        if (!isStorageFull(error)) throw error;
      }),
    finished: untilStored(server.finished),
  };
}
