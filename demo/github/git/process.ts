import { execa } from 'execa';

/** The environment of every Git process here: nothing of the machine's or the user's configuration. */
export const gitEnvironment = {
  PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  // Housekeeping in the background would outlive the command, and the directory that a test removes.
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'gc.auto',
  GIT_CONFIG_VALUE_0: '0',
  GIT_CONFIG_KEY_1: 'maintenance.auto',
  GIT_CONFIG_VALUE_1: 'false',
} as const;

/** Runs one Git command on a bare repository and gives what it printed; a failure throws with Git's text. */
export async function git(
  gitDir: string,
  args: readonly string[],
  input?: string | Uint8Array,
): Promise<string> {
  const { stdout } = await execa('git', [`--git-dir=${gitDir}`, ...args], {
    ...processOptions,
    input: input ?? '',
  });
  return stdout;
}

/** The same for questions whose "no" is an exit code: null when Git failed. */
export async function tryGit(gitDir: string, args: readonly string[]): Promise<string | null> {
  const result = await execa('git', [`--git-dir=${gitDir}`, ...args], {
    ...processOptions,
    input: '',
    reject: false,
  });
  return result.exitCode === 0 ? result.stdout : null;
}

/** File contents, byte for byte. */
export async function gitBytes(gitDir: string, args: readonly string[]): Promise<Uint8Array> {
  const { stdout } = await execa('git', [`--git-dir=${gitDir}`, ...args], {
    ...processOptions,
    encoding: 'buffer',
    input: '',
  });
  return stdout;
}

const processOptions = {
  env: gitEnvironment,
  extendEnv: false,
  stripFinalNewline: false,
  timeout: 60_000,
  maxBuffer: 200_000_000,
} as const;
