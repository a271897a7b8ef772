import { decodeTime, encodeTime, monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';

/** A source of identifiers: 26 characters of Crockford base 32 that sort by creation time (ULID). */
export type NewId = () => string;

/** Each sorts after the one before, and all after `after`, an identifier of a former life, however the clock was set. */
export function createIds(clock: Clock, after: string | null = null): NewId {
  const next = monotonicFactory();
  if (after !== null) next(decodeTime(after) + 1);
  return () => next(clock.nowMs());
}

/** All identifiers that are made at that time or later sort after it, or are it. */
export function firstIdAt(ms: number): string {
  return `${encodeTime(Math.max(0, ms))}${'0'.repeat(16)}`;
}
