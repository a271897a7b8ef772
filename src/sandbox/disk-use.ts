/**
 * How much lies in directories that a run writes, and how much room is left. The walk is that of GNU find, in a process
 * of its own: it goes by descriptor, follows no link and knows no longest path, whatever a run builds for it.
 */
import { spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';

export type DiskUse =
  | { readonly kind: 'measured'; readonly bytes: number; readonly entries: number }
  /** A closed directory, which only an unprivileged server meets, or a walk that took too long. */
  | { readonly kind: 'unreadable' };

/** 50,000 entries take 80 ms (sandbox.md §9) on a quiet disk. */
const walkTimeoutMs = 20_000;
const blockBytes = 512;

/** What is available to users other than root, on the file system of a directory. */
export async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/**
 * Blocks on the disk and names, of all directories together; a file with several names counts once. The walk ends early
 * when one of the limits is passed: the work is bounded by them.
 */
export function measure(
  directories: readonly string[],
  limits: { readonly bytes: number; readonly entries: number },
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<DiskUse> {
  const once = ['(', '-type', 'd', '-o', '-links', '1', ')', '-printf', '%b\\n'];
  const argv = [...directories, '-xdev', ...once, '-o', '-printf', '%b %D:%i\\n'];
  const find = spawn('find', argv, { env: environment, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => void find.kill('SIGKILL');
  const linked = new Set<string>();
  let bytes = 0;
  let entries = 0;
  let rest = '';
  let isUnreadable = false;
  let complaints = '';

  const count = (line: string) => {
    const [blocks = '', file] = line.split(' ');
    entries += 1;
    if (file !== undefined && linked.has(file)) return;
    if (file !== undefined) linked.add(file);
    bytes += Number(blocks) * blockBytes;
  };
  find.stdout.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) count(line);
    if (bytes > limits.bytes || entries > limits.entries) stop();
  });
  // Names in it may be anything, and are nobody's business: only the last words of a line count.
  find.stderr.setEncoding('latin1').on('data', (text: string) => {
    const lines = (complaints + text).split('\n');
    complaints = (lines.pop() ?? '').slice(-1000);
    isUnreadable ||= lines.some((line) => !line.endsWith(': No such file or directory'));
  });

  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      isUnreadable = true;
      stop();
    }, walkTimeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      const isOver = bytes > limits.bytes || entries > limits.entries;
      resolve(isUnreadable && !isOver ? { kind: 'unreadable' } : { kind: 'measured', bytes, entries });
    };
    find.on('error', () => {
      isUnreadable = true;
      settle();
    });
    find.on('close', settle);
  });
}
