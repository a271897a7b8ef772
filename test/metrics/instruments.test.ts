import { describe, expect, it } from 'vitest';
import { exposition } from '../../src/metrics/exposition.ts';
import { createCounter, createHistogram } from '../../src/metrics/instruments.ts';
import { fc } from '../support/fast-check.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';

describe('a counter', () => {
  it('has every value from the start, and counts each', () => {
    const counter = createCounter({ name: 'x_total', help: 'X.', label: 'kind', values: ['a', 'b'] });
    counter.add('b');
    counter.add('b');

    expect(exposition([counter.family()])).toBe(
      '# HELP x_total X.\n# TYPE x_total counter\nx_total{kind="a"} 0\nx_total{kind="b"} 2\n',
    );
  });
});

describe('a histogram', () => {
  it('takes a bound into its own bucket', () => {
    const histogram = createHistogram({ name: 'x_seconds', help: 'X.', bounds: [0.5, 1] });
    for (const value of [0, 0.5, 0.75, 1, 2]) histogram.observe(value);

    expect(exposition([histogram.family()])).toBe(
      [
        '# HELP x_seconds X.',
        '# TYPE x_seconds histogram',
        'x_seconds_bucket{le="0.5"} 2',
        'x_seconds_bucket{le="1"} 4',
        'x_seconds_bucket{le="+Inf"} 5',
        'x_seconds_sum 4.25',
        'x_seconds_count 5',
        '',
      ].join('\n'),
    );
  });

  it('says of every bound how many were no higher', () => {
    const bounds = [0.01, 0.1, 1, 10];
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }).map((ms) => ms / 1000)), (values) => {
        const histogram = createHistogram({ name: 'x_seconds', help: 'X.', bounds });
        for (const value of values) histogram.observe(value);

        const samples = parsePrometheusText(exposition([histogram.family()])).get('x_seconds')?.samples;
        for (const bound of bounds) {
          const count = values.filter((value) => value <= bound).length;
          expect(samples?.get(`x_seconds_bucket{le="${bound}"}`)).toBe(count);
        }
        expect(samples?.get('x_seconds_count')).toBe(values.length);
      }),
    );
  });
});

describe('the text', () => {
  it('escapes what would end a label or a line', () => {
    const label = 'a"b\\c\nd';
    const text = exposition([
      { name: 'x', help: 'one\ntwo \\', type: 'gauge', samples: [{ labels: { label }, value: 1 }] },
    ]);

    expect(text).toBe('# HELP x one\\ntwo \\\\\n# TYPE x gauge\nx{label="a\\"b\\\\c\\nd"} 1\n');
    expect(parsePrometheusText(text).get('x')?.samples.size).toBe(1);
  });

  it.each([
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [1e21, '1e+21'],
    [0, '0'],
  ])('writes %s as %s', (value, written) => {
    expect(exposition([{ name: 'x', help: 'X.', type: 'gauge', samples: [{ value }] }])).toContain(
      `\nx ${written}\n`,
    );
  });
});
