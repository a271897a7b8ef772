import { describe, expect, it } from 'vitest';
import { createPhaseLog } from '../../src/worker/logs.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import { openRunWorld } from '../support/run-world.ts';

/** A worker with an assignment, and the log of its planning as the server has it. */
async function opened(change: (server: ServerApi) => Partial<ServerApi> = () => ({})) {
  const world = await openRunWorld();
  await world.addStack();
  await world.pushed('a1');
  const assignment = await world.claimed();
  const log = createPhaseLog({ ...world.server, ...change(world.server) }, assignment, 'planning');
  const stored = async () =>
    Buffer.from((await world.logs.read(assignment.run.id, 'planning', 0, 1e6)).bytes).toString();
  return { log, stored, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
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
      async log(assignment, phase, bytes) {
        under += 1;
        expect(under).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        await server.log(assignment, phase, bytes);
        sent.push(Buffer.from(bytes).toString());
        under -= 1;
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
      log: (assignment, phase, bytes) =>
        Buffer.from(bytes).includes('bad')
          ? Promise.reject(new Error('disk full'))
          : server.log(assignment, phase, bytes),
    }));
    world.log.write(Buffer.from('good '));
    await world.log.flush();
    world.log.write(Buffer.from('bad '));
    await expect(world.log.flush()).rejects.toThrow('disk full');
    world.log.write(Buffer.from('later '));

    await expect(world.log.flush()).rejects.toThrow('disk full');
    expect(await world.stored()).toBe('good ');
  });
});
