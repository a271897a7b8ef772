/**
 * A server under attack, in a process of its own: as root or not, in network, host name, IPC and mount namespaces where
 * the machine has them, with descriptors that whoever started it forgot. Reads ids of attacks, answers with verdicts.
 *
 * Arguments: `plain` or `bubblewrap`, a directory of its own, a secret.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { closeInheritedDescriptors } from '../../src/sandbox/descriptors.ts';
import type { Attack } from './attack.ts';
import { controls } from './attacks/controls.ts';
import { attacks } from './attacks.ts';
import { createPlainDriver, createSandboxDriver, ordinaryLimits } from './drivers.ts';
import { lacks } from './needs.ts';
import { rootDisk } from './root-disk.ts';
import type { Outcome, Scene } from './scene.ts';
import { setUpStage } from './stage.ts';

export interface Verdict {
  /** Why it was not tried; null when it was. */
  readonly skipped: string | null;
  readonly succeeded: boolean;
  /** What went wrong in the server's own part, which is no verdict on the attack. */
  readonly trouble: string | null;
  readonly kind: Outcome['kind'] | null;
  readonly output: string;
  readonly durationMs: number;
}

const lookEveryMs = 20;
const settlingMs = 50;
const serverPatienceMs = 30_000;
/** Where programs leave something with their mark in its name, given the chance. */
const markedPlaces = [
  '/',
  '/etc',
  '/usr',
  '/usr/local/bin',
  '/opt',
  '/var',
  '/run',
  '/tmp',
  '/var/tmp',
  '/dev/shm',
];

const [kind = '', root = '', secret = ''] = process.argv.slice(2);
const outerNetwork = process.env['HOSTILE_OUTER_NETWORK'];
// As a server does first. The other one is as careless as most.
if (kind === 'bubblewrap') closeInheritedDescriptors();
const driver = kind === 'bubblewrap' ? createSandboxDriver(root) : createPlainDriver();
const stage = await setUpStage({ root, secret, driver, hasNamespaces: outerNetwork !== undefined });

async function attempt(attack: Attack): Promise<Verdict> {
  const mark = `hostile-${randomBytes(8).toString('hex')}`;
  const directory = join(root, mark);
  const workspace = join(directory, 'tree');
  mkdirSync(directory, { mode: 0o700 });
  mkdirSync(workspace, { mode: 0o700 });
  await driver.own(workspace, mark);
  const victim = stage.startVictim();
  const stop = new AbortController();
  const state = {
    outcome: null as Outcome | null,
    answer: undefined as unknown,
    trouble: null as string | null,
  };
  const scene: Scene = {
    ...{ root, state: stage.state, workspace, neighbour: stage.neighbour, secret, mark, driver, run: mark },
    victim: victim.pid ?? 0,
    user: driver.userOf(mark),
    targets: {
      ...stage.targets,
      DISK: rootDisk() ?? '',
      OUTER_NETWORK: outerNetwork ?? '',
      VICTIM_PID: String(victim.pid),
      WORKSPACE: workspace,
      MARK: mark,
    },
    processes: () => processesOf(mark),
    wasReached: (listener) => stage.heard(listener).includes(mark),
    typed: stage.typed,
    keys: () => keysOf(driver.userOf(mark)),
    kernelLog: () => execFileSync('dmesg', { encoding: 'latin1', maxBuffer: 64 * 1024 * 1024 }),
    get outcome() {
      return state.outcome;
    },
    get answer() {
      return state.answer;
    },
  };
  try {
    const serve = async () => {
      const act = attack.server?.[kind === 'bubblewrap' ? 'real' : 'naive'];
      if (act === undefined) return;
      const late = new AbortController();
      state.answer = await Promise.race([
        act(scene).catch((error: unknown) => {
          state.trouble = String(error);
        }),
        delay(serverPatienceMs, undefined, { signal: late.signal }),
      ]);
      late.abort();
    };
    let isOver = false;
    let isSeen = false;
    const watch = async () => {
      while (attack.evidence.when === 'during' && !isSeen && !isOver) {
        isSeen = attack.evidence.seen(scene);
        await delay(lookEveryMs);
      }
      if (isSeen) stop.abort();
    };
    const running = driver.run({
      argv: attack.program,
      environment: { PATH: '/usr/bin:/bin', ...scene.targets, ...attack.environment?.(scene) },
      ...{ workspace, run: mark, access: attack.access ?? null, signal: stop.signal },
      limits: { ...ordinaryLimits, ...attack.limits },
    });
    const ended = running.then((outcome) => {
      isOver = true;
      state.outcome = outcome;
    });
    await Promise.all([ended, watch(), attack.server?.when === 'during' ? serve() : null]);
    if (attack.server?.when === 'after') await serve();
    // What was sent last is still on its way through the server.
    if (attack.evidence.when === 'after') await delay(settlingMs);
    const { kind: how, output, durationMs } = await running;
    const succeeded = attack.evidence.when === 'during' ? isSeen : attack.evidence.seen(scene);
    return { skipped: null, succeeded, trouble: state.trouble, kind: how, output, durationMs };
  } finally {
    victim.kill('SIGKILL');
    clearAway(mark, directory);
  }
}

function keysOf(user: number): string {
  const read = ['cat', '/proc/keys'];
  const as = ['setpriv', '--reuid', String(user), '--clear-groups', '--', ...read];
  const [program = '', ...options] = user === process.getuid?.() ? read : as;
  return execFileSync(program, options, { encoding: 'utf8' });
}

/** Host pids. Nothing that we start for ourselves bears the mark. */
function processesOf(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`MARK=${mark}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Whatever the attempt left, here or elsewhere, of a server that does not clear up. */
function clearAway(mark: string, directory: string): void {
  for (let pids = processesOf(mark), tries = 0; pids.length > 0 && tries < 100; tries += 1) {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    pids = processesOf(mark);
  }
  for (const place of markedPlaces) rmSync(join(place, mark), { recursive: true, force: true });
  const group = join('/sys/fs/cgroup/pids', mark);
  if (existsSync(group)) rmdirSync(group);
  const script = 'chattr -R -i "$0"; chmod -R u+rwX "$0"; rm -rf "$0"';
  execFileSync('sh', ['-c', `{ ${script}; } 2>/dev/null`, directory]);
}

process.stdout.write('ready\n');
for await (const id of createInterface({ input: process.stdin })) {
  const attack = [...attacks, ...controls].find((each) => each.id === id);
  if (attack === undefined) throw new Error(`unknown attack ${id}`);
  const skipped = lacks(attack.needs);
  const verdict: Verdict =
    skipped === null
      ? await attempt(attack)
      : { skipped, succeeded: false, trouble: null, kind: null, output: '', durationMs: 0 };
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
}
await stage[Symbol.asyncDispose]();
