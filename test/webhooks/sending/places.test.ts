import { describe, expect, it } from 'vitest';
import { createPlaces, type Job } from '../../../src/webhooks/sending/places.ts';
import { fc } from '../../support/fast-check.ts';

let made = 0;
function job(webhookId: string, startedAtMs = 0): Job {
  made += 1;
  const ids = { deliveryId: `d${made}`, webhookId, webhookVersion: 1, runId: `r${made}`, stateVersion: 1 };
  const numbers = { attempt: 1, tries: 1, startedAtMs, createdAtMs: 0, rejections: 0 };
  return { claim: { ...ids, ...numbers, body: null }, webhook: new Error('not read here') };
}
const jobs = (webhookId: string, count: number) => Array.from({ length: count }, () => job(webhookId));

describe('places', () => {
  it('start as many as may be in flight, and let the others wait in line', () => {
    const places = createPlaces({ inFlight: 10, perWebhook: 4 });
    const all = jobs('a', 6);
    expect(places.add(all)).toEqual(all.slice(0, 4));
    expect([places.inFlight, places.inLine, places.claimsOf('a')]).toEqual([4, 2, 6]);
    const [first, , , , fifth] = all;
    expect(first && places.ended(first, true)).toEqual({ next: fifth, back: [] });
    expect([places.inFlight, places.inLine]).toEqual([4, 1]);
  });

  it('allow a line as long as what was answered since results were stored', () => {
    const places = createPlaces({ inFlight: 10, perWebhook: 4 });
    const [one, two, three] = places.add(jobs('a', 3));
    expect(places.mayLineUp('a')).toBe(0);
    for (const each of [one, two]) if (each) places.ended(each, true);
    expect(places.mayLineUp('a')).toBe(2);
    places.stored();
    expect(places.mayLineUp('a')).toBe(0);
    if (three) places.ended(three, true);
    expect(places.mayLineUp('a')).toBe(1);
  });

  it('give back the line of a webhook that fails, and of no other', () => {
    const places = createPlaces({ inFlight: 10, perWebhook: 1 });
    const [failing, ...line] = jobs('a', 3);
    places.add([...(failing ? [failing] : []), ...line, ...jobs('b', 2)]);
    expect(failing && places.ended(failing, false)).toEqual({
      next: null,
      back: line.map(({ claim }) => claim),
    });
    expect([places.inFlight, places.inLine, places.claimsOf('a')]).toEqual([1, 1, 0]);
  });

  it('take what waits for long out of line, and leave the rest', () => {
    const places = createPlaces({ inFlight: 10, perWebhook: 1 });
    const [running, old, young] = [job('a', 0), job('a', 1000), job('a', 2000)];
    places.add([running, old, young, job('b', 3000)]);
    expect(places.clear(2000)).toEqual([old.claim]);
    expect(places.inLine).toBe(1);
    expect(places.ended(running, true).next).toBe(young);
  });

  it('let one in line start that has nothing in flight, when a place is free', () => {
    const places = createPlaces({ inFlight: 1, perWebhook: 4 });
    const [one, two] = [job('a'), job('b')];
    expect(places.add([one, two])).toEqual([one]);
    expect(places.ended(one, true).next).toBe(two);
  });

  it('never hold more than they may, and lose nothing, whatever happens', () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c'), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ end: fc.nat(), isGood: fc.boolean() }),
      fc.constant({ isStored: true }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const places = createPlaces({ inFlight: 5, perWebhook: 2 });
        const running: Job[] = [];
        let [added, over] = [0, 0];
        for (const each of steps) {
          if ('add' in each) {
            running.push(...places.add(jobs(each.add, each.count)));
            added += each.count;
          } else if ('end' in each) {
            const [ending] = running.splice(each.end % Math.max(1, running.length), 1);
            if (ending === undefined) continue;
            const { next, back } = places.ended(ending, each.isGood);
            if (next !== null) running.push(next);
            over += 1 + back.length;
          } else {
            places.stored();
          }
          expect(places.inFlight).toBe(running.length);
          expect(running.length).toBeLessThanOrEqual(5);
          for (const id of ['a', 'b', 'c']) {
            expect(running.filter(({ claim }) => claim.webhookId === id).length).toBeLessThanOrEqual(2);
          }
          expect(places.inFlight + places.inLine).toBe(added - over);
          // Nobody waits for a place that is free.
          if (running.length === 0) expect(places.inLine).toBe(0);
        }
        expect(places.clear()).toHaveLength(added - over - running.length);
      }),
    );
  });
});
