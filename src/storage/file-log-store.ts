import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Appended, LogStore } from '../runs/log-store.ts';
import { type Phase, phases } from '../runs/run-store.ts';
import { asStorageError } from './storage-full.ts';

/**
 * One append-only file for each phase of a run: `<directory>/<run id>/<phase>.log`, readable by the server
 * only. A sealed log is a file without write permission. Not compressed: most logs are smaller than a block
 * of the disk or two, and a reader may begin at any byte.
 */
export function createFileLogStore(directory: string): LogStore & AsyncDisposable {
  const writers = new Map<string, Promise<LogWriter>>();
  const folderOf = (runId: string) => join(directory, runId);
  const pathOf = (runId: string, phase: Phase) => join(folderOf(runId), `${phase}.log`);

  function writerOf(runId: string, phase: Phase): Promise<LogWriter> {
    const path = pathOf(runId, phase);
    const known = writers.get(path);
    if (known !== undefined) return known;
    const opened = mkdir(folderOf(runId), { recursive: true, mode: 0o700 }).then(() =>
      openWriter(path, () => writers.delete(path)),
    );
    writers.set(path, opened);
    opened.catch(() => writers.delete(path));
    return opened;
  }

  async function withWriter<T>(
    runId: string,
    phase: Phase,
    work: (writer: LogWriter) => Promise<T | 'closed'>,
  ): Promise<T> {
    for (;;) {
      const done = await work(await writerOf(runId, phase));
      // It closed itself for being idle, while we came.
      if (done !== 'closed') return done;
    }
  }

  return {
    append: (runId, phase, offset, bytes) =>
      withWriter(runId, phase, (writer) => writer.append(offset, bytes)),

    async read(runId, phase, offset, maxBytes) {
      const file = await openIfThere(pathOf(runId, phase), 'r');
      if (!file) return { bytes: new Uint8Array(), size: 0 };
      try {
        const { size } = await file.stat();
        const wanted = Math.max(0, Math.min(maxBytes, size - offset));
        const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, offset);
        return { bytes: buffer.subarray(0, bytesRead), size };
      } finally {
        await file.close();
      }
    },

    async seal(runId, phase) {
      const file = await openIfThere(pathOf(runId, phase), 'r');
      if (!file) return;
      await file.close();
      await withWriter(runId, phase, (writer) => writer.seal());
    },

    async remove(runId) {
      for (const phase of phases) await (await writers.get(pathOf(runId, phase)))?.close();
      await rm(folderOf(runId), { recursive: true, force: true });
    },

    async [Symbol.asyncDispose]() {
      for (const writer of await Promise.allSettled(writers.values())) {
        if (writer.status === 'fulfilled') await writer.value.close();
      }
    },
  };
}

const openMode = 0o600;
const sealedMode = 0o400;
const syncEveryMs = 1000;

interface LogWriter {
  append(offset: number, bytes: Uint8Array): Promise<Appended | 'closed'>;
  seal(): Promise<'sealed' | 'closed'>;
  /** Writes to the disk what is left. Once more: nothing. */
  close(): Promise<void>;
}

/** The only writer of a file, one append at a time. Closes itself when it was idle for a second or two. */
async function openWriter(path: string, onClose: () => void): Promise<LogWriter> {
  const file = await openForWriting(path);
  const stat = await file.stat();
  let isSealed = (stat.mode & 0o200) === 0;
  let size = stat.size;
  let isDirty = false;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => void settle().catch(() => undefined), syncEveryMs);
  timer.unref();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  /** A sync that fails leaves the log as it is in memory; the seal tries again, and says so. */
  const settle = () => inTurn(() => (isDirty ? sync() : end()));

  async function sync(): Promise<void> {
    if (!isDirty || isClosed) return;
    isDirty = false;
    await file.datasync();
  }

  async function end(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    clearInterval(timer);
    onClose();
    await file.close();
  }

  async function append(offset: number, bytes: Uint8Array): Promise<Appended | 'closed'> {
    if (isClosed) return 'closed';
    if (offset > size) return { kind: 'refused', reason: 'gap', size };
    const known = Math.min(size - offset, bytes.length);
    if (!(await holds(file, offset, bytes.subarray(0, known)))) {
      return { kind: 'refused', reason: 'different', size };
    }
    if (known === bytes.length) return { kind: 'stored', size };
    if (isSealed) return { kind: 'refused', reason: 'sealed', size };
    isDirty = true;
    try {
      for (let at = known; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
        at += bytesWritten;
        size += bytesWritten;
      }
    } catch (error) {
      // A full disk may have taken a part.
      size = (await file.stat()).size;
      throw asStorageError(error);
    }
    return { kind: 'stored', size };
  }

  async function seal(): Promise<'sealed' | 'closed'> {
    if (isClosed) return 'closed';
    if (!isSealed) await file.chmod(sealedMode);
    isSealed = true;
    await file.sync();
    return 'sealed';
  }

  return {
    append: (offset, bytes) => inTurn(() => append(offset, bytes)),
    seal: () => inTurn(seal),
    close: () =>
      inTurn(async () => {
        try {
          await sync();
        } finally {
          await end();
        }
      }),
  };
}

async function holds(file: FileHandle, offset: number, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length === 0) return true;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes.length), 0, bytes.length, offset);
  return bytesRead === bytes.length && buffer.equals(bytes);
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'a+', openMode);
  } catch (error) {
    // Sealed, for everybody but root.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return open(path, 'r');
  }
}

async function openIfThere(path: string, flags: string): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
