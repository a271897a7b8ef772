import { type HeldLock, heldLockMessage } from '../held-lock.ts';
import type { Explanation, Rule } from './explanation.ts';

/** Pulumi's own lock of the state, which previews do not take. Nothing was changed when it is held. */
export const lockRules: readonly Rule[] = [
  {
    pattern: /the stack is currently locked by \d+ lock\(s\)[^\n]*((?:\n {2}[^\n]+)*)/,
    explain: ([, locks = ''], nowMs) => explainLock(lockOf(locks), nowMs),
  },
  {
    pattern: /\[409\] Conflict: Another update is currently in progress/,
    explain: (_match, nowMs) => explainLock(lockOf(''), nowMs),
  },
];

/** As a backend of files or buckets lists them: "<url>: created by ada@host (pid 17) at 2026-01-01T00:00:00Z". */
const createdBy = /: created by ([^\n]{1,200}?) \(pid (\d{1,10})\) at (\S{1,40})$/gm;

function lockOf(locks: string): HeldLock {
  const [first, ...others] = [...locks.matchAll(createdBy)];
  const sinceMs = Date.parse(first?.[3] ?? '');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return {
    kind: 'state-locked',
    lockId: null,
    holder: first ? `${first[1]}, process ${first[2]}${more}` : null,
    sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
  };
}

function explainLock(trouble: HeldLock, nowMs: number): Explanation {
  return {
    message: `${heldLockMessage(trouble, nowMs)} Nothing was changed.`,
    hint: 'If whoever holds it is still at work, wait, then retry the run. If it was killed, an administrator releases the lock (`pulumi cancel`) first.',
    trouble,
  };
}
