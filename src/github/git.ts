import { execa } from 'execa';
import { UserError } from '../user-error.ts';
import type { FetchToken } from './fetch-token.ts';
import { gitFailure } from './git-errors.ts';

/**
 * The git commands that put one commit on disk, and that tell two apart. Git is told everything by its environment: no file of the
 * host's configuration is read, and the credential is in no argument and in no file, which is also why every
 * call names its directories.
 */
export interface GitSettings {
  /** Where pages and repositories are, e.g. https://github.com */
  readonly webUrl: string;
  /** PATH to find git in. */
  readonly path: string;
  /** A file with every certificate authority to trust, instead of the system's. */
  readonly caBundle: string | null;
  /** In the environment of every git, so that the next life of the server finds and ends what a killed one left. */
  readonly mark?: Readonly<Record<string, string>>;
}

export interface GitTarget {
  readonly gitDir: string;
  readonly workTree: string;
}

/** For a fetch or a checkout. Phases have their own limits; a repository that needs longer needs another way. */
const timeLimitMs = 10 * 60 * 1000;
const killAfterMs = 2000;
const maxErrorBytes = 100_000;
/** Of the one command that says something: the paths of half a million files. */
const maxOutputBytes = 50_000_000;

/** Nothing else is ever given to git for a commit: it could be an option. */
export const isCommitHash = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

export async function initGitDir(settings: GitSettings, gitDir: string, signal: AbortSignal) {
  // Made bare, as otherwise git writes the path of the work tree into the configuration, and then made not
  // bare, so that the tools of a run may use it through a `.git` file. An empty template: no hooks.
  await git(settings, ['init', '--quiet', '--bare', '--template=', gitDir], {}, signal);
  await git(settings, [`--git-dir=${gitDir}`, 'config', 'core.bare', 'false'], {}, signal);
}

export const fetchCommit = (
  settings: GitSettings,
  { gitDir }: GitTarget,
  { sha, ...what }: FetchToken & { readonly sha: string },
  signal: AbortSignal,
): Promise<void> => fetchDepthOne(settings, gitDir, { ...what, shas: [sha], options: [] }, signal);

/** The directories of these commits, without the contents of files. */
export const fetchTrees = (
  settings: GitSettings,
  gitDir: string,
  what: FetchToken & { readonly shas: readonly string[] },
  signal: AbortSignal,
): Promise<void> => fetchDepthOne(settings, gitDir, { ...what, options: ['--filter=blob:none'] }, signal);

async function fetchDepthOne(
  settings: GitSettings,
  gitDir: string,
  what: FetchToken & { readonly shas: readonly string[]; readonly options: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const address = `${settings.webUrl}/${what.fullName}.git`;
  // FETCH_HEAD would only repeat the address. Maintenance would go on in the background.
  const options = ['--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  const args = [`--git-dir=${gitDir}`, 'fetch', ...options, ...what.options, '--no-recurse-submodules'];
  const credential = Buffer.from(`x-access-token:${what.token}`).toString('base64');
  await git(
    settings,
    [...args, address, ...what.shas],
    { [`http.${settings.webUrl}/.extraHeader`]: `Authorization: Basic ${credential}` },
    signal,
    [what.token, credential],
  );
}

/** Paths in which two commits differ; a file that was moved counts in both places. Contents are not looked at. */
export async function diffPaths(
  settings: GitSettings,
  gitDir: string,
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--'];
  const text = await git(settings, [`--git-dir=${gitDir}`, ...args], {}, signal);
  return text.split('\0').filter((path) => path !== '');
}

/** The commit that a full ref or a hash means here. Throws when there is none. */
export async function commitOf(
  settings: GitSettings,
  gitDir: string,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return (await git(settings, [`--git-dir=${gitDir}`, ...args], {}, signal)).trim();
}

/** Where two commits parted. Throws when they have nothing in common, or the history here is too short. */
export async function mergeBase(
  settings: GitSettings,
  gitDir: string,
  [one, other]: readonly [string, string],
  signal: AbortSignal,
): Promise<string> {
  return (await git(settings, [`--git-dir=${gitDir}`, 'merge-base', one, other], {}, signal)).trim();
}

/** Without the token: what a repository can make git do during a checkout finds none. */
export async function checkOut(
  settings: GitSettings,
  target: GitTarget,
  sha: string,
  signal: AbortSignal,
): Promise<void> {
  const args = [`--git-dir=${target.gitDir}`, `--work-tree=${target.workTree}`];
  await git(settings, [...args, 'checkout', '--quiet', '--detach', '--force', sha], {}, signal);
}

/** A question that reads the clone alone; what it says. */
export const ask = (settings: GitSettings, args: readonly string[], signal: AbortSignal): Promise<string> =>
  git(settings, args, {}, signal);

async function git(
  settings: GitSettings,
  args: readonly string[],
  config: Readonly<Record<string, string>>,
  signal: AbortSignal,
  secrets: readonly string[] = [],
): Promise<string> {
  const result = await execa('git', args, {
    env: gitEnvironment(settings, config),
    extendEnv: false,
    stdin: 'ignore',
    maxBuffer: { stdout: maxOutputBytes, stderr: maxErrorBytes },
    stripFinalNewline: false,
    timeout: timeLimitMs,
    cancelSignal: signal,
    forceKillAfterDelay: killAfterMs,
    // git-remote-https is a child; a git that is killed alone leaves it behind.
    killDescendants: true,
    reject: false,
  });
  signal.throwIfAborted();
  if (!result.failed) return result.stdout;
  if (result.timedOut) {
    throw new UserError('source-unavailable', `git took longer than ${timeLimitMs / 60_000} minutes.`, {
      hint: 'Retry the run. A repository with very large files may need them moved elsewhere.',
    });
  }
  throw gitFailure(result.stderr || String(result.code ?? 'git could not be run'), secrets);
}

/** The whole environment of a git process (`config` by GIT_CONFIG_*: it is in no argument and in no file). */
export function gitEnvironment(
  settings: GitSettings,
  config: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = Object.entries({
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    // A directory of the work tree that looks like a bare repository must not be taken for one.
    'safe.bareRepository': 'explicit',
    'http.followRedirects': 'false',
    'submodule.recurse': 'false',
    ...config,
  });
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    PATH: settings.path,
    // Nobody's: curl would look for a .netrc there.
    HOME: '/nonexistent',
    // Error texts are matched in English.
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Plain http is for a stand-in on this machine.
    GIT_ALLOW_PROTOCOL: settings.webUrl.startsWith('http:') ? 'https:http' : 'https',
    GIT_LFS_SKIP_SMUDGE: '1',
    ...settings.mark,
    ...(settings.caBundle === null ? {} : { GIT_SSL_CAINFO: settings.caBundle }),
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(numbered),
  };
}
