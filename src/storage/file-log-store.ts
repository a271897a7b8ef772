import { appendFile, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogStore } from '../runs/log-store.ts';
import type { Phase } from '../runs/run-store.ts';

/** One append-only file for each phase of a run: `<directory>/<run id>/<phase>.log`, readable by the server only. */
export function createFileLogStore(directory: string): LogStore {
  const made = new Set<string>();

  async function pathOf(runId: string, phase: Phase): Promise<string> {
    const folder = join(directory, runId);
    if (!made.has(folder)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      made.add(folder);
    }
    return join(folder, `${phase}.log`);
  }

  return {
    async append(runId, phase, bytes) {
      await appendFile(await pathOf(runId, phase), bytes, { mode: 0o600 });
    },

    async read(runId, phase, offset, maxBytes) {
      let file: Awaited<ReturnType<typeof open>>;
      try {
        file = await open(join(directory, runId, `${phase}.log`), 'r');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { bytes: new Uint8Array(), size: 0 };
        throw error;
      }
      try {
        const { size } = await file.stat();
        const wanted = Math.max(0, Math.min(maxBytes, size - offset));
        const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, offset);
        return { bytes: buffer.subarray(0, bytesRead), size };
      } finally {
        await file.close();
      }
    },

    async remove(runId) {
      const folder = join(directory, runId);
      made.delete(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
