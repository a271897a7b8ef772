import { expect, test } from 'vitest';
import { type Found, newestFirst } from '../../src/storage/newest-first.ts';
import { fc } from '../support/fast-check.ts';

/** What an index of those ids gives when so many of them are looked at and so many wanted. */
function look(ids: readonly string[], before: string | null, looks: number, limit: number): Found {
  const rest = ids
    .toSorted()
    .reverse()
    .filter((id) => before === null || id < before);
  const seen = rest.slice(0, looks);
  const fits = seen.filter((id) => Number(id) % 3 === 0).slice(0, limit + 1);
  if (fits.length > limit) return { ids: fits, lookedTo: fits.at(-1) ?? null };
  return { ids: fits, lookedTo: rest.length >= looks ? (seen.at(-1) ?? null) : null };
}

test('pages of several indexes are all that fits, each once, newest first', () => {
  const id = fc.integer({ min: 100, max: 999 }).map(String);
  const indexes = fc.array(fc.uniqueArray(id, { maxLength: 60 }), { maxLength: 5 });
  fc.assert(
    fc.property(
      indexes,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 20 }),
      (all, limit, looks) => {
        const wanted = [...new Set(all.flat())]
          .filter((each) => Number(each) % 3 === 0)
          .sort()
          .reverse();
        const got: string[] = [];
        let before: string | null = null;
        for (let pages = 0; pages < 1000; pages += 1) {
          const page = newestFirst(
            all.map((ids) => look(ids, before, looks, limit)),
            limit,
          );
          expect(page.ids.length).toBeLessThanOrEqual(limit);
          got.push(...page.ids);
          if (page.next === null) break;
          expect(before === null || page.next < before).toBe(true);
          before = page.next;
        }
        expect(got).toEqual(wanted);
      },
    ),
  );
});
