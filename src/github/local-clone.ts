import { UserError } from '../user-error.ts';
import { ask, type GitSettings } from './git.ts';

/** Where a folder of a clone on this machine stands in a repository of GitHub; nothing is fetched. */
export interface ClonePlace {
  /** owner/name, by its remote. */
  readonly repository: string;
  /** The folder below the root of the repository, with forward slashes; "" for the root. */
  readonly path: string;
}

/** `repository` instead of what the remote says. Throws `checkout-unreadable`: no clone, no such remote, or not on our GitHub. */
export async function placeOf(
  directory: string,
  { remote, repository }: { readonly remote: string; readonly repository?: string | undefined },
  settings: Omit<GitSettings, 'mark'>,
): Promise<ClonePlace> {
  const git = { ...settings, mark: { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' } };
  const say = async (args: readonly string[], otherwise: (reason: string) => UserError) => {
    try {
      return (await ask(git, ['-C', directory, ...args], new AbortController().signal)).replace(/\n$/, '');
    } catch (error) {
      if (error instanceof UserError) throw otherwise(error.message);
      throw error;
    }
  };
  const prefix = await say(['rev-parse', '--show-prefix'], (reason) =>
    problem(`${directory} is not in a git repository: ${reason}`, 'Give a folder of a clone.'),
  );
  const path = prefix.replace(/\/$/, '');
  if (repository !== undefined) return { repository, path };
  const url = await say(['config', '--get', `remote.${remote}.url`], () =>
    problem(
      `The repository has no remote ${remote}.`,
      'Say which one leads to GitHub with --remote, or the repository with --repository.',
    ),
  );
  return { repository: repositoryOf(url, settings.webUrl), path };
}

/** https://host/owner/name.git, ssh://git@host/owner/name and git@host:owner/name. */
function repositoryOf(remoteUrl: string, webUrl: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(remoteUrl);
  const url = scp ? URL.parse(`ssh://${scp[1]}/${scp[2]}`) : URL.parse(remoteUrl);
  const ours = new URL(webUrl).hostname;
  // GitHub's ssh over the port of https has a host of its own.
  const host = url?.hostname === `ssh.${ours}` ? ours : url?.hostname;
  if (!url || host?.toLowerCase() !== ours) {
    throw problem(
      `The remote leads to ${host || 'no host'}, not to ${ours}.`,
      'GHE_HOST says which GitHub this is. Or name the repository with --repository owner/name.',
    );
  }
  const [, repository] = /^\/*([\w.-]+\/[\w.-]+?)(?:\.git)?\/*$/.exec(url.pathname) ?? [];
  if (repository !== undefined) return repository;
  throw problem('The remote is not the address of a repository.', 'Name it with --repository owner/name.');
}

const problem = (message: string, hint: string): UserError =>
  new UserError('checkout-unreadable', message, { hint });
