/** A command as the rest of this machine sees it: under whom it runs, what its command line tells, how it ends. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, isRunning, type Process, readProcesses, sendSignal } from '../process-tree.ts';
import type { Sandbox } from '../sandbox.ts';
import { ask } from './ask.ts';
import { failed, passed, type SelfTestItem } from './item.ts';

/** The kernel takes 3-14 ms; a machine that takes this long is busy beyond use. */
const deathMs = 2000;

interface Seen {
  /** Everything that belongs to the command, the launch before the sandbox included. */
  readonly processes: readonly Process[];
  /** Command lines of this machine with the secret in them. */
  readonly tellers: readonly string[];
  /** The real user of the program inside, as this machine numbers it; null when it could not be told. */
  readonly user: number | null;
}

/** Who starts the command is killed, as it is when the server is. */
export async function probeFromOutside(sandbox: Sandbox): Promise<SelfTestItem[]> {
  const secret = randomUUID();
  const mark = `self-test-${randomUUID()}`;
  let seen: Seen | null = null;
  const over = new AbortController();
  const look = () => {
    const mine = descendantsOf(process.pid, readProcesses());
    const program = mine.filter(({ pid }) => commandLine(pid).includes(mark)).at(-1);
    // What we have started that led to it.
    const launch = mine.find(
      ({ pid, parent }) =>
        parent === process.pid &&
        (pid === program?.pid || descendantsOf(pid, mine).some((each) => each.pid === program?.pid)),
    );
    if (program === undefined || launch === undefined) return over.abort();
    seen = {
      processes: [launch, ...descendantsOf(launch.pid, mine)],
      tellers: everyCommandLine().filter((line) => line.includes(secret)),
      user: userOf(program.pid),
    };
    sendSignal(launch.pid, 'SIGKILL');
  };
  const answer = await ask(sandbox, {
    // `sleep` is forked, so that the mark stays on the command line of the shell that waits for it.
    argv: ['bash', '-c', 'echo ready; sleep 20; true', mark],
    environment: { SECRET: secret },
    limits: { graceMs: 0 },
    onText(_stream, text) {
      if (text.includes('ready')) look();
    },
    signal: over.signal,
  });
  const found: Seen | null = seen;
  return found === null
    ? [failed('end', unseen(answer.result), null)]
    : [userItem(found), secretItem(found), await endItem(found)];
}

function unseen(result: { readonly kind: string; readonly message?: string }): string {
  return result.message ?? `The processes of a command could not be found in /proc (${result.kind}).`;
}

function userItem({ user }: Seen): SelfTestItem {
  const name = 'user';
  const isRoot = process.getuid?.() === 0;
  if (user === null) return failed(name, 'Under which user commands run could not be told.', null);
  if (isRoot && user === 0) return failed(name, 'Commands run as root of this machine.', null);
  return passed(name, isRoot ? `one of its own (${user})` : `that of the server (${user})`);
}

function secretItem({ tellers }: Seen): SelfTestItem {
  const name = 'command lines';
  return tellers.length === 0
    ? passed(name, 'they tell nothing of the environment')
    : failed(name, `${tellers.length} command lines of this machine show a secret of a command.`, null);
}

async function endItem({ processes }: Seen): Promise<SelfTestItem> {
  const name = 'end';
  const startedMs = performance.now();
  for (;;) {
    const left = processes.filter(isRunning);
    const tookMs = performance.now() - startedMs;
    if (left.length === 0) return passed(name, 'a sandbox ends with who started it');
    if (tookMs > deathMs) {
      for (const { pid } of left) sendSignal(pid, 'SIGKILL');
      return failed(name, `${left.length} processes of a sandbox outlived who had started it.`, null);
    }
    await sleep(2);
  }
}

function commandLine(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

function everyCommandLine(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine);
}

function userOf(pid: number): number | null {
  try {
    const user = /^Uid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return user === undefined ? null : Number(user);
  } catch {
    return null;
  }
}
