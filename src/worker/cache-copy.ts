import { defaultLimits } from '../sandbox/limits.ts';
import type { RunIdentity, Sandbox, SandboxResult } from '../sandbox/sandbox.ts';

/** Commands of ours about a cache: in the sandbox, as the user that owns it. Never by the server: runs write caches. */
const ours = {
  environment: { PATH: '/usr/bin:/bin' },
  network: null,
  limits: { ...defaultLimits, wallMs: 2 * 60_000 },
} as const;

/** Whether the runs of that identity can use the directory at all; opens it again when one of them closed it. */
export function tryDirectory(
  sandbox: Sandbox,
  directory: string,
  identity: RunIdentity,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const isMounted = sandbox.kind !== 'none';
  return sandbox.run({
    ...ours,
    identity,
    argv: ['sh', '-c', 'chmod u+rwx . && test -r . -a -w . -a -x .'],
    workingDirectory: isMounted ? '/cache' : directory,
    mounts: isMounted ? [{ source: directory, target: '/cache', writable: true }] : [],
    onOutput: () => {},
    signal,
  });
}

/**
 * No link is followed. What was being written, and was gone when its turn came, makes a second try; Go's directories are
 * closed to writing (0555) and have to be opened before they can be emptied.
 */
const copyScript = `
copy() { cp -RP --reflink=auto --preserve=mode,timestamps "$1/." "$2"; }
copy "$1" "$2" && exit
chmod -R u+rwX "$2" && find "$2" -mindepth 1 -delete && copy "$1" "$2"
`;

/** Copies a cache that other runs may be writing into a directory of the same identity. */
export function copyDirectory(
  sandbox: Sandbox,
  directories: { readonly from: string; readonly to: string },
  identity: RunIdentity,
  options: { readonly keepFreeBytes: number | null; readonly signal: AbortSignal },
): Promise<SandboxResult> {
  const isMounted = sandbox.kind !== 'none';
  const [from, to] = isMounted ? ['/from', '/to'] : [directories.from, directories.to];
  return sandbox.run({
    ...ours,
    limits: { ...ours.limits, freeBytes: options.keepFreeBytes },
    identity,
    argv: ['sh', '-c', copyScript, 'copy', from, to],
    workingDirectory: '/',
    mounts: isMounted
      ? [
          { source: directories.from, target: from, writable: false },
          { source: directories.to, target: to, writable: true },
        ]
      : [],
    watched: [directories.to],
    onOutput: () => {},
    signal: options.signal,
  });
}
