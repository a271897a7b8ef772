import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { payloadJsonSchema } from '../../src/webhooks/payload-schema.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { oddBodies } from '../webhooks/receivers/deliveries.ts';
import { aMessage, aSender } from '../webhooks/sending/messages.ts';
import { anInstallation, call } from './installation.ts';

interface Webhook {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description: string;
    readonly schema: object;
  }[];
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
  };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly headers?: object }>>;
}

async function outgoingWebhook() {
  await using installation = anInstallation();
  const { body } = await call(installation, 'GET', '/api/v1/openapi.json');
  const { webhooks, components } = body as unknown as {
    readonly webhooks: { readonly runStateChanged: { readonly post: Webhook } };
    readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> };
  };
  const { post } = webhooks.runStateChanged;
  const { $ref } = post.requestBody.content['application/json']?.schema ?? { $ref: '' };
  return { post, payload: components.schemas[$ref.replace('#/components/schemas/', '')] ?? {} };
}

it('describes the body of the outgoing webhook as the published schema does', async () => {
  const { payload } = await outgoingWebhook();
  const { $schema, title, ...published } = payloadJsonSchema();
  expect(payload).toEqual(published);
  const validate = new Ajv2020({ strict: true }).compile(payload);
  expect(oddBodies.filter(([, body]) => !validate(JSON.parse(body.toString())))).toEqual([]);
  expect(validate({ ...JSON.parse(oddBodies[0]?.[1].toString() ?? ''), stateVersion: 0 })).toBe(false);
});

it.each([
  ['with a secret', {}],
  ['without one', { webhook: { secret: null } }],
])('describes every header of a delivery %s', async (_what, change) => {
  const { post } = await outgoingWebhook();
  await using receiver = await startReceiver();
  await using sender = aSender();
  await sender.send(aMessage(receiver.url, change));

  const sent = receiver.received[0]?.headers ?? {};
  // Those belong to HTTP, or stand beside the schema of the body.
  const ofHttp = ['host', 'connection', 'content-length', 'accept-encoding', 'content-type'];
  const documented = new Map(post.parameters.map((parameter) => [parameter.name.toLowerCase(), parameter]));
  expect(Object.keys(sent).filter((name) => !ofHttp.includes(name) && !documented.has(name))).toEqual([]);
  for (const [name, parameter] of documented) {
    expect(parameter, name).toMatchObject({ in: 'header', description: expect.stringMatching(/./) });
    if (!parameter.required && sent[name] === undefined) continue;
    const validate = new Ajv2020().compile(parameter.schema);
    expect(validate(sent[name]), `${name}: ${sent[name]}`).toBe(true);
  }
  expect([...documented.values()].filter(({ required }) => !required).map(({ name }) => name)).toEqual([
    'webhook-signature',
  ]);
});

it('has patterns that fit what the API takes', async () => {
  await using installation = anInstallation();
  const { body } = await call(installation, 'GET', '/api/v1/openapi.json');
  const patterns: string[] = [];
  JSON.parse(JSON.stringify(body), (key, value) => {
    if (key === 'pattern' && typeof value === 'string') patterns.push(value);
    return value;
  });
  const fits = (text: string) => patterns.filter((pattern) => new RegExp(pattern, 'u').test(text)).length;

  expect(fits('feature/é')).toBeGreaterThan(0);
  expect(fits('Slipway/0.1.0')).toBeGreaterThan(0);
  expect(fits('neither a branch\tnor a name')).toBe(0);
});

it('says what the answers of a receiver mean', async () => {
  const { post } = await outgoingWebhook();
  expect(Object.keys(post.responses).toSorted()).toEqual(['2XX', '410', 'default']);
  expect(post.responses['default']?.headers).toHaveProperty('Retry-After');
});
