/** How much of the processor sandboxes leave to the server when both want it. */
import { writeFileSync } from 'node:fs';

/** Of every process before the sandbox, and of what they become. */
export const niceness = 10;

/** A third of the share of any other session. Less would starve runs on a machine that has other work, too. */
const sessionNiceness = 5;

/**
 * For the session that a process is in: where kernels share by session (`kernel.sched_autogroup_enabled`, which most
 * have), niceness counts only among the processes of one. For the moment a command has begun, because the sandbox
 * begins a session itself. What begins a further one escapes this, and not a cgroup.
 */
export function lowerSession(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(sessionNiceness));
  } catch {
    // Gone, or a kernel that shares in another way. Nothing depends on it.
  }
}
