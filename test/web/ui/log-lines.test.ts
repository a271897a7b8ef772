import { describe, expect, test } from 'vitest';
import { plainStyle } from '../../../src/web/ui/assets/ansi.js';
import { markOf, placeAfter, shownLine, withMatches } from '../../../src/web/ui/assets/log-lines.js';
import { fc } from '../../support/fast-check.ts';

describe('marks', () => {
  test.each([
    ['$ pulumi preview --diff', 'between', { kind: 'start', command: 'pulumi preview --diff' }],
    ['[exit 0 in 1.23 s]', 'inside', { kind: 'end', result: 'exit 0 in 1.23 s' }],
    ['[stopped, exit 255 in 12.00 s]', 'inside', { kind: 'end', result: 'stopped, exit 255 in 12.00 s' }],
    // Printed by a program.
    ['$ tsc', 'inside', null],
    ['[exit 0 in 1.23 s]', 'between', null],
    ['[exit 0 in a moment]', 'inside', null],
    ['[network: example.com:443 was refused: not allowed]', 'inside', null],
  ] as const)('%s, %s of commands', (line, place, expected) => {
    expect(markOf(line, place)).toEqual(expected);
  });

  test('lead from one command to the next', () => {
    const lines = ['own line', '$ one', '$ output', '[exit 1 in 0.10 s]', '$ two'];
    let place: 'inside' | 'between' = 'between';
    const places = lines.map((line) => (place = placeAfter(markOf(line, place), place)));

    expect(places).toEqual(['between', 'inside', 'inside', 'between', 'inside']);
  });
});

describe('a shown line', () => {
  test('is cut when it is very long, and says by how much', () => {
    const { parts, hidden } = shownLine(
      `\x1b[1m${'x'.repeat(4000)}\x1b[0m${'y'.repeat(4000)}`,
      plainStyle,
      '',
    );

    expect(parts.map(({ text }) => text.length)).toEqual([4000, 1000]);
    expect(hidden).toBe(3000);
  });

  test('has its matches marked, also across colours and whatever the case', () => {
    const { parts } = shownLine('An \x1b[31mErr\x1b[0mor, no error', plainStyle, 'error');

    expect(parts).toEqual([
      { text: 'An ', classes: '' },
      { text: 'Err', classes: 'ansi-fore-1', isMatch: true },
      { text: 'or', classes: '', isMatch: true },
      { text: ', no ', classes: '' },
      { text: 'error', classes: '', isMatch: true },
    ]);
  });

  test('has the same text with and without matches', () => {
    const part = fc.record({
      text: fc.string({ unit: fc.constantFrom(...'abAB ßİ'), minLength: 1 }),
      classes: fc.constantFrom('', 'x'),
    });
    fc.assert(
      fc.property(
        fc.array(part),
        fc.string({ unit: fc.constantFrom(...'ab'), minLength: 1, maxLength: 3 }),
        (parts, query) => {
          const marked = withMatches(parts, query);
          expect(marked.map(({ text }) => text).join('')).toBe(parts.map(({ text }) => text).join(''));
          expect(marked.every(({ text }) => text !== '')).toBe(true);
        },
      ),
    );
  });
});
