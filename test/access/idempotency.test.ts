import { expect, test } from 'vitest';
import { createIdempotency } from '../../src/access/idempotency.ts';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { person } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const hourMs = 3_600_000;
const request = { method: 'POST', path: '/x', body: '{}' };
const answer = { status: 201, headers: {}, body: '{}' };

test('a key is kept for a day, and then is a new one', async () => {
  await using temp = tempDatabase();
  const clock = manualClock();
  const store = createIdempotencyStore(temp.database, createSecretBox(Buffer.alloc(32, 7)));
  const idempotency = createIdempotency({ store, transactions: temp.database, clock });
  const begin = () => idempotency.begin(person('ada'), 'k', request);

  const first = await begin();
  expect(await begin()).toEqual({ kind: 'in-use' });
  if (first.kind !== 'first') throw new Error('not the first');
  clock.advance(hourMs);
  await first.settle(answer);
  clock.advance(23 * hourMs - 1);
  expect(await begin()).toEqual({ kind: 'answered', answer });
  clock.advance(1);

  await idempotency.removeOld(new AbortController().signal);
  expect(await begin()).toMatchObject({ kind: 'first' });
  // Nobody knows what came of it.
  clock.advance(hourMs);
  expect(await begin()).toEqual({ kind: 'in-use' });
  clock.advance(23 * hourMs);
  expect(await begin()).toMatchObject({ kind: 'first' });
});
