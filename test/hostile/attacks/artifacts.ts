/** What a run leaves for the server to read, and to work with. */
import { execFile } from 'node:child_process';
import { constants, cp, lstat, mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTerminalText } from '../../../src/cli/terminal-text.ts';
import { checkOut, commitOf, type GitSettings, initGitDir } from '../../../src/github/git.ts';
import { readOutput } from '../../../src/worker/command-runner.ts';
import { copyLocalState } from '../../../src/worker/local-state.ts';
import { findProjectRoot } from '../../../src/worker/project-root.ts';
import { type Attack, bash, python } from '../attack.ts';
import { answer, answerTells, exists } from '../evidence.ts';
import type { Scene } from '../scene.ts';

const execute = promisify(execFile);
const planBytes = 1024 * 1024;
const never = new AbortController().signal;

const readsPlan: Attack['server'] = {
  when: 'after',
  naive: ({ workspace }) => readFile(join(workspace, 'plan.json'), 'latin1'),
  real: ({ workspace }) => readByReal(workspace),
};

async function readByReal(workspace: string): Promise<string> {
  const stream = await readOutput(join(workspace, 'plan.json'), planBytes);
  return stream === null ? 'refused' : Buffer.concat(await Array.fromAsync(stream)).toString('latin1');
}

/** The reader looks first, as careful people do, and then opens what lies there by then. */
async function readAfterLook(workspace: string): Promise<string> {
  const path = join(workspace, 'plan.json');
  if (!(await lstat(path)).isFile()) return 'refused';
  await delay(2);
  return readFile(path, 'latin1');
}

async function repeatedly(read: () => Promise<string>, { secret }: Scene): Promise<string> {
  for (const deadline = Date.now() + 6000; Date.now() < deadline; ) {
    const text = await read().catch(() => '');
    if (text.includes(secret)) return text;
  }
  return '';
}

const git: GitSettings = { webUrl: 'https://git.example', path: '/usr/bin:/bin', caBundle: null };

/** A repository of the server with one commit, outside of what runs write; whoever comes later finds its hash in HEAD. */
async function commitOfServer({ root, mark }: Scene): Promise<{ gitDir: string; sha: string }> {
  const gitDir = join(root, mark, 'git');
  const source = join(root, mark, 'source');
  await mkdir(join(source, 'infra'), { recursive: true });
  await writeFile(join(source, 'infra', mark), 'of the commit\n');
  await initGitDir(git, gitDir, never);
  const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null' };
  const at = [`--git-dir=${gitDir}`, `--work-tree=${source}`];
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];
  await execute('git', [...at, 'add', '.'], { env });
  await execute('git', [...at, ...who, 'commit', '--quiet', '-m', 'One'], { env });
  return { gitDir, sha: await commitOf(git, gitDir, 'HEAD', never) };
}

async function checkOutByReal(scene: Scene): Promise<void> {
  const { gitDir, sha } = await commitOfServer(scene);
  await checkOut(git, { gitDir, workTree: scene.workspace }, sha, never);
}

export const artifactAttacks: readonly Attack[] = [
  {
    id: 'artifacts/link',
    title: 'has the server read its own database as a plan (symbolic link)',
    stoppedBy: 'O_NOFOLLOW',
    program: bash('ln -s "$STATE/slipway.db" plan.json'),
    evidence: answerTells,
    server: readsPlan,
  },
  {
    id: 'artifacts/swapped',
    title: 'swaps the plan for a link between the look and the read',
    stoppedBy: 'one open with O_NOFOLLOW, then fstat',
    program: python(`
os.symlink(env["STATE"] + "/slipway.db", "link")
with open("plain", "w") as file:
    file.write("{}")
ends = time.monotonic() + 6.2
while time.monotonic() < ends:
    for name in ("plain", "link"):
        os.link(name, "next", follow_symlinks=False)
        os.rename("next", "plan.json")
        if os.path.exists("next"):
            os.unlink("next")`),
    evidence: answerTells,
    server: {
      when: 'during',
      naive: (scene) => repeatedly(() => readAfterLook(scene.workspace), scene),
      real: (scene) => repeatedly(() => readByReal(scene.workspace), scene),
    },
  },
  {
    id: 'artifacts/pipe',
    title: 'has the server wait for ever for a plan that is a pipe',
    stoppedBy: 'O_NONBLOCK; regular files only',
    program: bash('mkfifo plan.json'),
    evidence: answer((told) => told === undefined),
    server: {
      when: 'after',
      naive: async ({ workspace }) => {
        const path = join(workspace, 'plan.json');
        const reading = readFile(path, 'latin1');
        const told = await Promise.race([reading, delay(1500)]);
        // The thread that reads would keep the server from ending.
        if (told === undefined) await (await open(path, constants.O_WRONLY | constants.O_NONBLOCK)).close();
        return told;
      },
      real: ({ workspace }) => readByReal(workspace),
    },
  },
  {
    id: 'artifacts/holes',
    title: 'has the server read 256 MiB that take no room on the disk',
    stoppedBy: 'cap of the size, before anything is read',
    program: bash('truncate -s 256M plan.json'),
    evidence: answer((told) => String(told).length > planBytes),
    server: readsPlan,
  },
  {
    id: 'artifacts/growing',
    title: 'lets a plan grow while it is read',
    stoppedBy: 'no more is read than there was at the start',
    program: python(`
ends = time.monotonic() + 6.2
with open("plan.json", "wb", 0) as file:
    written = 0
    while time.monotonic() < ends and written < 64 << 20:
        file.write(bytes(65536))
        written += 65536
        time.sleep(0.002)`),
    limits: { diskBytes: 256 * 1024 * 1024 },
    evidence: answer((told) => Number(told) > planBytes),
    server: {
      when: 'during',
      naive: async ({ workspace }) => {
        await until(async () => (await lstat(join(workspace, 'plan.json'))).size > 0);
        const { size } = await lstat(join(workspace, 'plan.json'));
        if (size > planBytes) return 0;
        return (await execute('sh', ['-c', 'sleep 0.5; cat "$0" | wc -c', join(workspace, 'plan.json')]))
          .stdout;
      },
      real: async ({ workspace }) => {
        await until(async () => (await lstat(join(workspace, 'plan.json'))).size > 0);
        const stream = await readOutput(join(workspace, 'plan.json'), planBytes);
        if (stream === null) return 0;
        await delay(500);
        return Buffer.concat(await Array.fromAsync(stream)).length;
      },
    },
  },
  {
    id: 'artifacts/project-root',
    title: 'makes the directory of its project a link to the state of the server',
    stoppedBy: 'every link on the way is followed and has to stay in the checkout',
    program: bash('ln -s "$STATE" infra'),
    evidence: answer((told) => String(told).includes('slipway.db')),
    server: {
      when: 'after',
      naive: async ({ workspace }) => (await readdir(join(workspace, 'infra'))).join(),
      real: async ({ workspace }) => {
        const tree = { host: { tree: workspace }, inside: { tree: '/workspace' } };
        const anything = { matches: () => true, called: 'file' };
        return JSON.stringify(await findProjectRoot(tree, 'infra', anything));
      },
    },
  },
  {
    id: 'artifacts/git-settings',
    title: 'has git of the server start a program that the settings of its repository name',
    stoppedBy: 'git directory outside of the workspace; git is given every directory and setting',
    program: bash(`
git init --quiet .
printf '#!/bin/sh\\ntouch "%s/%s"\\n' "$ROOT" "$MARK-ran" > run.sh
chmod +x run.sh
git config core.fsmonitor "$WORKSPACE/run.sh"
cp run.sh .git/hooks/post-checkout
printf '* filter=evil\\n' > .gitattributes
git config filter.evil.smudge "$WORKSPACE/run.sh"`),
    evidence: exists(({ root, mark }) => join(root, `${mark}-ran`)),
    server: {
      when: 'after',
      naive: ({ workspace }) =>
        execute('git', ['-C', workspace, '-c', 'safe.directory=*', 'status'], {
          env: { PATH: '/usr/bin:/bin' },
        }),
      real: checkOutByReal,
    },
  },
  {
    id: 'artifacts/next-checkout',
    title:
      'steers the next checkout of its workspace into the state of the server (link in place of a directory)',
    stoppedBy: 'git, which follows no link in a work tree',
    program: bash('ln -s "$STATE" infra'),
    evidence: exists(({ state, mark }) => join(state, mark)),
    server: {
      when: 'after',
      naive: async (scene) => {
        await commitOfServer(scene);
        const to = join(scene.workspace, 'infra', scene.mark);
        await cp(join(scene.root, scene.mark, 'source', 'infra', scene.mark), to);
      },
      real: checkOutByReal,
    },
  },
  {
    id: 'artifacts/escapes',
    title: 'commands the terminal of who reads its log (title, clipboard, answers)',
    stoppedBy: 'the command line shows text and colours on a terminal, nothing else',
    program: bash(String.raw`printf '\033]52;c;cm0gLXJmIH4K\007 \033]0;%s\007 \033[6n' "$MARK"`),
    evidence: answer((shown) => String(shown).includes('\u001b')),
    server: {
      when: 'after',
      naive: async ({ outcome }) => outcome?.output,
      real: async ({ outcome }) => createTerminalText()(outcome?.output ?? ''),
    },
  },
  {
    id: 'artifacts/local-state',
    title: 'has the server copy its own key into the state of a preview',
    stoppedBy: 'the copy is made in the sandbox, links as links',
    program: bash('ln -s "$STATE/secret.key" stack.json'),
    evidence: answerTells,
    server: {
      when: 'after',
      naive: async (scene) => {
        const to = join(scene.root, scene.mark, 'copy');
        await cp(scene.workspace, to, { recursive: true, dereference: true });
        return readFile(join(to, 'stack.json'), 'latin1');
      },
      real: async ({ driver, root, mark, workspace, run }) => {
        const to = join(root, mark, 'copy');
        await copyLocalState(driver.sandbox, workspace, to, { key: run }, never);
        const copied = join(to, 'stack.json');
        return (await lstat(copied)).isFile()
          ? readFile(copied, 'latin1')
          : 'a link, which leads nowhere inside';
      },
    },
  },
];

async function until(look: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 3000; Date.now() < deadline; ) {
    if (await look().catch(() => false)) return;
    await delay(2);
  }
}
