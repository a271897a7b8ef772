import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryFilePath } from '../../stacks/managed.ts';
import { UserError } from '../../user-error.ts';
import { commitOf, diffPaths, type GitSettings, isCommitHash, mergeBase } from '../git.ts';

/** A clone on this machine, in the place of GitHub: nothing is fetched, nothing is changed. */
export interface Checkout {
  /** The repository file as it lies there, committed or not; null without one. */
  repositoryFile(): Promise<Uint8Array | null>;
  /** What `head` changed since it left `base` (a branch or a commit); null when this clone cannot tell. */
  changedPaths(base: string, head: string): Promise<readonly string[] | null>;
}

/** A clone that lacks trees would fetch them without being asked. */
const noNetwork = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

export function openCheckout(directory: string, settings: Omit<GitSettings, 'mark'>): Checkout {
  const git = { ...settings, mark: noNetwork };
  const gitDir = join(directory, '.git');
  const signal = new AbortController().signal;

  async function find(name: string): Promise<string> {
    if (isCommitHash(name) || name === 'HEAD') return commitOf(git, gitDir, name, signal);
    // What GitHub has, as far as this clone knows, before what is here.
    const remote = commitOf(git, gitDir, `refs/remotes/origin/${name}`, signal);
    return remote.catch(() => commitOf(git, gitDir, `refs/heads/${name}`, signal));
  }

  return {
    async repositoryFile() {
      const path = join(directory, repositoryFilePath);
      try {
        // A link leads out of the checkout, to what may have no end; a pipe is never read.
        if ((await lstat(path)).isFile()) return await readFile(path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR') return null;
        throw new UserError('checkout-unreadable', `${repositoryFilePath} cannot be read (${code}).`);
      }
      throw new UserError('checkout-unreadable', `${repositoryFilePath} is no file.`);
    },

    async changedPaths(base, head) {
      try {
        const [theirs, ours] = [await find(base), await find(head)];
        const from = await mergeBase(git, gitDir, [theirs, ours], signal);
        return await diffPaths(git, gitDir, { from, to: ours }, signal);
      } catch (error) {
        if (error instanceof UserError) return null;
        throw error;
      }
    },
  };
}
