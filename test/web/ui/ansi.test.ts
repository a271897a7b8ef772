import { describe, expect, test } from 'vitest';
import { parseAnsi, plainStyle, plainText } from '../../../src/web/ui/assets/ansi.js';
import { fc } from '../../support/fast-check.ts';

const partsOf = (line: string) => parseAnsi(line, plainStyle).parts;
const textOf = (line: string) =>
  partsOf(line)
    .map(({ text }) => text)
    .join('');

describe('colours', () => {
  test.each([
    ['plain', [['plain', '']]],
    [
      '\x1b[32m+\x1b[0m create',
      [
        ['+', 'ansi-fore-2'],
        [' create', ''],
      ],
    ],
    [
      '\x1b[1;31merror\x1b[22m:\x1b[m',
      [
        ['error', 'ansi-fore-1 ansi-bold'],
        [':', 'ansi-fore-1'],
      ],
    ],
    [
      '\x1b[38;5;12mblue\x1b[39;48;5;3mback',
      [
        ['blue', 'ansi-fore-12'],
        ['back', 'ansi-back-3'],
      ],
    ],
    [
      '\x1b[38;5;196mred\x1b[38;5;244mgray',
      [
        ['red', 'ansi-fore-9'],
        ['gray', 'ansi-fore-7'],
      ],
    ],
    ['\x1b[38;2;0;200;0;4mx', [['x', 'ansi-fore-2 ansi-underline']]],
    [
      '\x1b[95;103;2;3;7;9mall',
      [['all', 'ansi-fore-13 ansi-back-11 ansi-dim ansi-italic ansi-inverse ansi-strike']],
    ],
    ['\x1b[38;5;999ma\x1b[38mb\x1b[38;9mc', [['abc', '']]],
    ['\x1b[4:3ma\x1b[?25lb\x1b[>4;1mc', [['abc', '']]],
  ])('%j', (line, expected) => {
    expect(partsOf(line).map(({ text, classes }) => [text, classes])).toEqual(expected);
  });

  test('go on in the next line until they are taken back', () => {
    const first = parseAnsi('\x1b[33mone', plainStyle);
    const second = parseAnsi('two\x1b[0m', first.style);

    expect(second.parts).toEqual([{ text: 'two', classes: 'ansi-fore-3' }]);
    expect(second.style).toEqual(plainStyle);
  });
});

describe('what is no colour', () => {
  test.each([
    ['a title', '\x1b]0;gone\x07shown', 'shown'],
    ['a link', '\x1b]8;;https://evil.example\x1b\\text\x1b]8;;\x1b\\', 'text'],
    ['the cursor', '\x1b[2J\x1b[1;1Hover\x1b[Kwritten', 'overwritten'],
    ['a title without an end', '\x1b]0;everything after it', '0;everything after it'],
    ['a title that is a page long', `\x1b]0;${'x'.repeat(3000)}\x07`, `0;${'x'.repeat(3000)}`],
    ['a sequence without an end', '\x1b[12;', '12;'],
    ['control characters', 'a\x00b\x07c\rd\x9be\x7f', 'abcde'],
    ['a character set', '\x1b(Bx\x1b=y', 'xy'],
    ['a tab', 'a\tb', 'a\tb'],
  ])('%s is dropped, and nothing else', (_, line, expected) => {
    expect(textOf(line)).toBe(expected);
  });
});

describe('for every line', () => {
  const printable = fc.string({ unit: fc.constantFrom(...'abXYZ 09<>&"\'[];m\\é🚀\t'), maxLength: 20 });
  const parameters = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 6 });
  const sequence = fc.oneof(
    parameters.map((numbers) => `\x1b[${numbers.join(';')}m`),
    fc.constantFrom(
      '\x1b[2J',
      '\x1b[?1049h',
      '\x1b]0;<b>title</b>\x07',
      '\x1bP1$r\x1b\\',
      '\x1b(B',
      '\x07',
      '\x00',
      '\r',
    ),
  );

  test('no printable text is lost or made', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(printable, sequence)), (pieces) => {
        const line = pieces.map(([text, code]) => text + code).join('');
        const expected = pieces.map(([text]) => text).join('');
        expect(textOf(line)).toBe(expected);
        expect(plainText(line)).toBe(expected);
      }),
    );
  });

  test('a long list of colours is bounded in work', () => {
    const line = `\x1b[${'38;5;1;'.repeat(100_000)}31mred`;
    const started = performance.now();

    expect(partsOf(line)).toEqual([{ text: 'red', classes: 'ansi-fore-1' }]);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test('there are no controls and no classes but ours, whatever comes', () => {
    const nasty = fc.string({
      unit: fc.oneof(fc.constantFrom(...'\x1b[]0;38m\x07\\<'), fc.string({ minLength: 1, maxLength: 1 })),
    });
    const style = fc
      .array(nasty)
      .map((lines) => lines.reduce((now, line) => parseAnsi(line, now).style, plainStyle));
    fc.assert(
      fc.property(nasty, style, (line, before) => {
        const { parts } = parseAnsi(line, before);
        for (const { text, classes } of parts) {
          expect(text).not.toMatch(/[^\P{Cc}\t]/u);
          expect(classes).toMatch(
            /^(ansi-(fore-\d{1,2}|back-\d{1,2}|bold|dim|italic|underline|inverse|strike)( |$))*$/,
          );
        }
        expect(parts.map(({ text }) => text).join('')).toBe(plainText(line));
      }),
    );
  });

  test('without an escape only controls are missing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        fc.pre(!line.includes('\x1b'));
        expect(textOf(line)).toBe(line.replaceAll(/[^\P{Cc}\t]/gu, ''));
      }),
    );
  });
});
