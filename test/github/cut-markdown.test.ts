import { describe, expect, test } from 'vitest';
import { cutMarkdown } from '../../src/github/feedback/cut-markdown.ts';
import { fc } from '../support/fast-check.ts';

const ending = 'The end is left out.';

/** What is still open at the end, read line by line as CommonMark says. */
function openAtEnd(markdown: string): { fence: string | null; details: number } {
  let fence: string | null = null;
  let details = 0;
  for (const line of markdown.split(/\r\n?|\n/)) {
    const text = line.replace(/^ {0,3}/, '');
    const mark = /^(`{3,}|~{3,})/.exec(text)?.[0] ?? '';
    if (fence !== null) {
      const isEnd = mark.startsWith(fence) && text.slice(mark.length).trim() === '';
      if (isEnd) fence = null;
    } else if (mark !== '' && !(mark[0] === '`' && text.slice(mark.length).includes('`'))) {
      fence = mark;
    } else {
      details += text.split('<details').length - text.split('</details>').length;
    }
  }
  return { fence, details };
}

const line = fc.oneof(
  fc.constantFrom('```', '````diff', '~~~', '~~~~ text', '  ```', '``` a ` b', '', '```` '),
  fc.constantFrom('<details><summary>More</summary>', '<details>', '</details>', 'text', 'a '.repeat(40)),
  fc.string({ maxLength: 12 }).map((text) => text.replaceAll('<', '')),
);
const markdown = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));

describe('cut markdown', () => {
  test('leaves what fits as it is', () => {
    const text = 'One\n\n```diff\n+ two\n```\n\n<details>\n\nthree\n\n</details>';

    expect(cutMarkdown(text, text.length, ending)).toBe(text);
  });

  test('closes what the text left open', () => {
    expect(cutMarkdown('<details>\n\n````diff\n```\n+ two', 1000, ending)).toBe(
      '<details>\n\n````diff\n```\n+ two\n````\n\n</details>',
    );
  });

  test('cuts at the end of a line, closes what is open there and says so', () => {
    const text = `<details>\n\n\`\`\`diff\n+ one\n+ two\n\`\`\`\n\n</details>\n\n${'x'.repeat(50)}`;

    expect(cutMarkdown(text, 70, ending)).toBe(
      `<details>\n\n\`\`\`diff\n+ one\n+ two\n\`\`\`\n\n</details>\n\n${ending}`,
    );
    expect(cutMarkdown(text, 65, ending)).toBe(
      `<details>\n\n\`\`\`diff\n+ one\n\`\`\`\n\n</details>\n\n${ending}`,
    );
    expect(cutMarkdown('x'.repeat(1000), 100, ending)).toBe(ending);
  });

  test('never is longer than it may be, and leaves nothing open', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 60, max: 400 }), (text, limit) => {
        const cut = cutMarkdown(text, limit, ending);

        expect(cut.length).toBeLessThanOrEqual(limit);
        const { fence, details } = openAtEnd(cut);
        expect(fence).toBeNull();
        expect(details).toBeLessThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  test('keeps as much as fits', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,20}$/), { minLength: 20 }), (words) => {
        const cut = cutMarkdown(words.join('\n'), 100, ending);
        if (words.join('\n').length <= 100) return;

        const kept = cut.split('\n').length - 2;
        expect(cut).toBe(`${words.slice(0, kept).join('\n')}\n\n${ending}`);
        expect(cut.length + (words[kept]?.length ?? 0) + 1).toBeGreaterThan(100);
      }),
    );
  });

  test('does not take long for a text of lines without end', () => {
    const text = '```\n'.repeat(200_000);

    expect(cutMarkdown(text, 65_536, ending).length).toBeLessThanOrEqual(65_536);
  });
});
