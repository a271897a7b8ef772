import { expect, test } from 'vitest';
import { heldLockMessage } from '../../src/vendors/held-lock.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;

test.each([
  { ago: -minute, words: 'less than a minute' },
  { ago: 0, words: 'less than a minute' },
  { ago: minute - 1, words: 'less than a minute' },
  { ago: minute, words: '1 minute' },
  { ago: 119 * minute, words: '119 minutes' },
  { ago: 120 * minute, words: '2 hours' },
  { ago: 47.9 * 60 * minute, words: '47 hours' },
  { ago: 48 * 60 * minute, words: '2 days' },
])('a lock of $ago ms is held for $words', ({ ago, words }) => {
  const holder = 'ada@host, process 17';
  const lock = { kind: 'state-locked', lockId: null, holder, sinceMs: nowMs - ago } as const;
  expect(heldLockMessage(lock, nowMs)).toBe(`The state is locked, for ${words}, by ada@host, process 17.`);
});

test.each([
  { holder: null, sinceMs: null, message: 'The state is locked.' },
  { holder: 'ada', sinceMs: null, message: 'The state is locked by ada.' },
  { holder: null, sinceMs: nowMs - 3 * minute, message: 'The state is locked, for 3 minutes.' },
])('says what is known and no more: $message', ({ holder, sinceMs, message }) => {
  expect(heldLockMessage({ kind: 'state-locked', lockId: null, holder, sinceMs }, nowMs)).toBe(message);
});
