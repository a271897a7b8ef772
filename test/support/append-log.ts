import type { LogStore } from '../../src/runs/log-store.ts';
import type { Phase } from '../../src/runs/run-store.ts';

/** Writes behind what the log has. */
export async function appendLog(
  logs: LogStore,
  runId: string,
  phase: Phase,
  output: string | Uint8Array,
): Promise<void> {
  const { size } = await logs.read(runId, phase, 0, 0);
  const appended = await logs.append(runId, phase, size, Buffer.from(output));
  if (appended.kind !== 'stored') throw new Error(`nothing was appended: ${appended.reason}`);
}
