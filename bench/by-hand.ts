/** Somebody at a terminal: the four commands of the specification in a clone, with the environment that a run has. */
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { findTool, toolCacheDir } from '../src/tools.ts';

export interface Terminal {
  /** The clone goes to a commit; not part of what is measured. */
  checkOut(sha: string): Promise<void>;
  /** Milliseconds of a command in the project. */
  type(command: readonly string[]): Promise<number>;
}

const flags = ['--refresh', '--diff', '--show-replacement-steps'];
const commandWithinMs = 180_000;

export async function openTerminal(options: {
  readonly dir: string;
  readonly gitDir: string;
  readonly projectRoot: string;
  readonly passphrase: string;
}): Promise<Terminal> {
  const { dir, gitDir, projectRoot } = options;
  const [tree, state, home] = [join(dir, 'tree'), join(dir, 'state'), join(dir, 'home')];
  await mkdir(state, { recursive: true });
  await mkdir(home);
  const environment = {
    PATH: [dirname(pulumiPath()), dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    USER: 'somebody',
    LANG: 'C.UTF-8',
    NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] ?? '',
    PULUMI_HOME: join(home, '.pulumi'),
    PULUMI_BACKEND_URL: pathToFileURL(state).href,
    PULUMI_STACK: 'dev',
    PULUMI_CONFIG_PASSPHRASE: options.passphrase,
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: 'true',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_SKIP_CONFIRMATIONS: 'true',
    PULUMI_OPTION_NON_INTERACTIVE: 'true',
    PULUMI_OPTION_COLOR: 'never',
    PULUMI_OPTION_SUPPRESS_PROGRESS: 'true',
  };
  const common = { env: environment, extendEnv: false, timeout: commandWithinMs } as const;
  await execa('git', ['clone', '--quiet', gitDir, tree], common);

  return {
    async checkOut(sha) {
      await execa('git', ['fetch', '--quiet', 'origin'], { ...common, cwd: tree });
      await execa('git', ['checkout', '--quiet', '--force', '--detach', sha], { ...common, cwd: tree });
    },
    async type([program = '', ...args]) {
      const startedAt = performance.now();
      await execa(program, args, { ...common, cwd: join(tree, projectRoot) });
      return performance.now() - startedAt;
    },
  };
}

/** Login, select, preview, up: their milliseconds together. */
export async function typeFourCommands(terminal: Terminal): Promise<number> {
  const commands = [
    ['pulumi', 'login'],
    ['pulumi', 'stack', 'select', '--create', '--stack', 'dev'],
    ['pulumi', 'preview', ...flags],
    ['pulumi', 'up', ...flags],
  ];
  let totalMs = 0;
  for (const command of commands) totalMs += await terminal.type(command);
  return totalMs;
}

function pulumiPath(): string {
  const found = findTool('pulumi', {
    setting: process.env['PULUMI_PATH'],
    path: process.env['PATH'] ?? '',
    cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
  });
  if (!found) throw new Error('pulumi is not there: npm run setup');
  return found.path;
}
