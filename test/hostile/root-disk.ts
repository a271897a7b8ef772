import { existsSync, readFileSync, statSync } from 'node:fs';

/** The device that holds the root directory; null where it has none, as in containers. */
export function rootDisk(): string | null {
  const { dev } = statSync('/');
  const numbers = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  try {
    const name = /^DEVNAME=(.+)$/m.exec(readFileSync(`/sys/dev/block/${numbers}/uevent`, 'utf8'))?.[1];
    return name !== undefined && existsSync(`/dev/${name}`) ? `/dev/${name}` : null;
  } catch {
    return null;
  }
}
