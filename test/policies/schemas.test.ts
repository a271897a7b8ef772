import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { inputSchema, inputSchemas, resultSchema } from '../../src/policies/json-schemas.ts';
import { kinds } from '../../src/policies/kinds.ts';
import { type PolicyKind, policyKinds } from '../../src/policies/policy.ts';
import { aPullRequest, aRun, pullRequestDetails } from '../support/builders.ts';
import {
  approvalInputOf,
  aReview,
  aStep,
  loginInputOf,
  planInputOf,
  pullRequestInputOf,
  pushInputOf,
  runUpdatedInputOf,
  triggerInputOf,
} from './inputs.ts';
import { aTerraformPlan } from './terraform-plan.ts';

const folder = join(import.meta.dirname, '../../docs/policies');
const withPlan = { vendor: 'pulumi', steps: [aStep('create-replacement')] };
const task = aRun({
  type: 'TASK',
  command: 'true',
  delta: { added: 0, changed: 0, deleted: 0, resources: 0 },
});

/** What the builders make of facts that are there and of facts that are not. */
const inputs: Readonly<Record<PolicyKind, readonly unknown[]>> = {
  PLAN: [
    planInputOf([]),
    planInputOf([aStep('create'), aStep('update'), aStep('delete')], {
      previousRun: task,
      custom: { a: [1] },
    }),
    planInputOf([], { tool: { name: 'terraform', plan: aTerraformPlan() } }),
    planInputOf([], { tool: { name: 'terraform', plan: { format_version: '1.2' } } }),
  ],
  PUSH: [
    pushInputOf({}, { inProgress: [task] }),
    pushInputOf({ changedPaths: null }),
    pullRequestInputOf({ details: pullRequestDetails({ action: 'merged', state: 'merged', labels: ['a'] }) }),
    pullRequestInputOf({ details: pullRequestDetails({ isMergeable: null }) }),
    pushInputOf({ branch: 'gh-readonly-queue/main/pr-7' }, { kind: 'merge_group' }),
    pullRequestInputOf({ pullRequest: aPullRequest({ isFork: true }), branch: 'mallory:widen' }),
  ],
  APPROVAL: [
    approvalInputOf([aReview('ann'), aReview('bob', { verdict: 'reject', note: 'no' })], { plan: withPlan }),
    approvalInputOf([], { older: [aReview('ann', { state: 'QUEUED', stateVersion: 1 })] }),
  ],
  TRIGGER: [triggerInputOf('FINISHED'), triggerInputOf('FAILED', { run: task, workflow: [] })],
  NOTIFICATION: [runUpdatedInputOf('FAILED')],
  LOGIN: [loginInputOf('Ann'), loginInputOf('bob', { accounts: ['acme'], teams: null })],
};

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const validatorOf = (schema: object) => new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

describe.each(policyKinds)('the published schemas of %s', (kind) => {
  it.each([
    ['input', inputSchema(kind)],
    ['result', resultSchema(kind)],
  ])('%s is what the code says (update with vitest -u)', async (which, schema) => {
    const file = join(folder, `${kind.toLowerCase()}.${which}.schema.json`);
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(file);
  });

  it('accept what the builders make, and name every field of it', () => {
    const validate = validatorOf(inputSchema(kind));
    for (const input of inputs[kind]) {
      expect(validate(asJson(input)) ? [] : validate.errors).toEqual([]);
      expect(inputSchemas[kind].parse(input)).toEqual(input);
    }
  });

  it('require what policies may rely on', () => {
    const validate = validatorOf(inputSchema(kind));
    expect(validate({})).toBe(false);
  });

  it('describe every field of the input', () => {
    const undescribed = (schema: Record<string, unknown>, path: string): readonly string[] => {
      const properties = Object.entries(
        (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>,
      );
      const inside = [schema['items'], ...((schema['anyOf'] ?? []) as unknown[])].filter(Boolean);
      return [
        ...properties.flatMap(([name, property]) => [
          ...(typeof property['description'] === 'string' ? [] : [`${path}${name}`]),
          ...undescribed(property, `${path}${name}.`),
        ]),
        ...inside.flatMap((item) => undescribed(item as Record<string, unknown>, `${path}[]`)),
      ];
    };
    expect(undescribed(inputSchema(kind) as Record<string, unknown>, '')).toEqual([]);
  });

  it('have every rule of the kind', () => {
    expect(Object.keys((resultSchema(kind) as { properties: object }).properties)).toEqual(
      Object.keys(kinds[kind].rules),
    );
  });
});

describe('the result', () => {
  it.each([
    ['PLAN', { deny: ['no', { msg: 'no', urn: 'u' }] }, true],
    ['PLAN', { deny: ['no'], helper: 7 }, true],
    ['PLAN', { deny: [{ message: 'no' }] }, false],
    ['PLAN', { deny: 'no' }, false],
    ['PUSH', { track: true, lock: 'release' }, true],
    ['PUSH', { track: 'yes' }, false],
    ['NOTIFICATION', { webhook: [{ endpoint_id: 'e', payload: [null] }] }, true],
    ['NOTIFICATION', { webhook: [{ payload: 1 }] }, false],
    ['LOGIN', { roles: { acme: ['reader'] } }, true],
    ['LOGIN', { roles: { acme: 'reader' } }, false],
  ] as const)('%s %j: %s', (kind, result, fits) => {
    expect(validatorOf(resultSchema(kind))(result)).toBe(fits);
  });
});
