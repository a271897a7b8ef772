import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/user-error.ts';
import { problemOf, problemStatuses } from '../../src/web/problem.ts';

const root = join(import.meta.dirname, '../..');

/** What only the start of the process or the command line can run into. */
const neverInARequest = [
  'already-running',
  'backend-missing',
  'database-damaged',
  'database-exists',
  'database-missing',
  'file-exists',
  'not-of-this-tool',
  'policy-folder',
  'project-missing',
  'project-unreadable',
  'secret-unreadable',
  'stacks-missing',
  'cannot-listen',
  'config-invalid',
  'local-state-unreadable',
  'already-registered',
  'backend-missing',
  'checkout-unreadable',
  'database-damaged',
  'database-exists',
  'database-missing',
  'database-newer',
  'env-file-unclear',
  'env-file-unreadable',
  'env-file-unwritable',
  'file-exists',
  'not-of-this-tool',
  'github-refused',
  'project-missing',
  'project-unreadable',
  'secret-key-invalid',
  'secret-key-missing',
  'secret-key-unreadable',
  'secret-key-unwritable',
  'secret-unreadable',
  'server-redirects',
  'stacks-missing',
  'tool-not-executable',
];

function thrownCodes(): string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const codes = files
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [
      ...readFileSync(join(root, 'src', path), 'utf8').matchAll(/new UserError\(\s*'([a-z-]+)'/g),
    ])
    .map(([, code = '']) => code);
  return [...new Set(codes)].sort();
}

describe('problems', () => {
  it('have a status for every code that the features throw', () => {
    const codes = thrownCodes();

    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !(code in problemStatuses) && !neverInARequest.includes(code))).toEqual([]);
  });

  it('stand in docs/api.md, each with its status', () => {
    const text = readFileSync(join(root, 'docs/api.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);

    expect(Object.fromEntries(rows)).toEqual(problemStatuses);
  });

  it('carry what a UserError says', async () => {
    const issues = [{ path: 'a', message: 'wrong' }];
    const error = new UserError('locked', 'Somebody was first.', {
      hint: 'Wait.',
      issues,
      cause: new Error('db7'),
    });

    const response = problemOf(error);

    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      code: 'locked',
      title: 'Conflict',
      status: 409,
      detail: 'Somebody was first.',
      hint: 'Wait.',
      errors: issues,
    });
  });

  it('leave out what there is not', async () => {
    expect(await problemOf(new UserError('new-code', 'No.')).json()).toEqual({
      code: 'new-code',
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'No.',
    });
  });
});
