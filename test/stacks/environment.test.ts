import { describe, expect, it, test } from 'vitest';
import {
  checkVariable,
  checkVariableCount,
  type EnvironmentVariable,
  isRefusedVariableName,
} from '../../src/stacks/environment.ts';

const aVariable = (change: Partial<EnvironmentVariable> = {}): EnvironmentVariable => ({
  ...{ name: 'TOKEN', value: 'long enough', secret: true, access: 'all' },
  ...change,
});
const check = (change: Partial<EnvironmentVariable>, refused = (_: string) => false) =>
  checkVariable(aVariable(change), refused);

describe('the name of a variable', () => {
  it.each(['A', '_a', 'AWS_REGION', 'PULUMI_CONFIG_PASSPHRASE', 'GIT_AUTHOR_NAME', 'GIT_COMMITTER_EMAIL'])(
    '%s may be set',
    (name) => {
      expect(isRefusedVariableName(name)).toBe(false);
    },
  );

  it.each([
    'PATHS',
    'MY_PATH',
    'HOMES',
    'XLD_PRELOAD',
    'NODE_ENV',
    'path',
    'ENVIRONMENT',
    'LANG',
    'USERNAME',
  ])('%s only looks like one that is reserved', (name) => {
    expect(isRefusedVariableName(name)).toBe(false);
  });

  it.each(['', '1A', 'A-B', 'A B', 'A=B', 'A\nB', 'A.B', 'ü', 'BASH_FUNC_x%%', ' A', 'A\n'])(
    '%j is none',
    (name) => {
      expect(isRefusedVariableName(name)).toBe(true);
    },
  );

  it.each([
    ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_', 'DYLD_INSERT_LIBRARIES'],
    ...['GIT_DIR', 'GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'GIT_AUTHOR', 'SLIPWAY_EXPORTS', 'SLIPWAY_'],
    ...['PATH', 'HOME', 'PWD', 'SHELL', 'IFS', '_', 'BASH_ENV', 'ENV', 'PS4', 'PROMPT_COMMAND', 'SHELLOPTS'],
    ...['HTTP_PROXY', 'https_proxy', 'NO_PROXY', 'all_proxy', 'SSL_CERT_FILE', 'NODE_OPTIONS', 'TMPDIR'],
  ])('%s is reserved', (name) => {
    expect(isRefusedVariableName(name)).toBe(true);
    expect(() => check({ name })).toThrow(expect.objectContaining({ code: 'environment-name-refused' }));
  });

  it('has 200 characters at most', () => {
    check({ name: 'A'.repeat(200) });
    expect(() => check({ name: 'A'.repeat(201) })).toThrow(
      expect.objectContaining({
        ...{ code: 'environment-name-refused', hint: 'A name has 200 characters at most.' },
        message: `The variable ${'A'.repeat(40)}… cannot be set.`,
      }),
    );
  });

  it('may be reserved by the tool too', () => {
    expect(() => check({ name: 'PULUMI_BACKEND_URL' }, (name) => name.startsWith('PULUMI_'))).toThrow(
      expect.objectContaining({ code: 'environment-name-refused' }),
    );
  });
});

test('a stack has 500 variables at most; each of them may still be changed', () => {
  const now = Array.from({ length: 500 }, (_, index) => ({ name: `A${index}` }));
  checkVariableCount(now.slice(1), { name: 'NEW' });
  checkVariableCount(now, { name: 'A7' });
  expect(() => checkVariableCount(now, { name: 'NEW' })).toThrow('500 variables at most');
});

describe('the value of a variable', () => {
  const invalid = expect.objectContaining({ code: 'invalid-input', issues: [expect.anything()] });

  it('has 4 characters or more when it is secret: a shorter one could not be hidden', () => {
    expect(() => check({ value: 'abc' })).toThrow(invalid);
    expect(() => check({ value: '' })).toThrow(invalid);
    check({ value: 'abcd' });
    check({ value: '', secret: false });
  });

  it('may have several lines, but no NUL', () => {
    check({ value: 'one\ntwo\r\n' });
    expect(() => check({ value: 'one\0two' })).toThrow(invalid);
  });

  it('is short enough for Linux to start a program with it, counted in bytes', () => {
    check({ value: 'x'.repeat(65_536) });
    expect(() => check({ value: 'x'.repeat(65_537) })).toThrow(invalid);
    expect(() => check({ value: '語'.repeat(30_000) })).toThrow(invalid);
  });
});
