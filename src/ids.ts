import { monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';

/** A source of identifiers: 26 characters of Crockford base 32 that sort by creation time (ULID). */
export type NewId = () => string;

export function createIds(clock: Clock): NewId {
  const next = monotonicFactory();
  return () => next(clock.nowMs());
}
