import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';

/**
 * The directories of caches: `<directory>/<repository id>/<generation>`. A run is given the newest generation and
 * holds it for as long as it has a workspace, waits included: tools leave links into the cache there. So a cache is
 * never emptied, it gets a new generation, and the old one goes once nobody holds it.
 */
export interface CacheDirectories {
  /** Gives the newest generation to a run that has a workspace; created when there is none. */
  hold(repositoryId: number, runId: string): Promise<string>;
  /** What the run holds, whether it is still there or not. Null: nothing. */
  held(runId: string): Promise<string | null>;
  letGo(runId: string): Promise<void>;
  /** The newest generation; null when the repository has none. */
  newest(repositoryId: number): Promise<string | null>;
  /** The next run gets another one. */
  retire(generation: string): Promise<void>;
  /**
   * Moves aside what nobody holds of the older generations, or of `all`; what an earlier call gave is among it until
   * it is removed.
   */
  takeUnheld(repositoryId: number, which: 'older' | 'all'): Promise<readonly string[]>;
  /** Once there is no generation left. */
  removeEmpty(repositoryId: number): Promise<void>;
  repositories(): Promise<readonly number[]>;
  /** When a run was last given it. */
  usedAtMs(repositoryId: number): Promise<number>;
}

/** In the workspace of a run: what it holds. Its directory is the server's, so runs cannot write it. */
const holdFile = 'cache-held';
const asideSuffix = '.gone';

export function createCacheDirectories(parts: {
  readonly directory: string;
  /** Holds the workspaces of all runs. */
  readonly workspacesDirectory: string;
  readonly clock: Clock;
}): CacheDirectories {
  const { directory, workspacesDirectory, clock } = parts;
  const ofRepository = (repositoryId: number) => join(directory, String(repositoryId));
  const holdOf = (runId: string) => join(workspacesDirectory, runId, holdFile);
  const inTurn = createTurn();

  async function generations(repositoryId: number): Promise<{ newest: number; all: number[]; last: number }> {
    const names = await namesIn(ofRepository(repositoryId));
    const all = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const last = Math.max(0, ...names.map((name) => Number.parseInt(name, 10) || 0));
    return { newest: Math.max(0, ...all), all, last };
  }

  async function allHeld(): Promise<ReadonlySet<string>> {
    const paths = new Set<string>();
    for (const name of await namesIn(workspacesDirectory)) {
      const path = await held(name);
      if (path !== null) paths.add(path);
    }
    return paths;
  }

  async function held(runId: string): Promise<string | null> {
    try {
      return join(directory, await readFile(holdOf(runId), 'utf8'));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async function makeGeneration(repositoryId: number, generation: number): Promise<void> {
    await mkdir(ofRepository(repositoryId), { recursive: true, mode: 0o711 });
    await mkdir(join(ofRepository(repositoryId), String(generation)), { mode: 0o700 });
  }

  return {
    hold: (repositoryId, runId) =>
      inTurn(async () => {
        const { newest, last } = await generations(repositoryId);
        const generation = newest || last + 1;
        if (newest === 0) await makeGeneration(repositoryId, generation);
        await writeFile(holdOf(runId), `${repositoryId}/${generation}`);
        const now = clock.nowMs() / 1000;
        await utimes(ofRepository(repositoryId), now, now);
        return join(ofRepository(repositoryId), String(generation));
      }),
    held,
    letGo: (runId) => rm(holdOf(runId), { force: true }),
    async newest(repositoryId) {
      const { newest } = await generations(repositoryId);
      return newest === 0 ? null : join(ofRepository(repositoryId), String(newest));
    },
    retire: (path) =>
      inTurn(async () => {
        const repositoryId = Number(basename(dirname(path)));
        const { newest, last } = await generations(repositoryId);
        if (path === join(ofRepository(repositoryId), String(newest)))
          await makeGeneration(repositoryId, last + 1);
      }),
    takeUnheld: (repositoryId, which) =>
      inTurn(async () => {
        const parent = ofRepository(repositoryId);
        const { newest, all } = await generations(repositoryId);
        const inUse = await allHeld();
        for (const generation of all) {
          const path = join(parent, String(generation));
          if (inUse.has(path) || (which === 'older' && generation === newest)) continue;
          // Beside it: to move a directory elsewhere takes the right to write it, and a run may have closed it.
          await rename(path, `${path}${asideSuffix}`);
        }
        const names = await namesIn(parent);
        return names.filter((name) => name.endsWith(asideSuffix)).map((name) => join(parent, name));
      }),
    removeEmpty: (repositoryId) =>
      inTurn(async () => {
        if ((await namesIn(ofRepository(repositoryId))).length === 0) {
          await rmdir(ofRepository(repositoryId)).catch(unlessMissing);
        }
      }),
    async repositories() {
      return (await namesIn(directory)).filter((name) => /^\d+$/.test(name)).map(Number);
    },
    async usedAtMs(repositoryId) {
      return (await lstat(ofRepository(repositoryId))).mtimeMs;
    },
  };
}

/** One after the other: what a run is given must not be moved aside in between. */
function createTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}
