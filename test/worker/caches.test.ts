import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../src/sandbox/limits.ts';
import { diskLimits, type Workspace, watchedDirectories } from '../../src/worker/workspace.ts';
import { openWorkerWorld, shellStack, type WorkerWorld } from './worker-world.ts';

const longMs = 60_000;
const dayMs = 86_400_000;

/** Says what it finds in the cache of npm, and leaves a name there. */
const visit = (name: string) =>
  `mkdir -p "$npm_config_cache"; echo "found: $(ls "$npm_config_cache" | xargs)."; touch "$npm_config_cache/${name}"`;
const found = (log: string) => /^found: (.*)\.$/m.exec(log)?.[1];

const applied = (scripts: Parameters<typeof shellStack>[0]) => shellStack(scripts, {}, { autodeploy: true });

async function withWorker(world: WorkerWorld, work: () => Promise<void>): Promise<void> {
  const worker = world.startWorker();
  await work();
  await worker.stop(longMs);
}

/** Of all repositories: `<repository>/<generation>`. */
const generations = (world: WorkerWorld): string[] =>
  readdirSync(world.cachesDirectory).flatMap((repository) =>
    readdirSync(join(world.cachesDirectory, repository)).map((name) => join(repository, name)),
  );

describe('the cache of a repository', () => {
  it('is passed from run to run', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(applied({ login: visit('first') }));
    await withWorker(world, async () => {
      const first = await world.pushed('a1');
      await world.until(first, 'FINISHED');
      const second = await world.start(
        stack,
        'TASK',
        'echo "cache: $SLIPWAY_CACHE $XDG_CACHE_HOME $GOMODCACHE"',
      );
      await world.until(second, 'FINISHED');

      expect(found(await world.log(first))).toBe('');
      expect(found(await world.log(second))).toBe('first');
      const [generation = ''] = generations(world);
      const path = join(world.cachesDirectory, generation);
      expect(await world.log(second)).toContain(`cache: ${path} ${path}/xdg ${path}/go/mod\n`);
    });
  });

  it('is weaker than the environment of the stack', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(
      applied({ login: 'echo "npm: $npm_config_cache pip: $PIP_CACHE_DIR"' }),
    );
    const variable = { name: 'npm_config_cache', value: '/elsewhere', secret: false, access: 'all' } as const;
    await world.database.write((tx) => world.stackStore.putVariable(tx, stack.key, variable));
    await withWorker(world, async () => {
      const id = await world.pushed('a1');
      await world.until(id, 'FINISHED');
      expect(await world.log(id)).toMatch(/npm: \/elsewhere pip: \S+\/pip\n/);
    });
  });

  it('is copied for a preview, of which nothing stays', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(applied({ login: visit('"$SLIPWAY_RUN_TYPE"') }));
    await withWorker(world, async () => {
      await world.until(await world.pushed('a1'), 'FINISHED');
      const cache = join(world.cachesDirectory, generations(world)[0] ?? '');
      // What Go leaves: nobody may write it, and so it must not be in the way of the copy, nor of its removal.
      const task = `mkdir -p "$GOMODCACHE/m"; touch "$GOMODCACHE/m/f"; chmod 0555 "$GOMODCACHE/m"; ln -s /etc/hostname "$SLIPWAY_CACHE/link"`;
      await world.until(await world.start(stack, 'TASK', task), 'FINISHED');

      const preview = await world.start(stack, 'PROPOSED');
      await world.until(preview, 'FINISHED');
      expect(found(await world.log(preview))).toBe('TASK TRACKED');
      expect(readdirSync(join(cache, 'npm'))).toEqual(['TASK', 'TRACKED']);
      await expect.poll(() => world.workspacesLeft()).toEqual([]);
      expect(readdirSync(join(cache, 'go/mod/m'))).toEqual(['f']);
      expect(generations(world)).toHaveLength(1);
    });
  });

  it('is replaced once it is over its limit, and goes when the last run that holds it has gone', async () => {
    await using world = await openWorkerWorld();
    const waiter = await world.addStack(
      shellStack({ login: visit('waiter'), apply: 'ls "$npm_config_cache" | xargs echo "held:"' }),
    );
    const stack = await world.addStack(
      applied({ login: 'head -c 2000000 /dev/zero > "$SLIPWAY_CACHE/large"' }),
    );
    await withWorker(world, async () => {
      const waiting = await world.start(waiter, 'TRACKED');
      await world.until(waiting, 'UNCONFIRMED');
      await world.until(await world.start(stack, 'TRACKED'), 'FINISHED');
      await expect.poll(() => generations(world)).toHaveLength(2);
      const next = await world.start(stack, 'TASK', 'ls "$SLIPWAY_CACHE" | xargs echo "new:"');
      await world.until(next, 'FINISHED');
      expect(await world.log(next)).toMatch(/^new: large$/m);

      await world.commands.confirm(waiting, { actor: 'ada' });
      await world.until(waiting, 'FINISHED');
      expect(await world.log(waiting)).toMatch(/^held: waiter$/m);
      await expect.poll(() => generations(world)).toHaveLength(1);
    });
  });

  it('starts over after an initialization that failed, but not for that of a preview', async () => {
    await using world = await openWorkerWorld();
    const login = `${visit('"$SLIPWAY_RUN_TYPE"')}; test "$SLIPWAY_RUN_TYPE" = TASK`;
    const stack = await world.addStack(applied({ login }));
    await withWorker(world, async () => {
      await world.until(await world.start(stack, 'TASK', 'true'), 'FINISHED');
      await world.until(await world.start(stack, 'PROPOSED'), 'FAILED');
      const between = await world.start(stack, 'TASK', 'true');
      await world.until(between, 'FINISHED');
      expect(found(await world.log(between))).toBe('TASK');
      await world.until(await world.start(stack, 'TRACKED'), 'FAILED');
      const last = await world.start(stack, 'TASK', 'true');
      await world.until(last, 'FINISHED');
      expect(found(await world.log(last))).toBe('');
    });
  });

  it('goes when nobody has used it for two weeks, or no stack is left, and never from under a run', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({ login: visit('one') }));
    const repositories = new Set([stack.repository.id]);
    await withWorker(world, async () => {
      const waiting = await world.start(stack, 'TRACKED');
      await world.until(waiting, 'UNCONFIRMED');
      world.clock.advance(15 * dayMs);
      await world.caches.sweep(new Set());
      expect(generations(world)).toHaveLength(1);

      await world.commands.discard(waiting, { actor: 'ada' });
      await expect.poll(() => world.workspacesLeft()).toEqual([]);
      await world.caches.sweep(repositories);
      expect(generations(world)).toEqual([]);

      await world.until(await world.start(stack, 'TASK', 'true'), 'FINISHED');
      await expect.poll(() => world.workspacesLeft()).toEqual([]);
      world.clock.advance(13 * dayMs);
      await world.caches.sweep(repositories);
      expect(generations(world)).toHaveLength(1);
      await world.caches.sweep(new Set());
      expect(generations(world)).toEqual([]);
    });
  });

  it('is done without when it cannot be opened, which the log says', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(
      applied({ login: 'test -v SLIPWAY_CACHE && echo "cache: $SLIPWAY_CACHE" || echo "cache: none"' }),
    );
    writeFileSync(world.cachesDirectory, 'not a directory');
    await withWorker(world, async () => {
      for (const type of ['TRACKED', 'PROPOSED'] as const) {
        const id = await world.start(stack, type);
        await world.until(id, 'FINISHED');
        const log = await world.log(id);
        expect(log).toMatch(/^\[the cache of the repository could not be/m);
        expect(log).toMatch(type === 'TRACKED' ? /^cache: none$/m : /^cache: \S+\/cache$/m);
      }
    });
    expect(readFileSync(world.cachesDirectory, 'utf8')).toBe('not a directory');
  });

  it('counts by what a run adds to it, wherever it lies', () => {
    const limits = { ...defaultLimits, diskBytes: 100, diskEntries: 10 };
    const workspace = { root: '/w/1', localState: null, before: { bytes: 5000, entries: 70 } };
    const cacheAt = (host: string): Workspace => {
      const cache = { host, inside: '/cache', before: workspace.before };
      return { ...workspace, cache } as unknown as Workspace;
    };
    for (const host of ['/c/7/1', '/w/1/cache']) {
      expect(diskLimits(limits, cacheAt(host))).toEqual({ ...limits, diskBytes: 5100, diskEntries: 80 });
    }
    expect(watchedDirectories(cacheAt('/c/7/1'))).toEqual(['/w/1', '/c/7/1']);
    expect(watchedDirectories(cacheAt('/w/1/cache'))).toEqual(['/w/1']);
  });
});
