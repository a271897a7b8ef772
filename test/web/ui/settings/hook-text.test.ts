import { describe, expect, it } from 'vitest';
import { hookCommands, hookText } from '../../../../src/web/ui/pages/settings/hook-text.ts';
import { fc } from '../../../support/fast-check.ts';

const path = 'hooks.beforeInit';
const asBrowsersSend = (text: string) => text.replace(/\r?\n/g, '\r\n');

/** What the API keeps of a command, made of what could be mistaken for something else. */
const command = fc
  .array(fc.oneof(fc.constantFrom('\n', '```', '````', '`', '``', ' ', '\t', '#', '"', "'"), fc.string()), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join('').replaceAll('\r', '').trim())
  .filter((text) => text !== '');

describe('the text of a list of hooks', () => {
  it('reads as what it was made of, whatever the commands are', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 6 }), (commands) => {
        expect(hookCommands(asBrowsersSend(hookText(commands)), path).map((each) => each.trim())).toEqual(
          commands,
        );
      }),
    );
  });

  it('is the same text again', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 6 }), (commands) => {
        const text = hookText(commands);
        expect(hookText(hookCommands(text, path))).toBe(text);
      }),
    );
  });

  it('has a line for each command, and fences around those of several lines', () => {
    expect(hookText(['npm ci', 'cat <<EOF\n\n  indented\nEOF', 'pulumi version'])).toBe(
      'npm ci\n```\ncat <<EOF\n\n  indented\nEOF\n```\npulumi version',
    );
    expect(hookText(['echo "\n```\n"'])).toBe('````\necho "\n```\n"\n````');
  });

  it.each([
    ['blank lines and blanks around', '\r\n  npm ci \r\n\r\n', ['npm ci']],
    ['an empty fence', '```\n\n```\nnpm ci', ['npm ci']],
    ['a backtick in a command', 'echo `date`', ['echo `date`']],
  ])('is read without %s', (_, text, commands) => {
    expect(hookCommands(text, path)).toEqual(commands);
  });

  it('says where a fence is open', () => {
    expect(() => hookCommands('npm ci\n````\necho\n```', path)).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        issues: [{ path, message: 'the backticks of line 2 are not closed by a line of as many' }],
      }),
    );
  });
});
