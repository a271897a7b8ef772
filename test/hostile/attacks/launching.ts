/** The way into the sandbox: what starts it, what is mounted, and what becomes of it without its server. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Mount } from '../../../src/sandbox/sandbox.ts';
import { type Attack, bash } from '../attack.ts';
import { ordinaryLimits } from '../drivers.ts';
import { answerTells, exists, survives } from '../evidence.ts';
import type { Scene } from '../scene.ts';

const execute = promisify(execFile);
const doomedServer = fileURLToPath(import.meta.resolve('../doomed-server.ts'));

const ranOutside = exists(({ root, mark }) => join(root, `${mark}-ran`));

/** For the server to keep while the program runs; the sandbox does not show it. */
function leaveScript({ root, mark }: Scene, name: string, text: string): string {
  const path = join(root, mark, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

export const launchingAttacks: readonly Attack[] = [
  {
    id: 'launching/preload',
    title: 'has what starts the sandbox load a library of the repository (LD_PRELOAD)',
    stoppedBy: 'the launchers have an environment of their own; that of the command travels on a descriptor',
    needs: ['gcc'],
    program: bash('true'),
    environment(scene) {
      const ran = join(scene.root, `${scene.mark}-ran`);
      const code = `#include <fcntl.h>\n__attribute__((constructor)) void ran(void) { creat("${ran}", 0600); }\n`;
      const source = leaveScript(scene, 'evil.c', code);
      const library = join(scene.root, scene.mark, 'evil.so');
      execFileSync('gcc', ['-shared', '-fPIC', '-o', library, source]);
      return { LD_PRELOAD: library, LD_AUDIT: library };
    },
    evidence: ranOutside,
  },
  {
    id: 'launching/variables',
    title:
      'has what starts the sandbox and its network run a script of the repository (BASH_ENV, NODE_OPTIONS, PYTHONPATH)',
    stoppedBy: 'the launchers and the forwarder have an environment of their own',
    program: bash('true'),
    access: { mode: 'public', allowedHosts: [] },
    environment(scene) {
      const ran = join(scene.root, `${scene.mark}-ran`);
      const places = join(scene.root, scene.mark, 'python');
      mkdirSync(places);
      writeFileSync(join(places, 'sitecustomize.py'), `open(${JSON.stringify(ran)}, "w")\n`);
      return {
        BASH_ENV: leaveScript(scene, 'evil.sh', `touch '${ran}'\n`),
        NODE_OPTIONS: `--require=${leaveScript(scene, 'evil.cjs', `require('fs').writeFileSync('${ran}', '')\n`)}`,
        PYTHONPATH: places,
      };
    },
    evidence: ranOutside,
  },
  {
    id: 'launching/swapped-source',
    title: 'swaps a directory that is mounted for the next command for a link to the state of the server',
    stoppedBy: 'nothing is mounted from a path below one that a run can write',
    program: bash('ln -s "$STATE" infra'),
    evidence: answerTells,
    server: {
      when: 'after',
      naive: ({ workspace }) =>
        bubblewrap(['--bind', join(workspace, 'infra'), '/mnt'], ['cat', '/mnt/slipway.db']),
      real: (scene) =>
        nextCommand(scene, 'cat /infra/slipway.db', {
          source: join(scene.workspace, 'infra'),
          target: '/infra',
          writable: false,
        }),
    },
  },
  {
    id: 'launching/steered-target',
    title: 'has bwrap make a file in the state of the server (CVE-2026-87766)',
    stoppedBy: 'nothing is mounted below a directory that a run can write',
    needs: ['flawed-bwrap'],
    program: bash('ln -s "/oldroot$STATE" steer'),
    evidence: exists(({ state, mark }) => join(state, mark)),
    server: {
      when: 'after',
      naive: ({ workspace, mark }) =>
        bubblewrap(['--bind', workspace, '/srv', '--ro-bind', '/dev/null', `/srv/steer/${mark}`], ['true']),
      real: (scene) =>
        nextCommand(scene, 'true', {
          source: '/dev/null',
          target: `/workspace/steer/${scene.mark}`,
          writable: false,
        }),
    },
  },
  {
    id: 'launching/killed-server',
    title: 'goes on after the server was killed (kill -9)',
    stoppedBy: 'sandboxes die with the thread that started them (--die-with-parent)',
    program: bash('true'),
    evidence: survives,
    server: { when: 'after', naive: killServer, real: killServer },
  },
];

/** As one would call it without having read how it looks for its mount points. */
async function bubblewrap(mounts: readonly string[], argv: readonly string[]): Promise<string> {
  const tree = ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'];
  const options = [...tree, '--symlink', 'usr/lib64', '/lib64', ...mounts];
  const { stdout } = await execute('bwrap', [...options, '--', ...argv]);
  return stdout;
}

/** What the next command of the run sees with one more mount, or why it is not run. */
async function nextCommand({ driver, workspace, run }: Scene, text: string, mount: Mount): Promise<string> {
  let output = '';
  const running = driver.sandbox.run({
    identity: { key: run },
    argv: ['bash', '-c', text],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/workspace',
    mounts: [{ source: workspace, target: '/workspace', writable: true }, mount],
    network: null,
    limits: ordinaryLimits,
    onOutput: (_stream, chunk) => {
      output += Buffer.from(chunk).toString('latin1');
    },
    signal: new AbortController().signal,
  });
  const result = await running.catch((error: unknown) => String(error));
  return JSON.stringify({ result, output });
}

async function killServer({ driver, root, mark, workspace, run, processes }: Scene): Promise<void> {
  const directory = join(root, mark, 'doomed');
  await mkdir(directory);
  const argv = [doomedServer, driver.kind, directory, workspace, run];
  const server = spawn(process.execPath, argv, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
  const ended = once(server, 'exit');
  await until(() => processes().length >= 3, 20_000);
  if (processes().length === 0) throw new Error('its command did not start');
  server.kill('SIGKILL');
  await ended;
  // On a careless server they never are.
  await until(() => processes().length === 0, driver.kind === 'plain' ? 1000 : 15_000);
}

async function until(look: () => boolean, patienceMs: number): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !look() && Date.now() < deadline; ) await delay(20);
}
