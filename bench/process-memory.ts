/** Memory of processes, from /proc. */
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Resident set, in bytes. */
  readonly rss: number;
}

const kib = 1024;

/** All processes of this machine that can be read; those that end meanwhile are left out. */
export async function processes(): Promise<readonly ProcessInfo[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = await Promise.all(pids.map((pid) => readProcess(Number(pid))));
  return read.filter((each) => each !== null);
}

async function readProcess(pid: number): Promise<ProcessInfo | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  if (status === null) return null;
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { pid, parent: field('PPid'), rss: field('VmRSS') * kib };
}

/** Of the processes that descend from `root`, without itself. */
export function descendantsOf(root: number, all: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: ProcessInfo[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      waiting.push(child.pid);
    }
  }
  return found;
}
