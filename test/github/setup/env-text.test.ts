import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { withSettings } from '../../../src/github/setup/env-text.ts';
import { fc } from '../../support/fast-check.ts';

describe('settings in a .env file', () => {
  test.each([
    ['nothing', '', 'APP_ID=1\n'],
    ['an empty setting', '# the App\nAPP_ID=\nPORT=3000\n', '# the App\nAPP_ID=1\nPORT=3000\n'],
    ['another value', 'PORT=3000\n export APP_ID = 7 # old\n', 'PORT=3000\nAPP_ID=1\n'],
    ['the name twice', 'APP_ID=7\nPORT=1\nAPP_ID=8', 'APP_ID=1\nPORT=1\n'],
    ['the name in a comment', '# APP_ID=\n', '# APP_ID=\nAPP_ID=1\n'],
    ['a longer name', 'APP_IDS=7\n', 'APP_IDS=7\nAPP_ID=1\n'],
    ['the name inside a value', 'NOTE="a\nAPP_ID=7\n"\n', 'NOTE="a\nAPP_ID=7\n"\nAPP_ID=1\n'],
    ['a value over lines', "APP_ID='a\nb\nc'\nPORT=1\n", 'APP_ID=1\nPORT=1\n'],
    ['Windows line ends', 'PORT=1\r\nAPP_ID=\r\n', 'PORT=1\nAPP_ID=1\n'],
    ['a quote that is never closed', 'NOTE="a\nPORT=1\n', 'NOTE="a\nPORT=1\nAPP_ID=1\n'],
  ])('are put over %s', (_, before, after) => {
    expect(withSettings(before, { APP_ID: '1' })).toBe(after);
  });

  test.each(['plain', '', 'with blanks', '#1', "it's", '"quoted"', '$HOME `x` \\n', 'a=b'])(
    'are read back as they were given: %s',
    (value) => {
      expect(parseEnv(withSettings('X=1\n', { SECRET: value }))).toEqual({ X: '1', SECRET: value });
    },
  );

  test.each(['a\nb', '\'"', 'é'])('are refused rather than written wrong: %j', (value) => {
    expect(() => withSettings('', { SECRET: value })).toThrow(/SECRET cannot be written/);
  });

  test('are not put where an open quote would take them in', () => {
    expect(() => withSettings('NOTE="x\n', { SECRET: "it's" })).toThrow(/cannot be changed/);
  });

  test('change nothing else, whatever the file holds', () => {
    const piece = fc.constantFrom(
      ...['A', 'APP_ID', 'SECRET', '=', '"', "'", '`', '\n', '\r\n', '#', ' ', 'x', '\\n', 'export ', '$'],
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    const settings = { APP_ID: '1', SECRET: "a'b #" };
    let written = 0;
    fc.assert(
      fc.property(text, (before) => {
        let after: string;
        try {
          after = withSettings(before, settings);
        } catch (error) {
          // What Node's reading makes ambiguous is refused, never spoilt.
          expect(error).toMatchObject({ code: 'env-file-unclear' });
          return;
        }
        written += 1;
        expect(parseEnv(after)).toEqual({ ...parseEnv(before), ...settings });
      }),
      { numRuns: 2000 },
    );
    expect(written).toBeGreaterThan(1000);
  });
});
