import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

type Shell = 'bash' | 'zsh' | 'fish';

async function scriptOf(shell: Shell): Promise<string> {
  await using installation = anInstallation();
  const { exitCode, out } = await aCommandLine(installation).run(`completion ${shell}`);
  expect(exitCode).toBe(0);
  return out;
}

const has = (shell: Shell): boolean => spawnSync(shell, ['--version']).status === 0;

/** What the shell itself would offer for the last of the words; `FILES` stands for files. */
function ask(shell: Shell, script: string, words: readonly string[]): readonly string[] {
  using directory = tempDirectory();
  mkdirSync(join(directory.path, 'home'));
  const path = join(directory.path, 'script');
  writeFileSync(path, script);
  const options = shell === 'bash' ? ['--norc', '--noprofile'] : shell === 'zsh' ? ['-f'] : ['--no-config'];
  const { stdout, stderr, status } = spawnSync(
    shell,
    [...options, '-c', questions[shell], shell, path, ...words],
    {
      cwd: directory.path,
      encoding: 'utf8',
      env: { ...process.env, HOME: join(directory.path, 'home') },
    },
  );
  expect([status, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

const questions: Readonly<Record<Shell, string>> = {
  // `compopt` works in a completion only; the rest is what bash itself does with the function.
  bash: `
    compopt() { echo FILES; }
    source "$1"; shift
    complete -p slipway > /dev/null
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _slipway
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The functions of zsh's own completion, as far as the script calls them.
  zsh: `
    compdef() { : }
    _files() { print FILES }
    _describe() { [[ $1 == -o ]] && shift; local each; for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done }
    compadd() { shift; print -rl -- "$@" }
    script=$1; shift
    source $script
    words=("$@"); CURRENT=$#
    _slipway`,
  fish: `
    source $argv[2]
    for each in (complete -C (string join -- ' ' $argv[3..]))
      string split --fields 1 \\t -- $each; or true
    end`,
};

describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', (shell) => {
  const only = it.skipIf(!has(shell));

  only('offers commands, and those below them', async () => {
    const script = await scriptOf(shell);

    const top = ask(shell, script, ['slipway', '']);
    expect(top).toEqual(expect.arrayContaining(['completion', 'db', 'inbox', 'run', 'stack', 'webhook']));
    const run = ask(shell, script, ['slipway', 'run', '']);
    expect(run).toEqual(expect.arrayContaining(['cancel', 'confirm', 'logs', 'trigger']));
    expect(run).not.toContain('webhook');
    expect(ask(shell, script, ['slipway', '--json', 'stack', 'env', ''])).toEqual(
      expect.arrayContaining(['list', 'set', 'unset']),
    );
  });

  only('offers the options of a command, and what they may be', async () => {
    const script = await scriptOf(shell);

    expect(ask(shell, script, ['slipway', 'run', 'logs', '--'])).toEqual(
      expect.arrayContaining(['--follow', '--json', '--phase']),
    );
    expect(ask(shell, script, ['slipway', 'token', 'create', '--role', ''])).toEqual([
      'admin',
      'reader',
      'writer',
    ]);
    expect(ask(shell, script, ['slipway', 'completion', ''])).toEqual(
      expect.arrayContaining(['bash', 'fish', 'zsh']),
    );
  });

  only('offers no option a value that only a person knows, and files where a file is wanted', async () => {
    const script = await scriptOf(shell);

    expect(ask(shell, script, ['slipway', 'token', 'create', '--name', ''])).toEqual([]);
    const files = ask(shell, script, ['slipway', 'db', 'restore', '']);
    expect(files).toContain(shell === 'fish' ? 'script' : 'FILES');
  });
});

it('names every command of the program', async () => {
  const script = await scriptOf('bash');

  for (const words of [' stack env set', ' webhook fixtures', ' inbox replay', ' db rotate-key']) {
    expect(script).toContain(`'${words}'`);
  }
});
