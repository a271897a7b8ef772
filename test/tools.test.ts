import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cachedTool, findTool, toolCacheDir } from '../src/tools.ts';
import { withLock } from '../tools/lock.ts';
import { findSchemathesis, schemathesisDir } from '../tools/schemathesis.ts';

const toolsFolder = fileURLToPath(new URL('../tools', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-tools-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function program(path: string, mode = 0o755): string {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, mode);
  return file;
}

function fillCache(name: 'pulumi' | 'opa', cacheDir: string): string {
  const { binDir, modules } = cachedTool(name, cacheDir);
  mkdirSync(binDir, { recursive: true });
  for (const { packages, copies } of modules) {
    for (const file of [...packages, ...(copies?.files ?? [])]) {
      writeFileSync(join(binDir, basename(file)), '', { mode: 0o755 });
    }
  }
  return binDir;
}

describe('findTool', () => {
  test('prefers the setting to PATH and PATH to the cache', () => {
    const cacheDir = join(folder, 'cache');
    const cached = join(fillCache('pulumi', cacheDir), 'pulumi');
    const onPath = program('bin/pulumi');
    const set = program('elsewhere/my-pulumi');
    const path = `${join(folder, 'empty')}:${join(folder, 'bin')}`;

    expect(findTool('pulumi', { setting: set, path, cacheDir })).toEqual({ path: set, source: 'setting' });
    expect(findTool('pulumi', { setting: '', path, cacheDir })).toEqual({ path: onPath, source: 'path' });
    expect(findTool('pulumi', { path: '/nowhere', cacheDir })).toEqual({ path: cached, source: 'cache' });
    expect(findTool('pulumi', { path: '/nowhere', cacheDir: join(folder, 'other') })).toBeNull();
  });

  test('refuses a setting that names no executable file, and names the setting', () => {
    const places = { path: '', cacheDir: folder };
    for (const setting of [program('plain', 0o644), folder, join(folder, 'missing')]) {
      expect(() => findTool('opa', { ...places, setting })).toThrow(
        `OPA_PATH: ${setting} is not an executable file`,
      );
    }
  });

  test('skips files on PATH that cannot be executed, and folders of PATH that depend on the working directory', () => {
    program('first/bwrap', 0o644);
    const second = program('second/bwrap');
    const path = `:.:${join(folder, 'first')}:${join(folder, 'second')}`;
    expect(findTool('bwrap', { path, cacheDir: folder })).toEqual({ path: second, source: 'path' });
  });

  test('does not take a cached tool of which a file is missing', () => {
    rmSync(join(fillCache('pulumi', folder), 'pulumi-language-nodejs'));
    expect(findTool('pulumi', { path: '', cacheDir: folder })).toBeNull();
  });
});

describe('toolCacheDir', () => {
  test('is below XDG_CACHE_HOME when that is an absolute path, else below the home folder', () => {
    expect(toolCacheDir('/home/a', '/var/cache')).toBe('/var/cache/slipway');
    expect(toolCacheDir('/home/a', 'relative')).toBe('/home/a/.cache/slipway');
    expect(toolCacheDir('/home/a', '')).toBe('/home/a/.cache/slipway');
    expect(toolCacheDir('/home/a')).toBe('/home/a/.cache/slipway');
  });
});

describe('the recipe', () => {
  test('gives another cache folder to the tools it changes, and only to those', () => {
    const recipeDir = join(folder, 'recipe');
    for (const name of ['recipe.json', 'pulumi', 'hosts', 'opa', 'tofu', 'provider']) {
      cpSync(join(toolsFolder, name), join(recipeDir, name), { recursive: true });
    }
    const dirs = () => [cachedTool('pulumi', '/c', recipeDir).dir, cachedTool('opa', '/c', recipeDir).dir];
    const edit = (file: string, change: (text: string) => string) =>
      writeFileSync(join(recipeDir, file), change(readFileSync(join(recipeDir, file), 'utf8')));

    const [pulumi, opa] = dirs();
    expect(pulumi).toBe(cachedTool('pulumi', '/c').dir);

    edit('hosts/go.sum', (text) => `${text}\n`);
    const [pulumiWithOtherSum, sameOpa] = dirs();
    expect(pulumiWithOtherSum).not.toBe(pulumi);
    expect(sameOpa).toBe(opa);

    edit('recipe.json', (text) => text.replace('opa_no_oci', 'opa_no_wasm'));
    const [samePulumi, opaWithOtherTag] = dirs();
    expect(samePulumi).toBe(pulumiWithOtherSum);
    expect(opaWithOtherTag).not.toBe(opa);
  });

  test('tells each program the version that its Go module really requires', () => {
    const { modules } = cachedTool('pulumi', folder);
    for (const module of modules) {
      const goMod = readFileSync(join(toolsFolder, module.folder, 'go.mod'), 'utf8');
      const told = [...module.flags.join(' ').matchAll(/\.Version=(v[\d.]+)/g)].map((match) => match[1]);
      expect(told.length).toBeGreaterThan(0);
      for (const version of told) expect(goMod).toMatch(new RegExp(`github\\.com/pulumi/\\S+ ${version}\\n`));
    }
  });
});

describe('the set-up lock', () => {
  const signal = new AbortController().signal;

  test('lets one holder in at a time, also after one that failed', async () => {
    const file = join(folder, 'lock');
    const events: string[] = [];
    const inside = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();

    const first = withLock(file, { signal }, async () => {
      inside.resolve();
      await leave.promise;
      events.push('first leaves');
      throw new Error('failed inside');
    });
    const firstFails = expect(first).rejects.toThrow('failed inside');
    await inside.promise;
    const second = withLock(file, { signal, pollMs: 1, onWait: leave.resolve }, async () => {
      events.push('second enters');
    });

    await Promise.all([firstFails, second]);
    expect(events).toEqual(['first leaves', 'second enters']);
  });

  test('stops waiting when it is told to', async () => {
    const file = join(folder, 'lock');
    const stop = new AbortController();
    await withLock(file, { signal }, async () => {
      const options = { signal: stop.signal, pollMs: 1, onWait: () => stop.abort(new Error('stopped')) };
      await expect(withLock(file, options, async () => {})).rejects.toThrow('stopped');
    });
  });

  test('is free again when its holder was killed', async () => {
    const file = join(folder, 'lock');
    const holder = `
      import { withLock } from ${JSON.stringify(new URL('../tools/lock.ts', import.meta.url).href)};
      const signal = new AbortController().signal;
      await withLock(${JSON.stringify(file)}, { signal }, () => new Promise(() => {
        console.log('held');
        setInterval(() => {}, 60_000);
      }));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', holder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    await once(child.stdout, 'data');

    const killWhenInTheWay = () => child.kill('SIGKILL');
    let entered = false;
    await withLock(file, { signal, pollMs: 1, onWait: killWhenInTheWay }, async () => {
      entered = true;
    });
    expect(entered).toBe(true);
    expect((await ended)[1]).toBe('SIGKILL');
  });
});

describe('schemathesis', () => {
  test('is found only once its installation is complete, and never on PATH', async () => {
    program('bin/schemathesis');
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    expect(await findSchemathesis(folder)).toBeNull();

    const dir = await schemathesisDir(folder);
    const path = program(`${relative(folder, dir ?? '')}/bin/schemathesis`);
    expect(await findSchemathesis(folder)).toBeNull();
    writeFileSync(join(dir ?? '', 'complete'), '');
    expect(await findSchemathesis(folder)).toEqual({ path, source: 'cache' });
  });
});
