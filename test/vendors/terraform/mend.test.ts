import { expect, test } from 'vitest';
import { opentofuRules, terraformRules } from '../../../src/vendors/terraform/rules.ts';
import { fc } from '../../support/fast-check.ts';

const locked = (lockId: string | null) =>
  ({ kind: 'state-locked', lockId, holder: 'ada@host', sinceMs: null }) as const;

test.each([
  ['4e2a2b0c-7f3d-9a1e-55c0-0123456789ab', 'a UUID'],
  ['1731924000123456', 'a number'],
  ['acme/network-prod', 'a workspace'],
])('%s, %s, is released', (id) => {
  expect(terraformRules.mend(locked(id))).toBe(`terraform force-unlock -force ${id}`);
  expect(opentofuRules.mend(locked(id))).toBe(`tofu force-unlock -force ${id}`);
});

test.each([
  [null],
  [''],
  ['-force'],
  ['-x/y'],
  ['a b'],
  ['a/b/c'],
  ['../state'],
  ['$(reboot)'],
  ['1; reboot'],
  ['4e2a2b0c-7f3d-9a1e-55c0-0123456789ab\nreboot'],
  ['1\n'],
])('of %j nothing is made', (id) => {
  expect(terraformRules.mend(locked(id))).toBeNull();
});

test('whatever an id is, the command is one of plain words or none', () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      expect(terraformRules.mend(locked(id)) ?? 'terraform force-unlock -force 1').toMatch(
        /^terraform force-unlock -force [\w][\w/-]*$/,
      );
    }),
  );
});

test('has no command for operations that were cut off', () => {
  expect(terraformRules.mend({ kind: 'pending-operations', operations: [] })).toBeNull();
});
