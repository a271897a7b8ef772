import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { FoundTool } from '../src/tools.ts';
import { UserError } from '../src/user-error.ts';
import { say, withElapsedTime } from './progress.ts';

/**
 * Schemathesis, which tries the API against its OpenAPI document: a virtual environment of Python in the cache, with
 * exactly what requirements.txt pins. One of PATH is never taken: another version finds other things.
 */
const requirements = fileURLToPath(new URL('schemathesis/requirements.txt', import.meta.url));
/** Written last: an environment without it is unfinished. */
const marker = 'complete';
/** Of Schemathesis 4. */
const oldestPython = [3, 11] as const;

/** Null when it is not in the cache, or there is no Python to run it. */
export async function findSchemathesis(cacheDir: string): Promise<FoundTool | null> {
  const dir = await schemathesisDir(cacheDir);
  if (dir === null || !existsSync(join(dir, marker))) return null;
  return { path: join(dir, 'bin', 'schemathesis'), source: 'cache' };
}

/** Where it belongs; null without a Python. */
export async function schemathesisDir(cacheDir: string): Promise<string | null> {
  const version = await pythonVersion();
  return version === null ? null : environmentDir(cacheDir, version);
}

/** Throws a UserError that says what to install. The caller holds the set-up lock. */
export async function installSchemathesis(cacheDir: string, cancelSignal: AbortSignal): Promise<void> {
  const version = await pythonVersion();
  if (version === null || isOlder(version)) {
    const there = version === null ? 'there is no python3' : `python3 is ${version}`;
    throw new UserError('tool-missing', `schemathesis: not in the cache, and ${there}`, {
      hint: `Install Python ${oldestPython.join('.')} or newer, with its venv module (Debian: python3-venv).`,
    });
  }
  // Scripts of an environment hold its path: it is made where it stays.
  const dir = environmentDir(cacheDir, version);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dirname(dir), { recursive: true });
  const run = (file: string, args: string[]) => execa(file, args, { cancelSignal, all: true, reject: false });
  await withElapsedTime('installing schemathesis with pip', async () => {
    const made = await run('python3', ['-m', 'venv', dir]);
    cancelSignal.throwIfAborted();
    if (made.failed) {
      throw failure('python3 could not make a virtual environment', made.all, {
        hint: 'Install the venv module of Python (Debian: python3-venv).',
      });
    }
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', '--require-hashes'];
    const installed = await run(join(dir, 'bin', 'python'), [...pip, '--requirement', requirements]);
    cancelSignal.throwIfAborted();
    if (installed.failed) {
      throw failure('pip could not install schemathesis', installed.all, {
        hint: 'It needs the Python package index, or a mirror that pip is configured for.',
      });
    }
    await writeFile(join(dir, marker), '');
  });
}

/** Another Python or other requirements: another environment. */
function environmentDir(cacheDir: string, version: string): string {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, version]));
  const key = hash.update(readFileSync(requirements)).digest('hex').slice(0, 16);
  return join(cacheDir, 'tools', `schemathesis-${key}`);
}

/** As in `3.11.7`; null without a python3 on PATH. */
async function pythonVersion(): Promise<string | null> {
  const { stdout, failed } = await execa('python3', ['--version'], { reject: false });
  return failed ? null : (/^Python (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null);
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestPython[0] || (major === oldestPython[0] && minor < oldestPython[1]);
}

function failure(what: string, output: string, { hint }: { hint: string }): UserError {
  for (const line of output.trimEnd().split('\n').slice(-10)) say(`  ${line}`);
  return new UserError('tool-missing', what, { hint });
}
