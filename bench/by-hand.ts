/** Somebody at a terminal: the commands of a sample in a clone, with the environment that a run has. */
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { findTool, settingOf, type ToolName, toolCacheDir } from '../src/tools.ts';
import { passphrase, type Sample } from './run-samples.ts';

export interface Terminal {
  /** The clone goes to a commit; not part of what is measured. */
  checkOut(sha: string): Promise<void>;
  /** Milliseconds of what has to be done before the tool. */
  prepare(): Promise<number>;
  /** Milliseconds of the commands of the tool together. */
  typeCommands(): Promise<number>;
}

const commandWithinMs = 600_000;

export async function openTerminal(
  sample: Sample,
  { dir, gitDir }: { readonly dir: string; readonly gitDir: string },
): Promise<Terminal> {
  const [tree, state, home] = [join(dir, 'tree'), join(dir, 'state'), join(dir, 'home')];
  await mkdir(state, { recursive: true });
  await mkdir(home);
  const cwd = join(tree, sample.program);
  const common = {
    env: environmentOf(sample, { state, home, cwd }),
    extendEnv: false,
    timeout: commandWithinMs,
  } as const;
  await execa('git', ['clone', '--quiet', gitDir, tree], common);

  async function time(commands: readonly (readonly [string, ...string[]])[]): Promise<number> {
    const startedAt = performance.now();
    for (const [program, ...args] of commands)
      await execa(program, args, { ...common, cwd, stdin: 'ignore' });
    return performance.now() - startedAt;
  }

  return {
    async checkOut(sha) {
      await execa('git', ['fetch', '--quiet', 'origin'], { ...common, cwd: tree });
      await execa('git', ['checkout', '--quiet', '--force', '--detach', sha], { ...common, cwd: tree });
    },
    // What this shell exports ends with it; PATH has it already.
    prepare: () =>
      sample.prepare.length === 0 ? Promise.resolve(0) : time([['sh', '-ec', sample.prepare.join('\n')]]),
    typeCommands: () => time(sample.typed),
  };
}

function environmentOf(
  sample: Sample,
  { state, home, cwd }: { state: string; home: string; cwd: string },
): Record<string, string> {
  const tools = sample.typed.map(([program]) => dirname(pathOf(program)));
  return {
    // As after `. venv/bin/activate`, where there is one.
    PATH: [join(cwd, 'venv/bin'), ...new Set(tools), dirname(process.execPath), process.env['PATH']].join(
      delimiter,
    ),
    HOME: home,
    USER: 'somebody',
    LANG: 'C.UTF-8',
    NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] ?? '',
    CHECKPOINT_DISABLE: 'true',
    PULUMI_HOME: join(home, '.pulumi'),
    PULUMI_BACKEND_URL: pathToFileURL(state).href,
    PULUMI_STACK: 'dev',
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: 'true',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_SKIP_CONFIRMATIONS: 'true',
    PULUMI_OPTION_NON_INTERACTIVE: 'true',
    PULUMI_OPTION_COLOR: 'never',
    PULUMI_OPTION_SUPPRESS_PROGRESS: 'true',
  };
}

const isTool = (name: string): name is ToolName & ('pulumi' | 'terraform' | 'tofu') =>
  ['pulumi', 'terraform', 'tofu'].includes(name);

function pathOf(program: string): string {
  if (!isTool(program)) throw new Error(`${program} is no tool`);
  const setting = settingOf(program);
  const found = findTool(program, {
    setting: setting === undefined ? undefined : process.env[setting],
    path: process.env['PATH'] ?? '',
    cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
  });
  if (!found) throw new Error(`${program} is not there`);
  return found.path;
}
