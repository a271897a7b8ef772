/** Directories that runs write: handing one over, and removing it again, whatever is in it by then. */
import { execFile } from 'node:child_process';
import { lchown, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** GNU tools, by argv: they walk by descriptor and follow no symlink, so no path length and no swapped name matters. */
export async function ownDirectory(
  directory: string,
  user: number,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  // Most are fresh, and two processes for each would be a tenth of a small command's time.
  if ((await readdir(directory)).length === 0) return lchown(directory, user, user);
  const options = { env: environment, cwd: '/' };
  // A hard link made before: `git clone` of a local repository makes them, and the run could write the original.
  // Those of the run itself are fine, so that a workspace can be handed over a second time.
  const links = ['-type', 'f', '-links', '+1', '!', '-uid', String(user), '-print', '-quit'];
  const { stdout } = await execute('find', [directory, '-xdev', ...links], options);
  if (stdout !== '') throw new Error(`${stdout.trim()} is a hard link, so a run must not own it`);
  await execute('chown', ['-R', '-h', '-P', '--', `${user}:${user}`, directory], options);
}

/**
 * The directory is gone afterwards, or this rejects. Not fs.rm, which fails on paths
 * longer than PATH_MAX and works in the server's own threads. `empty` removes what is left, closed directories for one, from inside a sandbox.
 */
export async function removeDirectory(
  directory: string,
  environment: NodeJS.ProcessEnv,
  empty: () => Promise<void>,
): Promise<void> {
  const remove = () => execute('rm', ['-rf', '--', directory], { env: environment, cwd: '/' });
  try {
    await remove();
  } catch {
    await empty();
    await remove();
  }
}
