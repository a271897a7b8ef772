/** `kill -9` of a server whose run has a network: what holds it open, the forwarder and the command end with it. */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { removeLeftoverSockets } from '../../src/sandbox/leftovers.ts';
import { startProxy } from '../../src/sandbox/network/proxy.ts';
import { descendantsOf, isRunning, readProcesses } from '../../src/sandbox/process-tree.ts';
import { canRead, otherUser } from '../support/other-user.ts';
import { isRoot, processesWith, sleepMarker, temporaryDirectory, until } from './harness.ts';

const program = fileURLToPath(import.meta.resolve('./server-process.ts'));
const me = process.getuid?.() ?? 0;
const users = isRoot && canRead(program, otherUser) ? [me, otherUser] : [me];

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8');

it.each(users)('a killed server of user %d leaves nothing', async (user) => {
  const directory = temporaryDirectory();
  chownSync(directory, user, user);
  const options = { cwd: '/', uid: user, gid: user } as const;
  const marker = sleepMarker();
  const before = mounts();
  const server = spawn(process.execPath, [program, 'network', directory, marker], {
    ...options,
    stdio: 'ignore',
  });
  const gone = new Promise((resolve) => server.once('exit', resolve));
  await until('the sleeping', () => processesWith(`sleep\0${marker}`).length >= 2);
  const family = descendantsOf(server.pid ?? 0, readProcesses());
  const commands = family.map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'latin1')).join('\n');
  expect(commands).toContain('forwarder.cjs');
  expect(family.length).toBeGreaterThan(6);
  server.kill('SIGKILL');
  await gone;

  await until('the end of all it had started', () => !family.some(isRunning));
  expect(processesWith(marker)).toEqual([]);
  expect(mounts()).toBe(before);

  // Files are the next life's to clear away.
  const sockets = () => readdirSync(join(directory, 'sandbox')).filter((name) => name.startsWith('proxy-'));
  expect(sockets()).toHaveLength(1);
  const next = spawnSync(process.execPath, [program, 'next-life', directory], {
    ...options,
    encoding: 'utf8',
  });
  expect({ stderr: next.stderr, ...JSON.parse(next.stdout) }).toEqual({ stderr: '', ended: 0 });
  expect(sockets()).toEqual([]);
  rmSync(directory, { recursive: true });
});

it.skipIf(users.includes(otherUser) || !isRoot)('needs a checkout that user 60001 can read', () => {});

it('the socket of a proxy that is at work stays, in whatever process that is', async () => {
  const directory = temporaryDirectory();
  {
    await using _ = await startProxy({ access: { mode: 'allowlist', allowedHosts: [] }, directory });
    await removeLeftoverSockets(directory);
    expect(readdirSync(directory)).toHaveLength(1);
  }
  await removeLeftoverSockets(directory);
  expect(readdirSync(directory)).toEqual([]);
  rmSync(directory, { recursive: true });
});
