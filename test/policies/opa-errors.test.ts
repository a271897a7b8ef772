import { expect, it } from 'vitest';
import { evaluationFailure, sourceErrors } from '../../src/policies/opa-errors.ts';

const at = (file: string, row: number, col: number) => ({ file, row, col });
const said = (...errors: readonly object[]) => JSON.stringify({ errors });

it.each([
  ['rego_type_error', 'compile'],
  ['rego_parse_error', 'compile'],
  ['eval_builtin_error', 'builtin'],
  ['eval_conflict_error', 'conflict'],
  ['eval_cancel_error', 'timeout'],
  ['eval_internal_error', 'engine'],
])('%s is the failure %s', (code, failure) => {
  const error = { message: 'm', code, location: at('policy.rego', 3, 4) };

  expect(evaluationFailure(said(error), '')).toEqual({ code: failure, message: 'm', line: 3, column: 4 });
});

it('names places of the user only', () => {
  const trace = [{ location: at('', 1, 5) }, { location: at('policy.rego', 7, 2) }];
  const error = { message: 'm', code: 'eval_cancel_error', location: at('', 1, 1), stack_trace: trace };

  expect(evaluationFailure(said(error), '')).toMatchObject({ line: 7, column: 2 });
  expect(evaluationFailure(said({ ...error, stack_trace: [] }), '')).toEqual({
    ...{ code: 'timeout', message: 'm' },
  });
  // An empty file.
  expect(sourceErrors('', said({ message: 'empty module', location: at('policy.rego', 0, 0) }))).toEqual([
    { message: 'empty module' },
  ]);
});

it.each([
  ['fatal error: runtime: out of memory\n\nruntime stack:', 'memory'],
  ['fatal error: out of memory allocating heap arena map', 'memory'],
  ['runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow', 'memory'],
  ['SIGSEGV: segmentation violation\nPC=0x437c7d\n\ngoroutine 0:\nruntime.(*spanQueue).tryDrain()', 'memory'],
  ['unable to parse input: yaml: found character that cannot start any token', 'input'],
  ['fatal error: all goroutines are asleep - deadlock!', 'engine'],
  ['', 'engine'],
])('last words %j are the failure %s', (words, code) => {
  expect(evaluationFailure('', words)).toMatchObject({ code });
});

it('takes what is no list of errors for words', () => {
  expect(evaluationFailure('{"errors":[]}', 'error: first\nsecond')).toEqual({
    ...{ code: 'engine', message: 'error: first' },
  });
  expect(sourceErrors('{', 'error: no such flag')).toBeNull();
});
