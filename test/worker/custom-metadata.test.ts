import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCustomMetadata } from '../../src/worker/custom-metadata.ts';
import { tempDirectory } from '../support/temp-database.ts';

const ending = '.custom.slipway.json';

function openTree() {
  const temp = tempDirectory();
  const tree = join(temp.path, 'tree');
  mkdirSync(join(tree, 'infra'), { recursive: true });
  const side = { tree, git: '', home: '', tmp: '', login: '' };
  const workspace = {
    ...{ root: temp.path, identity: { key: 'r' }, localState: null, cache: null, notes: [] },
    ...{ host: side, inside: { ...side, tree: '/workspace' } },
  };
  return {
    ...temp,
    tree,
    path: (name: string) => join(tree, 'infra', name),
    read: (projectRoot = '/workspace/infra') => readCustomMetadata({ workspace, projectRoot }),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}

describe('custom metadata', () => {
  it('is what the files beside the project say, by name', async () => {
    using world = openTree();
    writeFileSync(world.path(`scanner${ending}`), '{"high": 2}');
    writeFileSync(world.path(`__proto__${ending}`), '[1]');
    writeFileSync(world.path('other.json'), 'not read');
    writeFileSync(join(world.tree, `above${ending}`), '{}');

    const read = await world.read();

    expect(read.kind).toBe('read');
    if (read.kind !== 'read') return;
    expect(Object.entries(read.custom)).toEqual([
      ['__proto__', [1]],
      ['scanner', { high: 2 }],
    ]);
    expect(Object.getPrototypeOf(read.custom)).toBe(Object.prototype);
  });

  it('may be nested a hundred levels deep', async () => {
    using world = openTree();
    writeFileSync(world.path(`deep${ending}`), '['.repeat(100) + ']'.repeat(100));
    expect((await world.read()).kind).toBe('read');
  });

  it('is empty without such files', async () => {
    using world = openTree();
    expect(await world.read()).toEqual({ kind: 'read', custom: {} });
  });

  it.each<[string, (path: string, outside: string) => void]>([
    ['no JSON', (path) => writeFileSync(path, '{"high": ')],
    ['no UTF-8', (path) => writeFileSync(path, Buffer.from([0x22, 0xff, 0x22]))],
    ['empty', (path) => writeFileSync(path, '')],
    ['too large', (path) => writeFileSync(path, `"${'x'.repeat(1024 * 1024)}"`)],
    ['nested too deeply', (path) => writeFileSync(path, '['.repeat(101) + ']'.repeat(101))],
    ['a directory', (path) => mkdirSync(path)],
    ['a link to a file of the server', (path, outside) => symlinkSync(outside, path)],
    ['a pipe that nobody writes', (path) => execFileSync('mkfifo', [path])],
  ])('fails the run when a file is %s', async (_, make) => {
    using world = openTree();
    const outside = join(world.path('..'), '..', '..', 'secret.json');
    writeFileSync(outside, '{"secret": true}');
    make(world.path(`bad${ending}`), outside);

    expect(await world.read()).toMatchObject({ kind: 'failed', outcome: 'plan_unreadable' });
  });

  it('fails the run when there are too many files', async () => {
    using world = openTree();
    for (let n = 0; n <= 20; n += 1) writeFileSync(world.path(`${n}${ending}`), '1');
    expect(await world.read()).toMatchObject({ kind: 'failed' });
  });

  it('leaves no way out of the checkout by a link in place of the project root', async () => {
    using world = openTree();
    mkdirSync(join(world.tree, '..', 'elsewhere'));
    symlinkSync('../elsewhere', join(world.tree, 'linked'));
    expect(await world.read('/workspace/linked')).toMatchObject({ kind: 'failed' });
  });
});
