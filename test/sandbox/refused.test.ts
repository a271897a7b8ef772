/**
 * Machines on which bwrap cannot work, made of namespaces around `slipway sandbox self-test`: nothing of this machine is
 * changed. What cannot be made here, AppArmor for one, is in refusals.test.ts as tables.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isSupportedArchitecture, seccompFilter } from '../../src/sandbox/launching/seccomp.ts';
import { otherUser } from '../support/other-user.ts';
import { isRoot, temporaryDirectory } from './harness.ts';

const program = fileURLToPath(import.meta.resolve('../../bin/slipway.js'));
const selfTest = `exec "${process.execPath}" "${program}" --json sandbox self-test`;
const asUser = isRoot ? { uid: otherUser, gid: otherUser } : {};

const canRun =
  spawnSync('unshare', ['-Urmpf', process.execPath, program, '--version'], asUser).status === 0 &&
  isSupportedArchitecture(process.arch);

let root: string;
beforeAll(() => {
  root = temporaryDirectory();
  mkdirSync(join(root, 'data'));
  if (isRoot) chownSync(join(root, 'data'), otherUser, otherUser);
});
afterAll(() => rmSync(root, { recursive: true }));

const answer = z.object({
  ok: z.boolean(),
  items: z.array(
    z.object({ name: z.string(), ok: z.boolean(), detail: z.string(), fix: z.string().nullable() }),
  ),
});

/** What did not pass, of a self-test that is started by this script. */
function failures(
  start: readonly [string, ...string[]],
  options: { readonly asRoot?: boolean; readonly stdio?: readonly ('ignore' | 'pipe' | number)[] } = {},
) {
  const [command, ...given] = start;
  const { status, stdout, stderr }: SpawnSyncReturns<string> = spawnSync(command, given, {
    encoding: 'utf8',
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      DATA_DIR: join(root, options.asRoot === true ? 'data-of-root' : 'data'),
      SANDBOX_NETWORK: 'none',
    },
    ...(options.asRoot === true ? {} : asUser),
    ...(options.stdio && { stdio: [...options.stdio] }),
  });
  expect(status, String(stderr) + String(stdout)).toBe(1);
  const { ok, items } = answer.parse(JSON.parse(String(stdout)));
  expect(ok).toBe(false);
  return items.filter((item) => !item.ok);
}

describe.runIf(canRun)('a machine', () => {
  it('without user namespaces is told how to allow them', () => {
    const [failure, ...rest] = failures([
      ...(['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c'] as const),
      `echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps -all --inh-caps -all sh -c '${selfTest}'`,
    ]);

    expect(rest).toEqual([]);
    expect(failure?.detail).toContain('Creating new namespace failed');
    expect(failure?.fix).toMatch(/^Namespaces are off: user\.max_user_namespaces is 0\./);
  });

  it('whose /proc is masked, as in containers, is told what to open', () => {
    const [failure, ...rest] = failures([
      ...(['unshare', '-Urmpf', 'sh', '-c'] as const),
      `mount -t proc proc /proc && mount -t tmpfs tmpfs /proc/bus && exec unshare --user --map-user=1000 --map-group=1000 sh -c '${selfTest}'`,
    ]);

    expect(rest).toEqual([]);
    expect(failure?.detail).toContain("Can't mount proc");
    expect(failure?.fix).toMatch(/^Something is mounted over \/proc\/bus,/);
    expect(failure?.fix).not.toContain('sysctl');
  });

  it('whose filter forbids namespaces is not told to set sysctls that are right', () => {
    const path = join(root, 'filter');
    writeFileSync(path, isSupportedArchitecture(process.arch) ? seccompFilter(process.arch) : '');
    chmodSync(path, 0o644);
    const filter = openSync(path, 'r');
    const [failure, ...rest] = failures(
      [
        ...(['bwrap', '--unshare-user', '--bind', '/', '/', '--proc', '/proc', '--dev', '/dev'] as const),
        ...['--seccomp', '3', '--', 'sh', '-c', selfTest],
      ],
      { stdio: ['ignore', 'pipe', 'pipe', filter] },
    );
    closeSync(filter);

    expect(rest).toEqual([]);
    expect(failure?.detail).toContain('No permissions to creat');
    // What a filter is part of depends on where the tests run; sysctls that are right are in no way.
    expect(failure?.fix).not.toContain('sysctl --system');
  });

  it.runIf(isRoot)('on which root may do little is told to have another user', () => {
    const [failure] = failures(['setpriv', '--bounding-set', '-sys_admin', 'sh', '-c', selfTest], {
      asRoot: true,
    });

    expect(failure?.fix).toMatch(/^The server is root without CAP_SYS_ADMIN\. Start it as an unprivileged/);
  });

  it('on which there is nobody but root is told the same', () => {
    const [failure] = failures(['unshare', '-Ur', 'sh', '-c', selfTest]);

    expect(failure?.detail).toContain('no users to give to runs');
    expect(failure?.fix).toContain('unprivileged user');
  });

  it.runIf(isRoot)('whose bwrap is setuid root is told to take that away', () => {
    const bin = join(root, 'bin');
    mkdirSync(bin);
    const bwrap = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).stdout.trim();
    const replace = `cp "${bwrap}" "${bin}" && chmod 4755 "${bin}/bwrap" && mount --bind "${bin}/bwrap" "${bwrap}"`;
    const drop = `DATA_DIR="${join(root, 'data')}" exec setpriv --reuid ${otherUser} --regid ${otherUser} --clear-groups`;
    // A mount namespace of its own: this machine keeps the bwrap that it has.
    const [failure] = failures(
      ['unshare', '--mount', 'sh', '-c', `${replace} && ${drop} sh -c '${selfTest}'`],
      { asRoot: true },
    );

    expect(failure?.detail).toContain('setuid mode');
    expect(failure?.fix).toContain(`chmod u-s ${bwrap}`);
  });
});

it.skipIf(canRun)('needs user namespaces, and a checkout that user 60001 can read', () => {});
