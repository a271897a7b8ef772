import { UserError } from '../../../../user-error.ts';
import type { FieldValues } from '../../draft.ts';

/** As the API takes it; Unix seconds. */
export interface ReplayRange {
  readonly since: number;
  readonly until: number;
  readonly state?: string;
  readonly failedOnly: boolean;
}

/** A time as the input for local times writes it, of UTC: "2026-11-22T04:50:00". */
export const utcField = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

/** Without an end, until now: what is counted then is what is sent later. Throws `invalid-input`. */
export function rangeIn({ field }: FieldValues, nowMs: number): ReplayRange {
  const since = secondsIn(field('since'), 'since');
  const until = field('until') === '' ? Math.floor(nowMs / 1000) : secondsIn(field('until'), 'until');
  const state = field('state');
  return { since, until, failedOnly: field('failedOnly') === 'yes', ...(state !== '' && { state }) };
}

/** Browsers leave the seconds out where they are 0. */
const timePattern = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;

function secondsIn(text: string, path: string): number {
  const ms = timePattern.test(text) ? Date.parse(`${text.replace(' ', 'T')}Z`) : Number.NaN;
  if (Number.isFinite(ms)) return Math.floor(ms / 1000);
  const message = 'a time such as 2026-11-22T04:50';
  throw new UserError('invalid-input', `${path}: ${message}`, { issues: [{ path, message }] });
}
