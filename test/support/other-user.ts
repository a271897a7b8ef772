/** Somebody who is not root, for servers of tests that root runs. Has no entry in /etc/passwd, and needs none. */
import { spawnSync } from 'node:child_process';

export const otherUser = 60_001;

/** Also what lies above it: a checkout below /root is closed to everybody else. */
export function canRead(path: string, user: number): boolean {
  const look = ['-e', `require('fs').accessSync(${JSON.stringify(path)})`];
  return spawnSync(process.execPath, look, { uid: user, gid: user }).status === 0;
}
