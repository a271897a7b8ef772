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
