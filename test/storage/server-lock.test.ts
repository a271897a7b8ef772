import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockForServer } from '../../src/storage/server-lock.ts';
import { startNode } from '../support/node-process.ts';
import { tempDirectory } from '../support/temp-database.ts';

const refusal = expect.objectContaining({ name: 'UserError', code: 'already-running' });
const holder = (path: string) => `
  const { lockForServer } = await import(src + '/storage/server-lock.ts');
  globalThis.held = lockForServer(${JSON.stringify(path)});
  console.log('locked');
  process.stdin.resume();`;

describe('the lock of a server', () => {
  it('keeps a second server out, and is free when the first was killed without warning', async () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'server.lock');
    await using first = startNode(holder(path));
    expect(await first.line()).toBe('locked');

    expect(() => lockForServer(path)).toThrow(refusal);
    await first.kill();

    using _ = lockForServer(path);
  });

  it('is seen by another process', async () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'server.lock');
    using _ = lockForServer(path);

    await using second = startNode(holder(path));

    await expect(second.line()).rejects.toThrow('Another Slipway server uses this data directory');
  });

  it('is won by exactly one of two processes that ask at the same instant', { timeout: 60_000 }, async () => {
    using directory = tempDirectory();
    const rounds = 8;
    // Each round begins a second after the one before, at a time that both know.
    const contender = `
      const { lockForServer } = await import(src + '/storage/server-lock.ts');
      globalThis.held = [];
      console.log('ready');
      for await (const first of process.stdin) {
        for (let round = 0; round < ${rounds}; round += 1) {
          while (Date.now() < Number(first) + round * 1000);
          try {
            globalThis.held.push(lockForServer(${JSON.stringify(directory.path)} + '/' + round));
            console.log('won');
          } catch (error) {
            console.log(error.code);
          }
        }
      }`;
    await using a = startNode(contender);
    await using b = startNode(contender);
    expect([await a.line(), await b.line()]).toEqual(['ready', 'ready']);
    const first = String(Date.now() + 200);
    a.send(first);
    b.send(first);

    for (let round = 0; round < rounds; round += 1) {
      expect([await a.line(), await b.line()].sort()).toEqual(['already-running', 'won']);
    }
  });

  it('holds inside one process too, until it is given back', () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'server.lock');

    const first = lockForServer(path);
    expect(() => lockForServer(path)).toThrow(refusal);
    first[Symbol.dispose]();

    lockForServer(path)[Symbol.dispose]();
  });

  it('does not blame another server for a directory that is missing, or a file that is no lock', () => {
    using directory = tempDirectory();
    const text = join(directory.path, 'letter.txt');
    writeFileSync(text, 'Dear Ada, this is only a letter. '.repeat(100));

    for (const path of [join(directory.path, 'missing', 'server.lock'), text]) {
      expect(() => lockForServer(path)).toThrow(expect.not.objectContaining({ code: 'already-running' }));
    }
  });
});
