import { closeSync, fsyncSync, linkSync, openSync, renameSync, writeSync } from 'node:fs';

/** Files that must be whole after a power cut, or not there at all. All of it is synchronous: start and upkeep only. */

/** A new file for its owner only. Throws EEXIST when there is one. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Of a file or a directory: what was written, or which names are in it, is on the disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const withoutLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a finished file its name. Throws EEXIST when something has that name. The first name may remain. */
export function publish(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    if (!withoutLinks.has((error as NodeJS.ErrnoException).code)) throw error;
    // A file system without hard links: the name is taken first, so that nothing else is overwritten.
    closeSync(openSync(name, 'wx', 0o600));
    renameSync(path, name);
  }
}
