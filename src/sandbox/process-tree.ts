/** The processes of this machine as /proc shows them, read whole because a parent does not know its grandchildren. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** One letter of proc(5); Z has ended and waits for its parent. */
  readonly state: string;
  /** Its number in the innermost process namespace it is in. */
  readonly innerPid: number;
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
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    state,
    // Read when it is asked for, because that is once in a hundred times.
    get innerPid() {
      return readInnerPid(pid);
    },
    startTicks: Number(rest[15]),
  };
}

function readInnerPid(pid: number): number {
  try {
    const pids = /^NSpid:\s*(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(pids?.split(/\s+/).at(-1) ?? pid);
  } catch {
    return pid;
  }
}

/** Children, their children and so on, without `root`. Nobody asks for those of the machine's init. */
export function descendantsOf(root: number, processes: readonly Process[]): Process[] {
  if (root <= 1) throw new Error(`no command is the process ${root}`);
  const children = processes.filter(({ parent }) => parent === root);
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, processes)]);
}

/** A process that has ended counts as gone, also when nobody has collected it yet. */
export function isRunning({ pid, startTicks }: Pick<Process, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(pid);
  return now !== null && now.startTicks === startTicks && now.state !== 'Z' && now.state !== 'X';
}

/**
 * Like process.kill, but a process that has gone meanwhile is none of our concern. Negative: its process group.
 * Refuses 0, 1 and -1 (our own group, the machine's init, everybody): one of them is a bug that stops the machine.
 */
export function sendSignal(pid: number, signal: 'SIGINT' | 'SIGKILL'): void {
  if (!Number.isInteger(pid) || Math.abs(pid) <= 1)
    throw new Error(`no process of a command has the number ${pid}`);
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH. EPERM cannot be: everything we signal runs as a user of ours.
  }
}

export function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
