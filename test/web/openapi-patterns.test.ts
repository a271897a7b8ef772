import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { newStackInput } from '../../src/stacks/stack-input.ts';
import { newWebhookInput, webhookPatch } from '../../src/web/api/webhook-input.ts';
import { fc } from '../support/fast-check.ts';
import { createSchemaCheck, type Document } from './documented.ts';
import { anInstallation, call } from './installation.ts';

/** Rules that the document says in another way than the code that judges: both must take the same. */
let check: ReturnType<typeof createSchemaCheck>;
beforeAll(async () => {
  await using installation = anInstallation();
  const { body } = await call(installation, 'GET', '/api/v1/openapi.json');
  check = createSchemaCheck(body as unknown as Document);
});

const pieces = [
  'a',
  'main',
  'ä',
  '/',
  '.',
  '..',
  './',
  '-',
  ' ',
  '\0',
  '\x07',
  '\u0085',
  '\\',
  '@{',
  '.lock',
  '[bot]',
  '~',
  '\n',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(''));
const required = {
  name: 'Network Prod',
  repository: 'acme/infra',
  vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
};

function expectSame(component: string, schema: z.ZodType, value: unknown): void {
  const wrong = check({ $ref: `#/components/schemas/${component}` }, value);
  expect([component, value, wrong === null]).toEqual([component, value, schema.safeParse(value).success]);
}

describe('the document takes what the API takes', () => {
  it.each(['name', 'branch', 'projectRoot', 'deploymentEnvironment', 'repository'])('for %s', (field) => {
    fc.assert(
      fc.property(text, (value) => expectSame('NewStack', newStackInput, { ...required, [field]: value })),
    );
  });

  it.each(['labels', 'trustedBots'])('for one of %s', (field) => {
    fc.assert(
      fc.property(text, (value) => expectSame('NewStack', newStackInput, { ...required, [field]: [value] })),
    );
  });

  it('for a hook', () => {
    fc.assert(
      fc.property(text, (value) =>
        expectSame('NewStack', newStackInput, { ...required, hooks: { afterRun: [value] } }),
      ),
    );
  });

  it('for the secrets of a webhook', () => {
    const secret = fc.option(fc.constantFrom('', 'secret', null), { nil: undefined });
    const generateSecret = fc.option(fc.boolean(), { nil: undefined });
    const overlapHours = fc.option(fc.constantFrom(0, 168, 169), { nil: undefined });
    const given = (value: object) => JSON.parse(JSON.stringify(value));
    fc.assert(
      fc.property(secret, generateSecret, (first, second) =>
        expectSame(
          'NewWebhook',
          newWebhookInput,
          given({ endpoint: 'https://a.example/', secret: first, generateSecret: second }),
        ),
      ),
    );
    fc.assert(
      fc.property(secret, overlapHours, (first, second) =>
        expectSame('WebhookPatch', webhookPatch, given({ secret: first, overlapHours: second })),
      ),
    );
  });

  it.each([
    [{}, false],
    [{ tofu: {} }, false],
    [{ pulumi: { loginUrl: 'file:///state', stackName: '.dev' } }, false],
    [{ pulumi: { loginUrl: 'file:///state', stackName: 'dev' }, tofu: {} }, false],
    [{ pulumi: { loginUrl: 'file:///state', stackName: 'acme/network/dev' } }, true],
    [{ terraform: {} }, true],
    [{ opentofu: { workspace: 'prod', variableFile: 'prod.tfvars', stateUrl: null } }, true],
    [{ terraform: { workspace: 'a b' } }, false],
    [{ terraform: { backendConfigFile: '/etc/passwd' } }, false],
    [{ terraform: { stackName: 'dev' } }, false],
    [{ terraform: {}, opentofu: {} }, false],
  ])('for the vendor %j', async (vendor, isFine) => {
    const wrong = check({ $ref: '#/components/schemas/NewStack' }, { ...required, vendor });
    expect(wrong === null).toBe(isFine);
    await using installation = anInstallation();
    const token = await installation.token('admin');
    const body = { ...required, vendor };
    const { status } = await call(installation, 'POST', '/api/v1/stacks', { token, body });
    expect(status).toBe(isFine ? 201 : 422);
  });
});
