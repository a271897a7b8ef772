/** What a command is seen to use: by looking at its processes (process-watch.ts), or by the kernel's own account of them. */
import type { Usage } from './sandbox.ts';

/** Of one command. Disposed of when its processes are gone; what it says stays as it was then. */
export interface Accounting extends AsyncDisposable {
  /** As last seen; null before the first look. */
  usage(): Usage | null;
  /** True when processes of the command were killed for the memory that they held. */
  wasOutOfMemory(): boolean;
}

export const notMeasured: Usage = { peakMemoryBytes: null, peakProcesses: null, cpuMs: null };

/** What several accounts of one command say together; the first that knows a figure has the word. */
export function combineUsage(...accounts: readonly (Usage | null)[]): Usage {
  const known = accounts.filter((usage) => usage !== null);
  const first = (name: keyof Usage) => known.find((usage) => usage[name] !== null)?.[name] ?? null;
  return {
    peakMemoryBytes: first('peakMemoryBytes'),
    peakProcesses: first('peakProcesses'),
    cpuMs: first('cpuMs'),
  };
}
