import { describe, expect, test } from 'vitest';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { longestBackoffMs, maxAttempts } from '../../src/github/backoff.ts';
import { githubUnavailable } from '../../src/github/github-error.ts';
import { createFileSweep } from '../../src/github/repository-file/file-sweep.ts';
import { anAccount, aRepository } from '../support/builders.ts';
import { aClock, eventually, silent } from './support.ts';

/** An answer as Octokit throws it, the way the reader passes it on. */
function answered(status: number, headers: Record<string, string> = {}, message = 'no') {
  const error = Object.assign(new Error(message), { name: 'HttpError', status, response: { headers } });
  return githubUnavailable('for a file', error);
}

/** The repositories 1, 2 (one installation), 3 (another) and 4 (suspended); everything is fine unless told otherwise. */
function open() {
  const clock = aClock();
  const looks: number[] = [];
  const failing = new Map<number, () => Error>();
  const sweep = createFileSweep({
    files: {
      async lookAgain(id) {
        looks.push(id);
        const failure = failing.get(id)?.();
        if (failure) throw failure;
      },
    },
    repositories: {
      find: async (id) => aRepository({ id, accountId: id, installationId: id === 3 ? 102 : 101 }),
      findAccount: async (id) => ({ ...anAccount(), id, suspended: id === 4 }),
    },
    budget: createApiBudget({ clock }),
    clock,
    logger: silent,
  });
  return {
    ...{ clock, looks, failing, sweep },
    later(ms: number) {
      clock.ms += ms;
      sweep.wake();
    },
    /** What was looked at since, as soon as the last of it is there: nothing else comes before it. */
    async until(last: number) {
      await eventually(() => expect(looks).toContain(last));
      return looks.splice(0);
    },
    [Symbol.asyncDispose]: () => sweep[Symbol.asyncDispose](),
  };
}

describe('the sweep of repository files', () => {
  test('tries again later and later, and leaves it to the next day in the end', async () => {
    await using all = open();
    all.failing.set(1, () => answered(502));
    all.sweep.add([1]);
    all.sweep.start();
    expect(await all.until(1)).toEqual([1]);

    all.later(1999);
    all.sweep.add([3]);
    expect(await all.until(3)).toEqual([3]);
    all.later(1);
    expect(await all.until(1)).toEqual([1]);
    all.later(7999);
    all.sweep.add([3]);
    expect(await all.until(3)).toEqual([3]);
    for (let attempt = 3; attempt <= maxAttempts; attempt += 1) {
      all.later(longestBackoffMs);
      expect(await all.until(1)).toEqual([1]);
    }

    all.later(longestBackoffMs);
    all.sweep.add([3]);
    expect(await all.until(3)).toEqual([3]);
  });

  test('leaves an installation alone for as long as GitHub wants it, and no other', async () => {
    await using all = open();
    let isLimited = true;
    all.failing.set(1, () => {
      if (!isLimited) return new Error('another look at 1 was not to come');
      isLimited = false;
      return answered(403, { 'retry-after': '600' });
    });
    all.sweep.add([1, 2, 3]);
    all.sweep.start();
    expect(await all.until(3)).toEqual([1, 3]);

    all.later(599_000);
    all.sweep.add([3]);
    expect(await all.until(3)).toEqual([3]);
    all.failing.clear();
    all.later(1000);
    expect((await all.until(2)).sort()).toEqual([1, 2]);
  });

  test('does not ask again what GitHub refused for good, nor of an account that is suspended', async () => {
    await using all = open();
    all.failing.set(1, () => answered(451));
    all.sweep.add([4, 1]);
    all.sweep.start();
    expect(await all.until(1)).toEqual([1]);

    all.later(longestBackoffMs);
    all.sweep.add([3]);
    expect(await all.until(3)).toEqual([3]);
  });

  test('does not wait for hours because the clock was set back', async () => {
    await using all = open();
    all.failing.set(1, () => answered(502));
    all.sweep.add([1]);
    all.sweep.start();
    expect(await all.until(1)).toEqual([1]);

    all.failing.clear();
    all.later(-24 * 60 * 60_000);
    expect(await all.until(1)).toEqual([1]);
  });
});
