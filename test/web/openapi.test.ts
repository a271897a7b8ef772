import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { problemCodes } from '../../src/web/problem.ts';
import { payloadJsonSchema } from '../../src/webhooks/payload-schema.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { oddBodies } from '../webhooks/receivers/deliveries.ts';
import { aMessage, aSender } from '../webhooks/sending/messages.ts';
import { type Document, routesOf } from './documented.ts';
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

async function readDocument(): Promise<Document> {
  await using installation = anInstallation();
  return (await call(installation, 'GET', '/api/v1/openapi.json')).body;
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

it('has patterns that every tool can read, and make values from', async () => {
  const document = await readDocument();
  const patterns = new Set<string>();
  JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });

  expect(patterns.size).toBeGreaterThan(10);
  for (const pattern of patterns) expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow();
  // Flags behind it, look-around, classes of Unicode.
  expect([...patterns].filter((pattern) => /[^\\]\/[a-z]*$|\(\?[=!<]|\\p\{/i.test(pattern))).toEqual([]);
});

it('says what the answers of a receiver mean', async () => {
  const { post } = await outgoingWebhook();
  expect(Object.keys(post.responses).toSorted()).toEqual(['2XX', '410', 'default']);
  expect(post.responses['default']?.headers).toHaveProperty('Retry-After');
});

it('names each operation once, with a tag that is described', async () => {
  const document = await readDocument();
  const routes = routesOf(document);
  const ids = routes.map(({ operation }) => operation.operationId);

  expect(new Set(ids).size).toBe(routes.length);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id ?? ''))).toEqual([]);
  const used = [...new Set(routes.flatMap(({ operation }) => operation.tags))].toSorted();
  expect(used).toEqual(document.tags.map(({ name }) => name).toSorted());
});

it('says which problems each operation has, and nothing of how it knows', async () => {
  const document = await readDocument();
  const routes = routesOf(document);
  const codesOf = (id: string) =>
    Object.entries(routes.find(({ operation }) => operation.operationId === id)?.operation.responses ?? {})
      .filter(([status]) => status >= '400')
      .map(([status, { description }]) => `${status} ${description.replaceAll('`', '')}`);

  expect(document.components.schemas['Problem']).toMatchObject({
    properties: { code: { enum: problemCodes } },
  });
  expect(routes.filter(({ operation }) => 'default' in operation.responses)).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('x-refuses');
  expect(codesOf('isAlive')).toEqual([]);
  expect(codesOf('getRun')).toEqual([
    '401 unauthenticated',
    '404 not-found',
    '422 invalid-input',
    '429 rate-limited',
    '500 internal-error',
    '502 github-unavailable',
  ]);
  expect(codesOf('deleteStack')).toContain('409 stack-busy, managed-by-file');
  expect(codesOf('updateStack')).toContain('412 precondition-failed');
  expect(codesOf('createStack')).toContain('415 unsupported-media-type');
  expect(codesOf('createWebhook')).toContain('409 idempotency-key-in-use, endpoint-not-unique');
});

it('takes the session of a browser for a token, and for changes the form token with it', async () => {
  const { paths } = await readDocument();

  expect(paths['/api/v1/stacks']?.['get']?.security).toEqual([{ bearer: [] }, { session: [] }]);
  expect(paths['/api/v1/stacks']?.['post']?.security).toEqual([
    { bearer: [] },
    { session: [], formToken: [] },
  ]);
});

it('has null among the values of what may be null', async () => {
  const { components } = await readDocument();
  const nullable: unknown[] = [];
  JSON.parse(JSON.stringify(components), (_key, value) => {
    if (value?.type?.includes?.('null') && value.enum) nullable.push(value.enum.includes(null));
    return value;
  });

  expect(new Set(nullable)).toEqual(new Set([true]));
});
