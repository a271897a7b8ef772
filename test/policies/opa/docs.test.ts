import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkSource } from '../../../src/policies/check-source.ts';
import { policyKinds } from '../../../src/policies/policy.ts';
import { engine } from './real-opa.ts';

const text = readFileSync(join(import.meta.dirname, '../../../docs/policies.md'), 'utf8');

/** Each example with the kind below whose heading it stands; the first one is a PLAN policy. */
const examples = text.split('\n## ').flatMap((part) => {
  const kind = policyKinds.find((each) => part.startsWith(`${each}\n`)) ?? 'PLAN';
  return [...part.matchAll(/```rego\n([^`]+)```/g)].map(([, body = '']) => ({ kind, body }));
});

it('docs/policies.md has examples', () => {
  expect(examples.map(({ kind }) => kind)).toEqual(['PLAN', 'PLAN', 'PLAN', 'PUSH', 'APPROVAL']);
});

it.each(examples)('the $kind example could be saved ($#)', async ({ kind, body }) => {
  expect(await checkSource(engine, kind, { body, regoVersion: 1 })).toMatchObject({
    kind: 'valid',
    hints: [],
  });
});
