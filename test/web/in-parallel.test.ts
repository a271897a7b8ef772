import { expect, test } from 'vitest';
import { inParallel } from '../../src/web/in-parallel.ts';

test('so many at once are under way, and results come in the order of what was asked', async () => {
  const ends: (() => void)[] = [];
  let most = 0;
  let now = 0;
  const all = inParallel([1, 2, 3, 4, 5], 2, async (number) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => ends.push(resolve));
    now -= 1;
    return number * 10;
  });

  // The last one that began ends first.
  for (let ended = 0; ended < 5; ) {
    const end = ends.pop();
    if (end) ended += 1;
    end?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(await all).toEqual([10, 20, 30, 40, 50]);
  expect(most).toBe(2);
});

test('a failure is the failure of all', async () => {
  const failing = inParallel([1, 2, 3], 2, async (number) => {
    if (number === 2) throw new Error('no luck');
    return number;
  });

  await expect(failing).rejects.toThrow('no luck');
});

test('nothing to do is done', async () => {
  expect(await inParallel([], 8, async () => 1)).toEqual([]);
});
