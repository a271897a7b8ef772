import { expect, it } from 'vitest';
import { bodyLimitBytes, checkSource, decodeBody } from '../../src/policies/check-source.ts';
import type { Checked, DeclaredRule } from '../../src/policies/engine.ts';
import type { PolicyKind } from '../../src/policies/policy.ts';

const source = { body: 'package slipway', regoVersion: 1 } as const;

function check(kind: PolicyKind, rules: readonly DeclaredRule[], packageName = 'slipway') {
  const checked: Checked = { kind: 'valid', package: packageName, rules };
  return checkSource({ check: async () => checked }, kind, source);
}

const rule = (name: string, type: DeclaredRule['type'] = 'unknown', line = 2): DeclaredRule => ({
  ...{ name, type, line },
});

it('names the rules that the kind reads', async () => {
  const rules = [rule('deny', 'set'), rule('helper', 'object'), rule('warn'), rule('sample', 'boolean')];

  expect(await check('PLAN', rules)).toEqual({
    ...{ kind: 'valid', rules: ['deny', 'warn', 'sample'], hints: [] },
  });
});

it('hints at a name that is most likely misspelt', async () => {
  expect(await check('PLAN', [rule('deny', 'set'), rule('warm', 'set', 7)])).toMatchObject({
    ...{ kind: 'valid', hints: ['line 7: warm is not a rule of PLAN policies; did you mean warn?'] },
  });
});

it('refuses another package, and a policy without a rule of its kind', async () => {
  expect(await check('PLAN', [rule('deny')], 'spacelift')).toEqual({
    ...{
      kind: 'invalid',
      errors: [{ message: 'the package is spacelift; write: package slipway', line: 1 }],
    },
  });
  expect(await check('TRIGGER', [rule('deny'), rule('triger', 'set', 3)])).toEqual({
    kind: 'invalid',
    errors: [
      {
        message: 'no rule of TRIGGER policies is declared; those are trigger, sample, flag, reset_flag',
      },
      { message: 'triger is not a rule of TRIGGER policies; did you mean trigger?', line: 3 },
    ],
  });
});

it.each([
  ['PLAN', rule('deny', 'object'), 'deny is an object but has to be a set; write: deny contains ... if'],
  ['PLAN', rule('warn', 'boolean'), 'warn is a boolean but has to be a set'],
  ['PUSH', rule('track', 'set'), 'track is a set but has to be true or false'],
  ['PUSH', rule('lock', 'boolean'), 'lock is a boolean but has to be a string'],
  ['NOTIFICATION', rule('inbox', 'null'), 'inbox is null but has to be a set'],
  ['LOGIN', rule('roles', 'array'), 'roles is an array but has to be an object of sets'],
] as const)('%s refuses %o', async (kind, declared, message) => {
  expect(await check(kind, [declared])).toEqual({ kind: 'invalid', errors: [{ message, line: 2 }] });
});

it('refuses what is too large or no text without asking the engine', async () => {
  const asked = { check: () => Promise.reject(new Error('asked')) };
  const refusal = async (body: string) => checkSource(asked, 'PLAN', { body, regoVersion: 1 });

  expect(await refusal('é'.repeat(bodyLimitBytes / 2 + 1))).toEqual({
    ...{ kind: 'invalid', errors: [{ message: 'the body has 65538 bytes; a policy has 65536 at most' }] },
  });
  expect(await refusal('\ud800')).toMatchObject({ kind: 'invalid' });
  expect(decodeBody(Buffer.from('é', 'latin1'))).toBeNull();
  expect(decodeBody(Buffer.from('é'))).toBe('é');
});

it('passes on what the engine says against it, and that there is none', async () => {
  const errors = [{ message: 'undefined function http.send', line: 3, column: 4 }];
  const said = (checked: Checked) => checkSource({ check: async () => checked }, 'PLAN', source);

  expect(await said({ kind: 'invalid', errors })).toEqual({ kind: 'invalid', errors });
  expect(await said({ kind: 'unavailable', reason: 'no opa' })).toEqual({
    ...{ kind: 'unavailable', reason: 'no opa' },
  });
});
