import { closeSync, openSync, readFileSync, statSync } from 'node:fs';

/** The device that holds the root directory; null where none can be read. */
export function rootDisk(): string | null {
  const { dev } = statSync('/');
  const numbers = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  try {
    const name = /^DEVNAME=(.+)$/m.exec(readFileSync(`/sys/dev/block/${numbers}/uevent`, 'utf8'))?.[1];
    if (name === undefined) return null;
    // Containers may see it and may not open it.
    closeSync(openSync(`/dev/${name}`, 'r'));
    return `/dev/${name}`;
  } catch {
    return null;
  }
}
