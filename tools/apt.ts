import { existsSync } from 'node:fs';
import { execa } from 'execa';
import { UserError } from '../src/user-error.ts';
import { say, withElapsedTime } from './progress.ts';

/** Installs a package of the distribution when that needs no question to the user: as root on a Debian-like system. */
export async function installPackage(name: string, signal: AbortSignal): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync('/etc/debian_version')) {
    throw new UserError('package-missing', `${name} is not installed`, {
      hint: `Install the package \`${name}\` of your distribution, for example: sudo apt-get install ${name}`,
    });
  }
  await withElapsedTime(`installing ${name} with apt-get`, async () => {
    const install = ['install', '-y', '--no-install-recommends', name];
    if ((await aptGet(install, signal)).ok) return;
    // A fresh image has no package lists, an old one has lists of files that are gone.
    await aptGet(['update'], signal);
    const second = await aptGet(install, signal);
    if (second.ok) return;
    for (const line of second.lastLines) say(`  ${line}`);
    throw new UserError('package-missing', `apt-get could not install ${name}`, {
      hint: `Install ${name} by hand.`,
    });
  });
}

async function aptGet(
  args: string[],
  cancelSignal: AbortSignal,
): Promise<{ ok: boolean; lastLines: string[] }> {
  // Another apt-get may be at work (unattended upgrades): wait for it two minutes instead of failing at once.
  const result = await execa('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'ignore',
    all: true,
    cancelSignal,
    reject: false,
  });
  cancelSignal.throwIfAborted();
  return { ok: !result.failed, lastLines: result.all.trimEnd().split('\n').slice(-10) };
}
