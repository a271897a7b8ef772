import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { launcherEnvironment } from '../sandbox/launching/bubblewrap-process.ts';
import type { RunIdentity, Sandbox, SandboxResult } from '../sandbox/sandbox.ts';
import { measure } from '../sandbox/watching/disk-use.ts';
import { copyDirectory, tryDirectory } from './cache-copy.ts';
import { createCacheDirectories } from './cache-directories.ts';
import { repositoryIdentity } from './repository-identity.ts';

/**
 * One directory of downloads for each repository. Runs of its branches write it; a preview gets a copy that goes with
 * its workspace. Whatever is wrong with a cache, the run goes on: without one, or with an empty one.
 */
export interface Caches {
  /** The repository's own, held until the workspace is removed. */
  share(run: CacheUser): Promise<OpenedCache>;
  /** A copy in the workspace, which is the identity's. */
  copy(run: CacheUser, identity: RunIdentity): Promise<OpenedCache>;
  /** What `share` or `copy` has given to the workspace. */
  reopen(runId: string): Promise<OpenedCache>;
  /** The next run of the repository begins with an empty one, when this one shares it. */
  distrust(runId: string): Promise<void>;
  /** After a run: what is over the limit is replaced, what nobody holds any more goes. Never rejects. */
  tend(repositoryId: number): Promise<void>;
  /** Removes what has been unused for long, and what belongs to none of these repositories. Never rejects. */
  sweep(repositories: ReadonlySet<number>): Promise<void>;
}

export interface CacheUser {
  /** It has a workspace, empty as yet. */
  readonly runId: string;
  readonly repositoryId: number;
  readonly signal: AbortSignal;
}

export interface OpenedCache {
  readonly cache: CacheDirectory | null;
  /** True when the workspace belongs to the identity of its repository. */
  readonly isShared: boolean;
  /** For the log of the run. */
  readonly note?: string;
}

export interface CacheDirectory {
  /** On this host. */
  readonly host: string;
  /** What lay in it at first, which is not the run's doing: blocks in bytes, and names. */
  readonly before: CacheSize;
}

export interface CacheSize {
  readonly bytes: number;
  readonly entries: number;
}

const unusedMs = 14 * 24 * 60 * 60_000;
/** Some Go modules have thousands of files each; every look at the disk passes by all names. */
const maxEntries = 500_000;

export function createCaches(parts: {
  readonly directory: string;
  readonly workspacesDirectory: string;
  readonly sandbox: Sandbox;
  /** Larger than this a cache is replaced by an empty one; 0 = no caches. */
  readonly maxBytes: number;
  /** A copy leaves so much free on the disk; null = it may fill it. */
  readonly keepFreeBytes: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
}): Caches {
  const { sandbox, maxBytes, keepFreeBytes, clock, logger } = parts;
  const directories = createCacheDirectories(parts);
  const copyOf = (runId: string) => join(parts.workspacesDirectory, runId, 'cache');

  /** Null: a run closed directories in it, or it is damaged. Rejects for reasons of the server. */
  async function sizeOf(directory: string): Promise<CacheSize | null> {
    // Far enough to tell by how much one is over its limit.
    const limits = { bytes: 16 * maxBytes, entries: 2 * maxEntries };
    const use = await measure([directory], limits, launcherEnvironment, new AbortController().signal);
    if (use.kind === 'failed') throw new Error(`a cache could not be measured: ${use.reason}`);
    return use.kind === 'closed' ? null : use;
  }

  const isOver = ({ bytes, entries }: CacheSize) => bytes > maxBytes || entries > maxEntries;

  async function hold({ runId, repositoryId }: CacheUser): Promise<string> {
    const host = await directories.hold(repositoryId, runId);
    // Not once it holds anything: the server must not walk through what a run may be changing.
    if ((await readdir(host)).length === 0) await sandbox.own(host, repositoryIdentity(repositoryId));
    return host;
  }

  async function shareOnce(run: CacheUser): Promise<CacheDirectory | null> {
    const host = await hold(run);
    const before = await sizeOf(host);
    const tried =
      before && (await tryDirectory(sandbox, host, repositoryIdentity(run.repositoryId), run.signal));
    if (before && succeeded(tried)) return { host, before };
    if (tried && tried.kind !== 'exited') throw new Error(`a cache could not be tried: ${describe(tried)}`);
    await directories.letGo(run.runId);
    await directories.retire(host);
    return null;
  }

  async function fillCopy(run: CacheUser, to: string): Promise<CacheSize | null> {
    const owner = repositoryIdentity(run.repositoryId);
    const from = await hold(run);
    try {
      const before = await sizeOf(from);
      if (before === null || isOver(before)) return null;
      await sandbox.own(to, owner);
      const copied = await copyDirectory(sandbox, { from, to }, owner, { keepFreeBytes, signal: run.signal });
      return succeeded(copied) ? before : null;
    } finally {
      await directories.letGo(run.runId);
    }
  }

  async function removeUnheld(repositoryId: number, which: 'older' | 'all'): Promise<void> {
    for (const path of await directories.takeUnheld(repositoryId, which)) {
      await sandbox.remove(path, repositoryIdentity(repositoryId));
    }
    await directories.removeEmpty(repositoryId);
  }

  async function tendOnce(repositoryId: number): Promise<void> {
    const newest = await directories.newest(repositoryId);
    const size = newest && (await sizeOf(newest));
    if (newest && (!size || isOver(size))) {
      logger.info({ repositoryId, ...size }, 'a cache is over its limit, an empty one takes its place');
      await directories.retire(newest);
    }
    await removeUnheld(repositoryId, 'older');
  }

  async function clear(repositoryId: number, isWanted: boolean): Promise<void> {
    const isUnused = (await directories.usedAtMs(repositoryId)) < clock.nowMs() - unusedMs;
    if (maxBytes === 0 || !isWanted || isUnused) await removeUnheld(repositoryId, 'all');
    else await tendOnce(repositoryId);
  }

  async function trying(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error({ err: error }, what);
    }
  }

  return {
    async share(run) {
      if (maxBytes === 0) return none;
      try {
        // A generation that is damaged is replaced at once.
        const cache = (await shareOnce(run)) ?? (await shareOnce(run));
        return cache ? { cache, isShared: true } : without;
      } catch (error) {
        if (!run.signal.aborted)
          logger.error({ err: error }, 'a cache could not be opened, a run does without');
        await directories.letGo(run.runId);
        return without;
      }
    },

    async copy(run, identity) {
      if (maxBytes === 0) return none;
      const host = copyOf(run.runId);
      try {
        await mkdir(host, { mode: 0o700 });
        const before = await fillCopy(run, host).catch((error) => {
          logger.error({ err: error }, 'a cache could not be copied, the preview begins with an empty one');
          return null;
        });
        if (before === null) {
          await sandbox.remove(host, repositoryIdentity(run.repositoryId));
          await mkdir(host, { mode: 0o700 });
        }
        await sandbox.own(host, identity);
        const cache = { host, before: before ?? nothing };
        return before ? { cache, isShared: false } : { cache, isShared: false, note: emptyNote };
      } catch (error) {
        logger.error({ err: error }, 'a cache could not be made, the preview goes on without one');
        return without;
      }
    },

    async reopen(runId) {
      const shared = await directories.held(runId);
      const isShared = shared !== null;
      const host = shared ?? copyOf(runId);
      try {
        await lstat(host);
        return { cache: { host, before: (await sizeOf(host)) ?? nothing }, isShared };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          logger.error({ err: error }, 'a cache could not be opened again');
        }
        return { cache: null, isShared };
      }
    },

    async distrust(runId) {
      const held = await directories.held(runId);
      if (held !== null) await directories.retire(held);
    },

    tend: (repositoryId) => trying('a cache could not be tended', () => tendOnce(repositoryId)),

    async sweep(repositories) {
      await trying('the caches could not be swept', async () => {
        for (const repositoryId of await directories.repositories()) {
          await trying('a cache could not be cleared away', () =>
            clear(repositoryId, repositories.has(repositoryId)),
          );
        }
      });
    },
  };
}

const nothing: CacheSize = { bytes: 0, entries: 0 };

const none: OpenedCache = { cache: null, isShared: false };
const without: OpenedCache = {
  ...none,
  note: '[the cache of the repository could not be opened: this run goes on without one]',
};
const emptyNote = '[the cache of the repository could not be copied: this run begins with an empty one]';

function succeeded(result: SandboxResult | null): boolean {
  return result !== null && result.kind === 'exited' && result.exitCode === 0;
}

function describe(result: SandboxResult): string {
  return result.kind === 'unavailable' ? result.message : result.kind;
}
