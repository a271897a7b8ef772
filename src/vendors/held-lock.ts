import type { ToolTrouble } from '../stacks/vendor-settings.ts';

export type HeldLock = Extract<ToolTrouble, { kind: 'state-locked' }>;

const minuteMs = 60_000;
const units = [
  { name: 'day', ms: 24 * 60 * minuteMs, from: 2 },
  { name: 'hour', ms: 60 * minuteMs, from: 2 },
  { name: 'minute', ms: minuteMs, from: 1 },
];

/** Who holds the lock of the state and for how long, as a sentence; as far as the tool says it. */
export function heldLockMessage({ holder, sinceMs }: HeldLock, nowMs: number): string {
  const age = sinceMs === null ? '' : `, for ${ageOf(nowMs - sinceMs)}`;
  return `The state is locked${age}${holder === null ? '' : `${age ? ',' : ''} by ${holder}`}.`;
}

/** "3 hours". The clock of whoever took the lock may be ahead of ours. */
function ageOf(ms: number): string {
  const unit = units.find((each) => ms >= each.from * each.ms);
  if (!unit) return 'less than a minute';
  const count = Math.floor(ms / unit.ms);
  return `${count} ${unit.name}${count === 1 ? '' : 's'}`;
}
