import { describe, expect, it } from 'vitest';
import { createKnownSecrets } from '../../src/worker/known-secrets.ts';
import { createPhaseLog, type PhaseLogOptions } from '../../src/worker/logs.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import { openRunWorld } from '../support/run-world.ts';

/** A worker with an assignment, and the log of its planning as the server has it. */
async function opened(
  change: (server: ServerApi) => Partial<ServerApi> = () => ({}),
  options: PhaseLogOptions = {},
) {
  const world = await openRunWorld();
  await world.addStack();
  await world.pushed('a1');
  const assignment = await world.claimed();
  const open = () =>
    createPhaseLog(
      { ...world.server, ...change(world.server) },
      assignment,
      'planning',
      createKnownSecrets(assignment.frozen),
      {
        retryDelaysMs: [1, 1],
        ...options,
      },
    );
  const log = open();
  const stored = async () =>
    Buffer.from((await world.logs.read(assignment.run.id, 'planning', 0, 1e6)).bytes).toString();
  return { log, open, stored, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('the log of a phase', () => {
  it('is stored in the order in which it was written, once it is flushed', async () => {
    await using world = await opened();
    const chunks = Array.from({ length: 200 }, (_, n) => `${n} `);

    for (const [n, chunk] of chunks.entries()) {
      world.log.write(Buffer.from(chunk));
      if (n % 17 === 0) await Promise.resolve();
      if (n % 61 === 0) await world.log.flush();
    }
    await world.log.flush();

    expect(await world.stored()).toBe(chunks.join(''));
  });

  it('is sent in few pieces while the server is slow, none of them before the one before it arrived', async () => {
    const sent: string[] = [];
    let under = 0;
    await using world = await opened((server) => ({
      async log(assignment, phase, offset, bytes) {
        under += 1;
        expect(under).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        const size = await server.log(assignment, phase, offset, bytes);
        sent.push(Buffer.from(bytes).toString());
        under -= 1;
        return size;
      },
    }));

    for (let n = 0; n < 100; n += 1) world.log.write(Buffer.from('x'));
    await Promise.resolve();
    for (let n = 0; n < 100; n += 1) world.log.write(Buffer.from('y'));
    await world.log.flush();

    expect(sent).toEqual(['x'.repeat(100), 'y'.repeat(100)]);
    expect(await world.stored()).toBe(sent.join(''));
  });

  it('puts our own lines on lines of their own', async () => {
    await using world = await opened();
    world.log.line('[one]');
    world.log.write(Buffer.from('no end of line'));
    world.log.line('[two]');
    world.log.write(Buffer.from('end of line\n'));
    world.log.line('[three]');
    world.log.write(Buffer.alloc(0));
    await world.log.flush();

    expect(await world.stored()).toBe('[one]\nno end of line\n[two]\nend of line\n[three]\n');
  });

  it('needs nothing to be flushed', async () => {
    await using world = await opened();
    await world.log.flush();
    await world.log.flush();
    expect(await world.stored()).toBe('');
  });

  it('says at the flush that it could not be stored, and leaves no gap after that', async () => {
    await using world = await opened((server) => ({
      log: (assignment, phase, offset, bytes) =>
        Buffer.from(bytes).includes('bad')
          ? Promise.reject(new Error('disk full'))
          : server.log(assignment, phase, offset, bytes),
    }));
    world.log.write(Buffer.from('good '));
    await world.log.flush();
    world.log.write(Buffer.from('bad '));
    await expect(world.log.flush()).rejects.toThrow('disk full');
    world.log.write(Buffer.from('later '));

    await expect(world.log.flush()).rejects.toThrow('disk full');
    expect(await world.stored()).toBe('good ');
  });

  it('is stored once, also when answers are lost', async () => {
    let calls = 0;
    await using world = await opened((server) => ({
      async log(assignment, phase, offset, bytes) {
        calls += 1;
        const size = await server.log(assignment, phase, offset, bytes);
        if (calls % 3 !== 0) throw new Error('the answer was lost');
        return size;
      },
    }));
    for (const part of ['one ', 'two ', 'three ']) {
      world.log.write(Buffer.from(part));
      await world.log.flush();
    }

    expect(calls).toBe(9);
    expect(await world.stored()).toBe('one two three ');
  });

  it('goes on behind what an earlier attempt wrote, on a line of its own', async () => {
    await using world = await opened(undefined, { separator: '[again]' });
    world.log.write(Buffer.from('cut off in the mid'));
    await world.log.flush();
    const second = world.open();
    second.line('[fetching]');
    second.line('[fetched]');
    await second.flush();

    expect(await world.stored()).toBe('cut off in the mid\n[again]\n[fetching]\n[fetched]\n');
  });

  it('puts the line of the next attempt there once, when the answer to it was lost', async () => {
    let isLost = true;
    const options = { separator: '[again]' };
    await using world = await opened(
      (server) => ({
        async log(assignment, phase, offset, bytes) {
          const size = await server.log(assignment, phase, offset, bytes);
          isLost = !isLost;
          if (!isLost) throw new Error('the answer was lost');
          return size;
        },
      }),
      options,
    );
    for (const log of [world.log, world.open()]) {
      log.write(Buffer.from('x'));
      await log.flush();
    }

    expect(await world.stored()).toBe('x\n[again]\nx');
  });

  it('asks to wait while the server is slow, and not for longer', async () => {
    const gate = Promise.withResolvers<void>();
    await using world = await opened((server) => ({
      async log(...given) {
        await gate.promise;
        return server.log(...given);
      },
    }));
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    while (world.log.pressure() === null) {
      world.log.write(chunk);
      written += chunk.length;
      await Promise.resolve();
    }
    // One batch on its way and one behind it.
    expect(written).toBeLessThanOrEqual(2 * 1024 * 1024);

    gate.resolve();
    await world.log.pressure();
    expect(world.log.pressure()).toBeNull();
    await world.log.flush();
    expect((await world.stored()).length).toBe(Math.min(written, 1e6));
  });

  it('keeps nobody waiting, and holds nothing, once it cannot be stored or the lease is lost', async () => {
    for (const answer of [() => Promise.reject(new Error('disk full')), () => Promise.resolve(null)]) {
      await using world = await opened(() => ({ log: answer }));
      for (let n = 0; n < 40; n += 1) world.log.write(Buffer.alloc(64 * 1024));
      await world.log.pressure();
      await world.log.flush().catch(() => undefined);
      for (let n = 0; n < 40; n += 1) world.log.write(Buffer.alloc(64 * 1024));

      expect(world.log.pressure()).toBeNull();
    }
  });
});
