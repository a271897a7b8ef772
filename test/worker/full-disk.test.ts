import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import { UserError } from '../../src/user-error.ts';
import { createRoomCheck } from '../../src/worker/room.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;
const full = () => Promise.reject(new UserError('storage-full', 'The server has no room left.'));

/** The server, with no room the first time it is to store one of these reports. */
function fullOnce(...names: readonly ('prepared' | 'command' | 'planned' | 'applied' | 'finished')[]) {
  const had = new Set<string>();
  return (server: ServerApi): Partial<ServerApi> => {
    const once =
      <Given extends readonly unknown[], T>(name: string, report: (...given: Given) => Promise<T>) =>
      (...given: Given): Promise<T> => {
        if (had.has(name)) return report(...given);
        had.add(name);
        return full();
      };
    return Object.fromEntries(
      names.map((name) => [name, once(name, server[name] as () => Promise<unknown>)]),
    );
  };
}

describe('a worker whose server has no room', () => {
  it('begins nothing below the floor, and goes on when there is room again', async () => {
    let room = false;
    let looks = 0;
    const hasRoom = () => {
      looks += 1;
      return Promise.resolve(room);
    };
    await using world = await openWorkerWorld(undefined, {}, hasRoom);
    await world.addStack(shellStack({}, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(1);
    expect((await world.run(id)).state).toBe('READY');

    room = true;
    await world.until(id, 'FINISHED');
    await worker.stop(longMs);
  });

  it('clears up below the floor what is over: that is how room is made', async () => {
    let room = true;
    await using world = await openWorkerWorld(undefined, {}, () => Promise.resolve(room));
    await world.addStack(shellStack({}, { afterRun: ['echo "the end"'] }));
    const waiting = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(waiting, 'UNCONFIRMED');

    room = false;
    await world.commands.discard(waiting, { actor: 'ada' });
    await expect.poll(() => world.workspacesLeft(), { timeout: 10_000 }).toEqual([]);
    await worker.stop(longMs);

    expect(await world.log(waiting)).toContain('the end');
  });

  it.each([
    ['the disk is full for too long', Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'disk_limit'],
    ['something is refused', new UserError('refused', 'Not like this.'), 'project_unusable'],
  ])('locks the stack when %s once an apply has begun', async (_, thrown, outcome) => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker({ readApply: () => Promise.reject(thrown) });
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    const run = await world.run(id);
    expect(run).toMatchObject({ outcome, note: expect.stringContaining('check the real state') });
    expect((await world.stackStore.findByKey(stack.key))?.lock).toMatchObject({ kind: 'system', run: id });
  });

  it('says what it did until that is stored', async () => {
    const change = fullOnce('prepared', 'command', 'planned', 'applied', 'finished');
    await using world = await openWorkerWorld(change);
    await world.addStack(shellStack({}, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    expect(await world.labels(id)).toEqual(['login', 'plan', 'apply']);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('goes on applying without a log, and the log says that some of it is missing', async () => {
    await using world = await openWorkerWorld((server) => ({
      log: (assignment, phase, offset, bytes) =>
        /^second$/m.test(Buffer.from(bytes).toString())
          ? full()
          : server.log(assignment, phase, offset, bytes),
    }));
    const apply = 'echo first; sleep 0.3; echo second; sleep 4; echo third';
    await world.addStack(shellStack({ apply }, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    const log = await world.log(id);
    expect(log).toContain('first\n\n[output is missing here: the server could not store it]\nthird\n');
  });

  it('ends a plan whose log cannot be stored, and says why', async () => {
    await using world = await openWorkerWorld((server) => ({
      log: (assignment, phase, offset, bytes) =>
        phase === 'planning' ? full() : server.log(assignment, phase, offset, bytes),
    }));
    await world.addStack(shellStack({}));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.run(id)).toMatchObject({
      outcome: 'disk_limit',
      note: 'The disk of the server is full.\nAn operator must make room; then retry the run.',
    });
  });
});

describe('the room for another run', () => {
  it('is what is free where the data lies, and told once when it changes', async () => {
    using directory = tempDirectory();
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line) => void lines.push(line) });
    const { path } = directory;
    const enough = createRoomCheck({ directory: path, floorBytes: 1, logger });
    const short = createRoomCheck({ directory: path, floorBytes: 2 ** 60, logger });
    const unknown = createRoomCheck({ directory: `${path}/nowhere`, floorBytes: 1, logger });
    const unasked = createRoomCheck({ directory: `${path}/nowhere`, floorBytes: 0, logger });

    expect([await enough(), await unasked(), await enough()]).toEqual([true, true, true]);
    expect(lines).toEqual([]);
    expect([await short(), await short(), await unknown()]).toEqual([false, false, false]);
    expect(lines).toHaveLength(2);
  });
});
