import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { loadSecretKey } from '../../src/storage/secret-key.ts';
import { startNode } from '../support/node-process.ts';
import { tempDirectory } from '../support/temp-database.ts';

const key = Buffer.alloc(32, 7);
const wrongKey = expect.objectContaining({ name: 'UserError', code: 'secret-key-wrong' });

describe('the secret box', () => {
  const box = createSecretBox(key);

  it.each([
    ['text', Buffer.from('correct horse é\n')],
    ['nothing', Buffer.alloc(0)],
    ['bytes', Buffer.from([0, 255, 0, 1])],
    ['much', Buffer.alloc(2_000_000, 'slipway')],
  ])('opens %s that it sealed', (_, plain) => {
    expect(box.open('purpose', box.seal('purpose', plain)).equals(plain)).toBe(true);
  });

  it('takes text as UTF-8', () => {
    expect(box.open('p', box.seal('p', 'é')).toString('utf8')).toBe('é');
  });

  it('never seals the same way twice, and never in plain text', () => {
    const [one, two] = [1, 2].map(() => Buffer.from(box.seal('purpose', 'correct horse')));
    expect(one).not.toEqual(two);
    expect(one?.includes('horse')).toBe(false);
  });

  it('does not open what was sealed for another purpose: a value cannot be moved to another row', () => {
    const sealed = box.seal('stack 1 variable TOKEN', 'x');
    expect(() => box.open('stack 2 variable TOKEN', sealed)).toThrow(wrongKey);
  });

  it('does not open what another key sealed', () => {
    const sealed = createSecretBox(Buffer.alloc(32, 8)).seal('purpose', 'x');
    expect(() => box.open('purpose', sealed)).toThrow(wrongKey);
  });

  it('does not open what was altered, wherever', () => {
    const sealed = Buffer.from(box.seal('purpose', 'secret'));
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => box.open('purpose', altered)).toThrow(wrongKey);
    }
  });

  it('does not open what was cut or lengthened', () => {
    const sealed = Buffer.from(box.seal('purpose', 'secret'));
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => box.open('purpose', sealed.subarray(0, length))).toThrow(wrongKey);
    }
    expect(() => box.open('purpose', Buffer.concat([sealed, Buffer.of(0)]))).toThrow(wrongKey);
  });
});

describe('the secret key', () => {
  it('is made once, for its owner only, and nothing else is left beside it', () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'secret.key');

    const made = loadSecretKey(path, false);

    expect(made).toHaveLength(32);
    expect(made.equals(Buffer.alloc(32))).toBe(false);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory.path)).toEqual(['secret.key']);
    expect(loadSecretKey(path, true).equals(made)).toBe(true);
    expect(loadSecretKey(path, false).equals(made)).toBe(true);
  });

  it('is not made anew for a database that exists: nothing in it could be read any more', () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'secret.key');

    expect(() => loadSecretKey(path, true)).toThrow(expect.objectContaining({ code: 'secret-key-missing' }));
    expect(readdirSync(directory.path)).toEqual([]);
  });

  it.each([0, 31, 33, 64])('is refused with %d bytes, and left alone', (length) => {
    using directory = tempDirectory();
    const path = join(directory.path, 'secret.key');
    writeFileSync(path, Buffer.alloc(length));

    expect(() => loadSecretKey(path, false)).toThrow(expect.objectContaining({ code: 'secret-key-invalid' }));
    expect(readFileSync(path)).toHaveLength(length);
  });

  it('is made though a process that died left its attempt behind', () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'secret.key');
    writeFileSync(`${path}.${process.pid}.new`, 'half');

    expect(loadSecretKey(path, false)).toHaveLength(32);
  });

  it('says what is wrong with its path', () => {
    using directory = tempDirectory();
    const folder = join(directory.path, 'folder');
    mkdirSync(folder);

    expect(() => loadSecretKey(folder, false)).toThrow(
      expect.objectContaining({ code: 'secret-key-unreadable' }),
    );
    expect(() => loadSecretKey(join(directory.path, 'missing', 'secret.key'), false)).toThrow(
      expect.objectContaining({ code: 'secret-key-unwritable' }),
    );
  });

  it('is the same for processes that start at once', async () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'secret.key');
    const code = `
      const { loadSecretKey } = await import(src + '/storage/secret-key.ts');
      console.log('ready');
      process.stdin.once('data', () => {
        console.log(loadSecretKey(${JSON.stringify(path)}, false).toString('hex'));
      });`;
    await using processes = new AsyncDisposableStack();
    const starters = [1, 2, 3].map(() => processes.use(startNode(code)));
    for (const starter of starters) expect(await starter.line()).toBe('ready');

    for (const starter of starters) starter.send('go');

    const keys = await Promise.all(starters.map((starter) => starter.line()));
    expect(new Set(keys)).toEqual(new Set([readFileSync(path).toString('hex')]));
    expect(readdirSync(directory.path)).toEqual(['secret.key']);
  });
});
