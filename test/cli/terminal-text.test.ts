import { describe, expect, it } from 'vitest';
import { createTerminalText } from '../../src/cli/terminal-text.ts';
import { fc } from '../support/fast-check.ts';

const show = (...pieces: readonly string[]): string => {
  const shown = createTerminalText();
  return pieces.map(shown).join('');
};

describe('text for a terminal', () => {
  it('is text, tabs, line ends and colours', () => {
    const text = 'Grüße\t✓\r\n\u001b[1;31mred\u001b[0m \u001b[38;5;208morange\u001b[m\n';

    expect(show(text)).toBe(text);
  });

  it.each([
    ['the title of the window', '\u001b]0;title\u0007', ']0;title'],
    ['the clipboard', '\u001b]52;c;cm0gLXJmIH4K\u001b\\', ']52;c;cm0gLXJmIH4K\\'],
    ['an answer that is typed into the shell', '\u001bP$q"p\u001b\\\u001b[6n', 'P$q"p\\'],
    ['the cursor, to hide what was said', 'denied\u001b[2K\u001b[1Aallowed', 'deniedallowed'],
    ['one-byte forms of the same', '\u009b2J\u009d0;title\u009c', '0;title'],
    ['bells, backspaces and shifts', 'a\u0007\b\u000e\u007fb', 'ab'],
  ])('does not let through %s', (_what, text, shown) => {
    expect(show(text)).toBe(shown);
  });

  it('is the same however it is cut, save for a sequence without an end', () => {
    const part = fc.constantFrom('\u001b', '\u009b', '[', ']', '3', ';', 'm', 'K', 'x', '\n', '\u0007');
    const some = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    const colour = /\u001b\[[\d;:]*m/g;
    fc.assert(
      fc.property(some, fc.nat(), (text, where) => {
        const at = where % (text.length + 1);
        // An x ends whatever is unfinished.
        const whole = show(`${text}x`);

        expect(show(text.slice(0, at), `${text.slice(at)}x`)).toBe(whole);
        expect(whole.replaceAll(colour, '')).toMatch(/^[\n -~]*$/);
      }),
    );
  });
});
