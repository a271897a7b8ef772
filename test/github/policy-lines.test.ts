import { describe, expect, test } from 'vitest';
import { commentBody } from '../../src/github/feedback/comment/comment-body.ts';
import { type PolicyLine, policyMarkdown } from '../../src/github/feedback/policy-lines.ts';
import { fc } from '../support/fast-check.ts';

const line = (change: Partial<PolicyLine> = {}): PolicyLine => ({
  ...{ policy: 'no-deletes', version: 3, outcome: 'denied', messages: [], isObjection: true },
  ...change,
});

describe('what policies said, on GitHub', () => {
  test('is a list with their messages', () => {
    const lines = [
      line({ messages: ['deletes `db`', 'deletes web'] }),
      line({ policy: 'tags', outcome: 'passed' }),
    ];
    expect(policyMarkdown(lines)).toBe(
      [
        '**Policies**',
        '',
        '- `no-deletes` (version 3): denied',
        '  - `` deletes `db` ``',
        '  - `deletes web`',
        '- `tags` (version 3): passed',
      ].join('\n'),
    );
  });

  test('is nothing when none has judged', () => {
    expect(policyMarkdown([])).toBeNull();
  });

  test('says how much more there is', () => {
    const messages = Array.from({ length: 14 }, (_, n) => `message ${n}`);
    const text = policyMarkdown(Array.from({ length: 33 }, () => line({ messages }))) ?? '';
    expect(text.match(/ {2}- and 4 more/g)).toHaveLength(30);
    expect(text.endsWith('\n- and 3 more')).toBe(true);
    expect(text.length).toBeLessThan(65_535);
  });

  test('can neither mention anybody, nor make links, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (policy, message) => {
        const text = policyMarkdown([line({ policy, messages: [message] })]) ?? '';
        const items = text.split('\n').slice(2);
        expect(items).toHaveLength(2);
        // All of it is code: the fence that opens is the fence that ends.
        expect(items[1]).toMatch(/^ {2}- (?:(`+)(?!`).*(?<!`)\1|\(nothing\))$/s);
      }),
    );
  });

  test('fits into the comment of a pull request, however many runs they object to', () => {
    const lines = Array.from({ length: 30 }, () => line({ messages: Array(10).fill('x'.repeat(500)) }));
    const objections = Array.from({ length: 20 }, (_, n) => ({ stackId: `s${n}`, runId: `r${n}`, lines }));
    const settings = {
      publicUrl: 'https://slipway.example.com',
      checksUrl: 'https://github.example/checks',
      ...{ headHash: null, isSandboxed: true },
    };
    const view = { repositoryId: 21, number: 7, stacks: [], objections, answer: 'done' };
    const text = commentBody(view, settings) ?? '';
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('done');
  });
});
