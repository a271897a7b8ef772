import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportsFile, hookPrologue, readExports } from '../../src/worker/hooks.ts';
import { tempDirectory } from '../support/temp-database.ts';

const carried = (hook: string, environment: Record<string, string> = {}) =>
  runHook(hook, environment).exports?.carried;

/** A hook as the worker runs it, by the bash of this machine. `exports` is null when it left none. */
function runHook(hook: string, environment: Record<string, string> = {}) {
  using directory = tempDirectory();
  const prologue = join(directory.path, 'hook-prologue.sh');
  writeFileSync(prologue, hookPrologue);
  const { status, stdout, stderr } = spawnSync('bash', ['-c', hook], {
    cwd: directory.path,
    encoding: 'utf8',
    timeout: 10_000,
    // As in the sandbox. A pipe of Node is a socket, on which bash believes to be on the network: then it
    // reads ~/.bashrc and not BASH_ENV.
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: '/usr/bin:/bin', HOME: directory.path, ...environment },
      ...{ BASH_ENV: prologue, SLIPWAY_EXPORTS: join(directory.path, exportsFile) },
    },
  });
  const left = read(join(directory.path, exportsFile));
  const exports = left && readExports(left, (name) => name.startsWith('PULUMI_OPTION_'));
  return { status, stdout, stderr, exports };
}

function read(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

describe('a hook', () => {
  it.each<[hook: string, status: number]>([
    ['true', 0],
    ['/bin/true', 0],
    ['false', 1],
    ['exit 3', 3],
    ['export A=1; exit 3', 3],
    ['(exit 5)', 5],
    ['exit 7 | true', 0],
    ['set -o pipefail; (exit 7) | true', 7],
    ['set -e; (exit 4); exit 0', 4],
    ['no-such-program-anywhere', 127],
    ['f() { return 6; }; f', 6],
    ['if', 2],
    ['exec bash -c "exit 9"', 9],
    ["trap 'exit 8' EXIT; exit 3", 8],
    ['kill -TERM $$', 143],
  ])('%s ends with %i, as if nothing had been put before it', (hook, status) => {
    const bare = spawnSync('bash', ['-c', hook], { env: { PATH: '/usr/bin:/bin' } });
    expect(runHook(hook).status ?? 143).toBe(status);
    expect(bare.status ?? 143).toBe(status);
  });

  it('prints what it prints, and nothing more', () => {
    expect(runHook('echo out; echo err >&2; exit 1')).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
    expect(runHook('true')).toMatchObject({ stdout: '', stderr: '' });
    expect(runHook('export PATH=/nowhere')).toMatchObject({ stdout: '', stderr: '' });
  });

  it('knows nothing of the prologue, and neither do the shells it starts', () => {
    const say = 'env | grep -c ^BASH_ENV=';
    expect(runHook(`${say}; bash -c '${say}'`).stdout).toBe('0\n0\n');
    expect(carried('bash -c "export INNER=1"; export OUTER=1')).toEqual({ OUTER: '1' });
  });
});

describe('what a hook exports', () => {
  it.each<[hook: string, exports: Record<string, string>]>([
    ['export A=1', { A: '1' }],
    ['A=1', {}],
    ['A=1; export A B=2; declare -x C=3', { A: '1', B: '2', C: '3' }],
    ['(export A=1)', {}],
    ['export A=1; exit 3', { A: '1' }],
    ['set -e; export A=1; false; export B=2', { A: '1' }],
    ['set -euo pipefail; export A=1', { A: '1' }],
    ['set -C; export A=1', { A: '1' }],
    ['cd /; export A=1', { A: '1' }],
    ['export A=1; unset A', {}],
    ['export A=', { A: '' }],
    ['export A=b=c', { A: 'b=c' }],
    ["export A='it''s \"quoted\" $HOME é'", { A: 'its "quoted" $HOME é' }],
    ["export A=$'one\\ntwo\\n\\n'", { A: 'one\ntwo\n\n' }],
    ['export A=$(cat <<EOF\none\ntwo\nEOF\n)', { A: 'one\ntwo' }],
    ["trap 'echo cleanup' INT; export A=1", { A: '1' }],
  ])('%s', (hook, exports) => {
    expect(carried(hook)).toEqual(exports);
  });

  it('may be PATH, which is how a virtualenv works, even one on which nothing is found', () => {
    expect(carried('export PATH=/opt/venv/bin:$PATH')).toEqual({ PATH: '/opt/venv/bin:/usr/bin:/bin' });
    expect(carried('PATH=/nowhere')).toEqual({ PATH: '/nowhere' });
  });

  it('is what it changed, not what it was given, by us or by the sandbox', () => {
    const given = { REGION: 'eu', HTTPS_PROXY: 'http://127.0.0.1:3128', SSL_CERT_FILE: '/certificates' };
    expect(runHook('export NEW=1 REGION=eu', given).exports).toEqual({
      ...{ carried: { NEW: '1' }, unset: [], refused: [] },
    });
    expect(carried('export REGION=us', given)).toEqual({ REGION: 'us' });
  });

  it('does not reach the commands after it under a name that steers the shell, git, us or the tool', () => {
    const hook =
      'export LD_PRELOAD= GIT_DIR=x SLIPWAY_RUN_ID=x BASH_ENV=x PULUMI_OPTION_PLAN=x HTTPS_PROXY=x OK=1';
    const exports = runHook(hook).exports;

    expect(exports?.carried).toEqual({ OK: '1' });
    expect(exports?.refused.map(({ name }) => name).toSorted()).toEqual([
      'GIT_DIR',
      'HTTPS_PROXY',
      'LD_PRELOAD',
      'PULUMI_OPTION_PLAN',
      'SLIPWAY_RUN_ID',
    ]);
  });

  it('is no function', () => {
    expect(runHook('f() { echo hi; }; export -f f; export A=1').exports).toEqual({
      ...{ carried: { A: '1' }, unset: [], refused: [] },
    });
  });

  it('no longer, of what it was given, is told by name', () => {
    const given = { REGION: 'eu', KEPT: 'as it is', SECRET: 'hunter2-hunter2' };
    const { exports } = runHook('unset REGION; export -n SECRET; unset UNKNOWN', given);
    expect(exports?.carried).toEqual({});
    expect(exports?.unset.toSorted()).toEqual(['REGION', 'SECRET']);
    expect(runHook('unset REGION; export REGION=us', given).exports?.unset).toEqual([]);
    expect(runHook('(unset REGION)', given).exports?.unset).toEqual([]);
    expect(runHook('unset PATH').exports?.unset).toEqual(['PATH']);
  });

  it('does not reach the commands after it when no program could be started with it', () => {
    const { exports } = runHook('export LONG=$(printf %066000d 0) SHORT=$(printf %065000d 0)');
    expect(Object.keys(exports?.carried ?? {})).toEqual(['SHORT']);
    expect(exports?.refused).toEqual([{ name: 'LONG', reason: 'it is longer than 65536 bytes' }]);
  });

  it.each(["trap 'echo mine' EXIT; export A=1", 'export A=1; exec true', 'export A=1; kill -KILL $$'])(
    'cannot be known of %s',
    (hook) => {
      expect(runHook(hook).exports).toBeNull();
    },
  );

  it('is read without trust in its form', () => {
    const left = Buffer.from('no equals sign\0=GONE\0B=2\0\0C=3');
    const nothing = { unset: [], refused: [] };
    expect(readExports(left, () => false)).toEqual({
      ...nothing,
      carried: { B: '2', C: '3' },
      unset: ['GONE'],
    });
    expect(readExports(Buffer.alloc(0), () => false)).toEqual({ ...nothing, carried: {} });
  });

  it('leaves nothing on the disk that the hook was given', () => {
    using directory = tempDirectory();
    const prologue = join(directory.path, 'hook-prologue.sh');
    writeFileSync(prologue, hookPrologue);
    const left = join(directory.path, exportsFile);
    const env = {
      PATH: '/usr/bin:/bin',
      BASH_ENV: prologue,
      SLIPWAY_EXPORTS: left,
      PASSPHRASE: 'hunter2-hunter2',
    };
    spawnSync('bash', ['-c', 'grep -rl hunter2 . ; export A=1'], {
      ...{ cwd: directory.path, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 10_000 },
    });
    const files = readdirSync(directory.path).map((name) => readFileSync(join(directory.path, name), 'utf8'));
    expect(files.join('\n')).not.toContain('hunter2');
    expect(readFileSync(left, 'utf8')).toContain('A=1');
  });
});
