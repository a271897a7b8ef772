import { expect, it } from 'vitest';
import { createIds } from '../src/ids.ts';
import { manualClock } from './support/manual-clock.ts';

it('sorts identifiers by when they were made, within a millisecond too', () => {
  const clock = manualClock();
  const newId = createIds(clock);
  const ids = [newId(), newId()];
  clock.advance(1);
  ids.push(newId());
  expect(ids.toSorted()).toEqual(ids);
});

it('sorts them behind those of a former life, though the clock was set back meanwhile', () => {
  const clock = manualClock();
  const former = createIds(clock);
  const before = [former(), former()];
  clock.advance(-24 * 60 * 60_000);

  const newId = createIds(clock, before.at(-1) ?? null);
  const ids = [...before, newId(), newId()];
  clock.advance(1000);
  ids.push(newId());

  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(5);
});
