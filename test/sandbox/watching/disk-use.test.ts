/** The walk itself, on trees that a hostile run can build, and on one that is changed meanwhile. */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freeSpace, measure } from '../../../src/sandbox/watching/disk-use.ts';
import { script, temporaryDirectory } from '../harness.ts';

const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
const unlimited = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };
const never = new AbortController().signal;
const shell = (text: string) => execFileSync('bash', ['-c', text], { cwd: root });

const program = fileURLToPath(import.meta.resolve('./watch-process.ts'));

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

it('ends when it is told to, and finds nothing where nothing is', async () => {
  expect(await use(unlimited, AbortSignal.abort())).toEqual({
    kind: 'failed',
    reason: 'told to stop before it began',
  });
  rmSync(root, { recursive: true });
  expect(await use()).toEqual({ kind: 'measured', bytes: 0, entries: 0 });
});

describe('what find lets it know', () => {
  const withFind = (text: string, limits = unlimited) => {
    const bin = join(root, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'find'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return measure([root], limits, { PATH: bin }, never);
  };

  it('is nothing without one, or with that of BusyBox', async () => {
    const none = await measure([root], unlimited, { PATH: '/nowhere' }, never);
    const other = await withFind('echo "find: unrecognized: -printf" >&2; echo "Usage: find" >&2; exit 1');

    expect(none).toEqual({ kind: 'failed', reason: expect.stringContaining('ENOENT') });
    expect(other).toEqual({ kind: 'failed', reason: 'find complained: -printf' });
  });

  it('is no measure when it was ended, or ended badly, on its way', async () => {
    expect(await withFind('echo 8; kill -9 $$')).toEqual({
      kind: 'failed',
      reason: 'find was ended by SIGKILL',
    });
    expect(await withFind('echo 8; exit 1')).toMatchObject({ kind: 'failed' });
    expect(await withFind('echo 8; exit 127')).toMatchObject({ kind: 'failed' });
    expect(await withFind('echo "find: x: Cannot allocate memory" >&2; exit 1')).toMatchObject({
      kind: 'failed',
    });
  });

  it('is enough when what it saw until then is too much', async () => {
    expect(await withFind('echo 8; echo 8; kill -9 $$', { bytes: 5000, entries: 10 })).toEqual({
      ...{ kind: 'measured', bytes: 8192, entries: 2 },
    });
  });

  it('is that the run closed a directory, whatever else went wrong', async () => {
    const text = 'echo "find: hidden: Permission denied" >&2; echo "find: y: Input/output error" >&2; exit 1';
    expect(await withFind(text)).toEqual({ kind: 'closed' });
  });
});

describe('without a descriptor to spare', () => {
  const watchFor = (failedLooks: string) =>
    JSON.parse(
      execFileSync(
        'bash',
        ['-c', 'ulimit -n 100; exec "$@"', 'bash', process.execPath, program, root, failedLooks],
        { encoding: 'utf8' },
      ),
    );

  it('the server lives, a plan is asked to end, and an apply goes on', () => {
    expect(watchFor('2')).toEqual(['unwatched']);
    expect(watchFor('none')).toEqual([]);
  });
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
