import { expect, test } from 'vitest';
import { githubFamilies } from '../../src/metrics/github-metrics.ts';

const requests = { granted: 3, refused: 0, limited: 1, failed: 0 };
const valuesOf = (installations: Parameters<typeof githubFamilies>[0]['installations']) =>
  githubFamilies({ installations, requests }, 10_000)
    .slice(1)
    .map(({ samples }) => samples[0]?.value);

test('counts requests by outcome', () => {
  expect(githubFamilies({ installations: [], requests }, 0)[0]?.samples).toEqual([
    { labels: { outcome: 'granted' }, value: 3 },
    { labels: { outcome: 'refused' }, value: 0 },
    { labels: { outcome: 'limited' }, value: 1 },
    { labels: { outcome: 'failed' }, value: 0 },
  ]);
});

test.each([
  ['nothing is known', [], [1, 0]],
  ['GitHub has not said', [{ limit: null, remaining: null, pausedUntilMs: 0 }], [1, 0]],
  [
    'of several, the worst',
    [
      { limit: 5000, remaining: 4000, pausedUntilMs: 40_000 },
      { limit: 10_000, remaining: 1000, pausedUntilMs: 9000 },
    ],
    [0.1, 30],
  ],
])('%s', (_, installations, expected) => {
  expect(valuesOf(installations)).toEqual(expected);
});
