import { usageFailure } from './failure.ts';

/** How people give a time on the command line. */
export const momentExamples = 'e.g. 2h, 3d, 2026-05-01T08:00Z, or Unix seconds';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90d` and the like, in seconds; null for what is none. */
export function spanSeconds(text: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? null : Number(amount) * (unitSeconds[unit] ?? 1);
}

/** A time as people give it, in Unix seconds: so long ago, a date, or the seconds themselves. */
export function secondsOf(text: string, nowMs: number, option: string): number {
  const ago = spanSeconds(text);
  if (ago !== null) return Math.floor(nowMs / 1000) - ago;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw usageFailure(`${option}: not a time`, `Possible: ${momentExamples}.`);
  return Math.floor(ms / 1000);
}
