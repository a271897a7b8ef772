/**
 * How much lies in directories that a run writes, and how much room is left. The walk is that of GNU find, in a process
 * of its own: it goes by descriptor, follows no link and knows no longest path, whatever a run builds for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';

export type DiskUse =
  | { readonly kind: 'measured'; readonly bytes: number; readonly entries: number }
  /** Whoever wrote the directories does not let us look. Only an unprivileged server meets that. */
  | { readonly kind: 'closed' }
  /** We could not look: no (GNU) find, no process or descriptor for it, it took too long, somebody ended it. */
  | { readonly kind: 'failed'; readonly reason: string };

/** 50,000 entries take 80 ms on a quiet disk. */
const walkTimeoutMs = 20_000;
const blockBytes = 512;

/** What is available to users other than root, on the file system of a directory. */
export async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** The last words of find about what a run did: it closed a directory, or replaced it while find was on its way. */
const ofTheRun = [': Permission denied', ': Not a directory', ': Too many levels of symbolic links'];
const gone = ': No such file or directory';

/**
 * Blocks on the disk and names, of all directories together; a file with several names counts once. The walk ends early
 * when one of the limits is passed: the work is bounded by them. Never rejects.
 */
export function measure(
  directories: readonly string[],
  limits: { readonly bytes: number; readonly entries: number },
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<DiskUse> {
  const once = ['(', '-type', 'd', '-o', '-links', '1', ')', '-printf', '%b\\n'];
  const argv = [...directories, '-xdev', ...once, '-o', '-printf', '%b %D:%i\\n'];
  // A walk that is quick would end before it could be stopped.
  if (signal.aborted) return Promise.resolve({ kind: 'failed', reason: 'told to stop before it began' });
  const { promise, resolve } = Promise.withResolvers<DiskUse>();
  let find: ChildProcess;
  try {
    find = spawn('find', argv, { env: environment, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return Promise.resolve({ kind: 'failed', reason: String(error) });
  }
  const stop = () => void find.kill('SIGKILL');
  const linked = new Set<string>();
  let bytes = 0;
  let entries = 0;
  let hasComplained = false;
  let isClosed = false;
  let failure: string | null = null;

  const count = (line: string) => {
    const [blocks = '', file] = line.split(' ');
    entries += 1;
    if (file !== undefined && linked.has(file)) return;
    if (file !== undefined) linked.add(file);
    bytes += Number(blocks) * blockBytes;
  };
  const isOver = () => bytes > limits.bytes || entries > limits.entries;
  // Names in it may be anything, and are nobody's business: only the last words of a line count.
  const heed = (line: string) => {
    hasComplained = true;
    if (line.endsWith(gone)) return;
    if (ofTheRun.some((words) => line.endsWith(words))) isClosed = true;
    else failure ??= `find complained: ${line.slice(line.lastIndexOf(': ') + 1).trim()}`;
  };
  const settle = (exitCode: number | null, exitSignal: NodeJS.Signals | null) => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (exitSignal !== null) failure ??= `find was ended by ${exitSignal}`;
    // 1 after complaints, each of which was heeded.
    else if (exitCode !== 0 && (exitCode !== 1 || !hasComplained))
      failure ??= `find ended with exit code ${exitCode}`;
    if (isOver()) resolve({ kind: 'measured', bytes, entries });
    else if (isClosed) resolve({ kind: 'closed' });
    else if (failure !== null) resolve({ kind: 'failed', reason: failure });
    else resolve({ kind: 'measured', bytes, entries });
  };
  const timer = setTimeout(() => {
    failure ??= `find took longer than ${walkTimeoutMs / 1000} s`;
    stop();
  }, walkTimeoutMs);
  // Before anything else: without descriptors there is a child with an error to come, and without pipes.
  find.on('error', (error) => {
    // Also emitted when a signal cannot be sent, to one that runs on.
    if (find.pid !== undefined) return;
    failure ??= error.message;
    settle(null, null);
  });
  find.on('close', settle);
  lines(find.stdout, (line) => {
    count(line);
    if (isOver()) stop();
  });
  lines(find.stderr, heed);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return promise;
}

/** Of a line without end only the end is kept. Missing, whatever the types say, when there was no descriptor for it. */
function lines(stream: Readable | null | undefined, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('latin1').on('data', (text: string) => {
    const whole = (rest + text).split('\n');
    rest = (whole.pop() ?? '').slice(-1000);
    for (const line of whole) onLine(line);
  });
}
