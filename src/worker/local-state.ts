import { mkdir, readdir } from 'node:fs/promises';
import { defaultLimits } from '../sandbox/limits.ts';
import type { RunIdentity, Sandbox } from '../sandbox/sandbox.ts';
import { UserError } from '../user-error.ts';

/** Commands of ours, of the system's own tools. */
const small = {
  environment: { PATH: '/usr/bin:/bin' },
  network: null,
  limits: { ...defaultLimits, wallMs: 5 * 60_000 },
} as const;

/** Creates the directory of a local state; from then on it belongs to the runs of its repository. */
export async function openLocalState(
  sandbox: Sandbox,
  directory: string,
  identity: RunIdentity,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Not once it holds anything: the server must not walk through what a run may be changing.
  if ((await readdir(directory)).length === 0) await sandbox.own(directory, identity);
}

/** What the tool's own command could not mend, the tool will name. */
export async function mendLocalState(
  sandbox: Sandbox,
  directory: string,
  identity: RunIdentity,
  argv: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<void> {
  const isMounted = sandbox.kind !== 'none';
  await sandbox.run({
    ...small,
    identity,
    argv,
    workingDirectory: isMounted ? '/state' : directory,
    mounts: isMounted ? [{ source: directory, target: '/state', writable: true }] : [],
    onOutput: () => {},
    signal,
  });
}

/** A state file is replaced by renaming; a copy that met one in between is made again. */
const attempts = 3;

/**
 * Copies a local state that other runs may be writing. By a command in the sandbox, never by the server: a
 * run could swap a file for a link to the server's own while the server reads.
 */
export async function copyLocalState(
  sandbox: Sandbox,
  from: string,
  to: string,
  identity: RunIdentity,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  await sandbox.own(to, identity);
  const isMounted = sandbox.kind !== 'none';
  const [source, target] = isMounted ? ['/from', '/to'] : [from, to];
  let output = '';
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    output = '';
    const result = await sandbox.run({
      ...small,
      identity,
      argv: ['cp', '-RP', '--preserve=mode,timestamps', `${source}/.`, target],
      workingDirectory: '/',
      mounts: isMounted
        ? [
            { source: from, target: source, writable: false },
            { source: to, target, writable: true },
          ]
        : [],
      onOutput: (_, chunk) => {
        output = (output + Buffer.from(chunk).toString('utf8')).slice(-500);
      },
      signal,
    });
    if (result.kind === 'exited' && result.exitCode === 0) return;
    if (result.kind !== 'exited') break;
  }
  throw new UserError('local-state-unreadable', 'The local state could not be copied for the preview.', {
    hint: 'Retry the run when no other run of the repository is writing its state.',
    cause: new Error(output),
  });
}
