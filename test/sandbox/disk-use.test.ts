/** The walk itself, on trees that a hostile run can build, and on one that is changed meanwhile. */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freeSpace, measure } from '../../src/sandbox/disk-use.ts';
import { script, temporaryDirectory } from './harness.ts';

const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
const unlimited = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };
const never = new AbortController().signal;
const shell = (text: string) => execFileSync('bash', ['-c', text], { cwd: root });

let root: string;
beforeEach(() => {
  root = temporaryDirectory();
});
afterEach(() => {
  execFileSync('rm', ['-rf', root]);
});
const use = (limits = unlimited, signal = never) => measure([root], limits, environment, signal);

it('counts blocks and names, a file with several names once, and follows no link', async () => {
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'a', 'one'), Buffer.alloc(100_000));
  linkSync(join(root, 'a', 'one'), join(root, 'a', 'again'));
  symlinkSync('/', join(root, 'a', 'everything'));
  symlinkSync('.', join(root, 'a', 'round'));
  shell('truncate -s 1T sparse');

  const found = await use();

  expect(found).toMatchObject({ kind: 'measured', entries: 7 });
  expect(found.kind === 'measured' && found.bytes).toBeGreaterThanOrEqual(100_000);
  expect(found.kind === 'measured' && found.bytes).toBeLessThan(150_000);
});

it('reads names that are made to be misread', async () => {
  const names = ['1 1:1\n99999999', '-printf', 'x: No such file or directory', '\n\n', ' '];
  for (const name of names) writeFileSync(join(root, name), '');

  expect(await use()).toMatchObject({ kind: 'measured', entries: names.length + 1 });
});

it('goes deeper than any path is long', async () => {
  shell('for c in 1 2 3; do p=$(printf "d/%.0s" {1..1900}); mkdir -p $p; cd -P $p; done');

  expect(await use()).toMatchObject({ kind: 'measured', entries: 5701 });
});

it('stops when a limit is passed, however much there is', async () => {
  shell('seq 50000 | xargs touch');
  const startedMs = performance.now();
  const found = await use({ bytes: Number.POSITIVE_INFINITY, entries: 1000 });

  expect(found.kind === 'measured' && found.entries).toBeLessThan(45_000);
  expect(found.kind === 'measured' && found.entries).toBeGreaterThan(1000);
  expect(performance.now() - startedMs).toBeLessThan(5000);
});

it('bears a tree that is built and torn down while it looks', async () => {
  const [bash, ...argv] = script(
    'while :; do mkdir -p t/{a,b,c}/{1,2,3}/x; touch t/a/1/x/{1,2,3,4}; mv t/a t/z; rm -rf t; done',
  );
  const builder = spawn(bash, argv, { cwd: root, stdio: 'ignore' });
  for (let n = 0; n < 30; n += 1) expect(await use()).toMatchObject({ kind: 'measured' });
  builder.kill('SIGKILL');
  await new Promise((resolve) => builder.once('exit', resolve));
});

it('says when it cannot look, and ends when it is told to', async () => {
  expect(await measure([root], unlimited, { PATH: '/nowhere' }, never)).toEqual({ kind: 'unreadable' });
  expect((await use(unlimited, AbortSignal.abort())).kind).toBe('measured');
  rmSync(root, { recursive: true });
  expect(await use()).toEqual({ kind: 'measured', bytes: 0, entries: 0 });
});

it('knows how much room is left', async () => {
  const [bytes] = execFileSync('df', ['--output=avail', '-B1', root], { encoding: 'utf8' })
    .split('\n')
    .slice(1)
    .map(Number);
  const free = await freeSpace(root);

  expect(Math.abs(free - (bytes ?? 0))).toBeLessThan(1024 ** 3);
  await expect(freeSpace(join(root, 'nowhere'))).rejects.toThrow('ENOENT');
});
