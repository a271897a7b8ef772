import { describe, expect, it } from 'vitest';
import { createMaskCommands } from '../../src/worker/mask-commands.ts';
import { fc } from '../support/fast-check.ts';

/** The output, with what was masked where the line stood. */
function told(text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  let out = Buffer.alloc(0);
  const pass = (piece: Uint8Array) => {
    out = Buffer.concat([out, piece]);
  };
  const commands = createMaskCommands((values) => pass(Buffer.from(`<${values.join('|')}>`)));
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of places.slice(1).entries())
    commands.write(bytes.subarray(places[index], end), pass);
  commands.end(pass);
  return out.toString();
}

describe('a line that masks', () => {
  it.each([
    ['before\n::add-mask::hunter 22\nafter\n', 'before\n<hunter 22>after\n'],
    ['::add-mask one two\r\n', '<one|two>'],
    ['::add-mask::last', '<last>'],
    ['::add-mask::\n', '<>'],
    [' ::add-mask::no\n', ' ::add-mask::no\n'],
    ['::add-masks::no\n', '::add-masks::no\n'],
    ['::add-ma', '::add-ma'],
    ['x::add-mask::no\n::', 'x::add-mask::no\n::'],
    ['a\n:\n::\n::add-mask::v\n:', 'a\n:\n::\n<v>:'],
  ])('%j', (text, expected) => {
    expect(told(text)).toBe(expected);
  });

  it('is found however the output is cut, and all else is passed on', () => {
    const piece = fc.constantFrom(
      '::add-mask::v1\n',
      '::add-mask v2 v3\n',
      '::add',
      'plain\n',
      ':',
      '\n',
      'ü',
      '::add-mask::v4',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (pieces, cuts) => {
          const text = pieces.join('');
          expect(told(text, cuts)).toBe(told(text));
        },
      ),
    );
  });

  it('is none when it is longer than 64 KiB', () => {
    const text = `::add-mask::${'x'.repeat(70_000)}\nafter\n`;
    expect(told(text, [10, 30_000, 69_000])).toBe(text);
  });
});
