/** What is left when a run is over. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chown, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, bash, python } from '../attack.ts';
import { ordinaryLimits } from '../drivers.ts';
import { answer, anywhere, textOf } from '../evidence.ts';
import type { Scene } from '../scene.ts';

/** As most would remove a directory, and as Slipway does. */
const removes: Attack['server'] = {
  when: 'after',
  naive: async ({ workspace }) => {
    await rm(workspace, { recursive: true, force: true }).catch(() => undefined);
    // What comes again needs a moment.
    await delay(500);
  },
  real: async ({ driver, workspace, run }) => {
    await driver.remove(workspace, run);
    await delay(500);
  },
};
const isThere = anywhere(({ workspace }) => existsSync(workspace));

export const clearingAttacks: readonly Attack[] = [
  {
    id: 'clearing/closed-directories',
    title: 'leaves directories that nobody may enter',
    stoppedBy: 'what rm cannot remove is removed in a sandbox, as the user of the run',
    needs: ['no-root'],
    program: bash('mkdir -p a/b; touch a/b/c; chmod 000 a/b a'),
    evidence: isThere,
    server: removes,
  },
  {
    id: 'clearing/depth',
    title: 'leaves directories 3,000 deep, a path longer than the system takes',
    stoppedBy: 'GNU rm, which goes by descriptor',
    program: python(`
name = "d"
for _ in range(3000):
    os.mkdir(name)
    os.chdir(name)`),
    evidence: isThere,
    server: removes,
  },
  {
    id: 'clearing/immutable',
    title: 'leaves a file that not even root can remove (chattr +i)',
    stoppedBy: 'no capabilities',
    needs: ['root'],
    program: bash('touch kept && chattr +i kept'),
    evidence: isThere,
    server: removes,
  },
  {
    id: 'clearing/comes-again',
    title: 'makes its files anew while they are removed',
    stoppedBy: 'process namespace, which ends with the command',
    program: bash(
      '(setsid bash -c \'for i in $(seq 200); do mkdir -p "$PWD/again/$i"; sleep 0.01; done\' >/dev/null 2>&1 &)',
    ),
    evidence: isThere,
    server: removes,
  },
  {
    id: 'clearing/handed-over-link',
    title: 'is made the owner of the database when its workspace is handed over (symbolic link)',
    stoppedBy: 'chown -h: the link, not what it leads to',
    needs: ['root'],
    program: bash('ln -s "$STATE/slipway.db" link'),
    evidence: anywhere(({ state }) => statSync(join(state, 'slipway.db')).uid !== 0),
    server: {
      when: 'after',
      naive: handOverEach,
      real: ({ driver, workspace, run }) => driver.own(workspace, run),
    },
  },
  {
    id: 'clearing/secret-in-ps',
    title: 'has the secrets of a run shown to everybody on the machine (ps)',
    stoppedBy: 'values travel on descriptors, never on a command line',
    program: bash('true'),
    evidence: answer((isShown) => isShown === true),
    server: {
      when: 'after',
      naive: async () => {
        const value = randomUUID();
        const child = spawn('env', ['sh', '-c', `TOKEN=${value} sleep 2; true`], { stdio: 'ignore' });
        const isShown = await isOnCommandLine(value);
        child.kill();
        return isShown;
      },
      real: async ({ driver, workspace, run, mark }) => {
        const value = randomUUID();
        const stop = new AbortController();
        const running = driver.run({
          argv: ['sleep', '2'],
          environment: { PATH: '/usr/bin:/bin', TOKEN: value, MARK: mark },
          ...{ workspace, run, limits: ordinaryLimits, signal: stop.signal },
          access: { mode: 'public', allowedHosts: [] },
        });
        const isShown = await isOnCommandLine(value);
        stop.abort();
        await running;
        return isShown;
      },
    },
  },
];

async function handOverEach({ workspace }: Scene): Promise<void> {
  for (const name of await readdir(workspace)) await chown(join(workspace, name), 65_534, 65_534);
}

/** Looks again and again, because most command lines of a start are those of a moment. */
async function isOnCommandLine(value: string): Promise<boolean> {
  for (let look = 0; look < 100; look += 1) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    if (pids.some((pid) => textOf(`/proc/${pid}/cmdline`).includes(value))) return true;
    await delay(5);
  }
  return false;
}
