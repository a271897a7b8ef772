/** The processes of this machine as /proc shows them, read whole because a parent does not know its grandchildren. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** One letter of proc(5); Z has ended and waits for its parent. */
  readonly state: string;
  /** Since boot; with the pid it names a process for good, while a pid alone is used again. */
  readonly startTicks: number;
}

export function readProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((process) => process !== null);
}

export function readProcess(pid: number): Process | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
  const [state = '', parent, , session, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), session: Number(session), state, startTicks: Number(rest[15]) };
}

/** Children, their children and so on, without `root`. */
export function descendantsOf(root: number, processes: readonly Process[]): Process[] {
  const children = processes.filter(({ parent }) => parent === root);
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, processes)]);
}

/** Its pid in the innermost pid namespace; null when it is gone. */
export function innerPid(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const pids = /^NSpid:\s*(.+)$/m.exec(status)?.[1];
    return Number(pids?.split(/\s+/).at(-1) ?? pid);
  } catch {
    return null;
  }
}

/** A process that has ended counts as gone, also when nobody has collected it yet. */
export function isRunning({ pid, startTicks }: Pick<Process, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(pid);
  return now !== null && now.startTicks === startTicks && now.state !== 'Z' && now.state !== 'X';
}

/** Like process.kill, but a process that has gone meanwhile is none of our concern. Negative: its process group. */
export function sendSignal(pid: number, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH. EPERM cannot be: everything we signal runs as a user of ours.
  }
}

/** Shells do not pass signals on: what they run has to get the signal too, as from a terminal. */
export function isShellCommand(argv: readonly string[]): boolean {
  const [program = '', ...options] = argv;
  const name = program.slice(program.lastIndexOf('/') + 1);
  return (
    ['ash', 'bash', 'dash', 'sh', 'zsh'].includes(name) && options.some((option) => /^-[a-z]*c$/.test(option))
  );
}

export function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
