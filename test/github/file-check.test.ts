import { describe, expect, test } from 'vitest';
import { fileCheckOf } from '../../src/github/repository-file/file-check.ts';

const about = {
  id: 'file:1',
  commit: 'a'.repeat(40),
  fileUrl: 'https://github.example/acme/infra/blob/x/.github/slipway.yml',
  nowMs: Date.parse('2026-11-21T10:00:00Z'),
};
const nothing = { created: [], changed: [], unchanged: [], released: [] };
const problem = (line: number, message = 'unknown key a') => ({ line, column: 5, message });

describe('the check of a repository file', () => {
  test('is green and says what became of the stacks', () => {
    const changes = { created: ['a'], changed: ['b', 'c'], unchanged: ['d'], released: ['e'] };

    expect(fileCheckOf({ kind: 'applied', changes }, about)).toEqual({
      name: '.github/slipway.yml',
      head_sha: about.commit,
      external_id: 'file:1',
      details_url: about.fileUrl,
      status: 'completed',
      conclusion: 'success',
      started_at: '2026-11-21T10:00:00.000Z',
      completed_at: '2026-11-21T10:00:00.000Z',
      output: {
        title: '4 stacks, 1 created, 2 changed, 1 released',
        summary:
          'Created: a\n\nChanged: b, c\n\nReleased: changed by API and command line from now on: e\n\nUnchanged: d',
      },
      actions: [],
    });
  });

  test.each([
    [{ kind: 'applied', changes: { ...nothing, unchanged: ['a'] } } as const, '1 stack'],
    [{ kind: 'removed', released: ['a', 'b'] } as const, 'The file is gone: 2 stacks released'],
    [{ kind: 'removed', released: [] } as const, 'The file is gone: 0 stacks released'],
    [{ kind: 'refused', problems: [problem(1)] } as const, '1 problem: the file is not in force'],
    [
      { kind: 'refused', problems: Array.from({ length: 101 }, (_, index) => problem(index + 1)) } as const,
      '100+ problems: the file is not in force',
    ],
  ])('has a title for %j', (verdict, title) => {
    const { output } = fileCheckOf(verdict, about);
    expect(output.title).toBe(title);
    expect(output.summary).not.toBe('');
  });

  test('is red with every problem in the text, and as many at their lines as GitHub takes', () => {
    const problems = Array.from({ length: 60 }, (_, index) => problem(index + 1));

    const { conclusion, output } = fileCheckOf({ kind: 'refused', problems }, about);

    expect(conclusion).toBe('failure');
    expect(output.annotations).toHaveLength(50);
    expect(output.annotations?.[49]).toEqual({
      ...{ path: '.github/slipway.yml', start_line: 50, end_line: 50, start_column: 5, end_column: 5 },
      ...{ annotation_level: 'failure', message: 'unknown key a' },
    });
    expect(output.summary).toContain('line 60, column 5: unknown key a');
  });

  test('keeps what a file says from being read as Markdown, and within what GitHub takes', () => {
    const problems = [
      problem(1, 'unknown key ```\n# <img>'),
      ...Array.from({ length: 100 }, () => problem(2, 'x'.repeat(900))),
    ];

    const { summary } = fileCheckOf({ kind: 'refused', problems }, about).output;

    expect(summary).toMatch(/^Nothing was changed.*\n\n````text\n/);
    expect(summary.length).toBeLessThan(65_535);
    expect(summary.endsWith('\n````')).toBe(true);
  });
});
