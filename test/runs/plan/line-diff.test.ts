import { expect, test } from 'vitest';
import { lineDiff } from '../../../src/runs/plan/line-diff.ts';
import { fc } from '../../support/fast-check.ts';

const signs = { same: ' ', removed: '-', added: '+', gap: '@' } as const;
const shown = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${signs[kind]}${text}`);

test('shows what differs with a few equal lines around it', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = lines.with(10, 'changed');

  expect(shown(lines.join('\n'), after.join('\n'))).toEqual([
    '@7 equal lines',
    ' line 7',
    ' line 8',
    ' line 9',
    '-line 10',
    '+changed',
    ' line 11',
    ' line 12',
    ' line 13',
    '@6 equal lines',
  ]);
});

test('finds what stayed between what changed', () => {
  expect(shown('a\nb\nc\nd', 'x\nb\ny\nd\ne')).toEqual(['-a', '+x', ' b', '-c', '+y', ' d', '+e']);
});

test('of very long texts is bounded in work', () => {
  const text = (name: string) => Array.from({ length: 20_000 }, (_, index) => `${name} ${index}`).join('\n');
  const started = performance.now();

  const lines = shown(text('old'), text('new'));

  expect(lines).toHaveLength(40_000);
  expect(lines[0]).toBe('-old 0');
  expect(performance.now() - started).toBeLessThan(2000);
});

test('of some hundred lines that all differ is not looked for what they have in common', () => {
  const text = (name: string) =>
    Array.from({ length: 301 }, (_, index) => (index === 150 ? 'common' : `${name} ${index}`)).join('\n');

  expect(shown(text('old'), text('new')).filter((line) => line.includes('common'))).toEqual([
    '-common',
    '+common',
  ]);
});

test('gives back both texts, whatever they are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => all.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const side = (own: 'removed' | 'added', whole: string) => {
        const all = whole.split('\n');
        let at = 0;
        for (const { kind, text } of lines) {
          if (kind === 'gap') at += Number.parseInt(text, 10);
          else if (kind === 'same' || kind === own) {
            expect(text).toBe(all[at]);
            at += 1;
          }
        }
        expect(at).toBe(all.length);
      };
      side('removed', before);
      side('added', after);
    }),
  );
});
