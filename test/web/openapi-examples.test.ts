import { beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../src/access/origin.ts';
import type { Run } from '../../src/runs/run.ts';
import { person } from '../support/builders.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';
import { attempted } from './attempted.ts';
import { addJudgedRun } from './denied-run.ts';
import { type Content, createSchemaCheck, type Document, type Route, routesOf } from './documented.ts';
import { anInstallation, apiRequest, type Installation, untilUnconfirmed } from './installation.ts';
import { addTroubledRun } from './troubled-run.ts';

/** Every example of the document: fits its schema, and does what the document says when it is sent. */
let routes: readonly Route[];
let check: ReturnType<typeof createSchemaCheck>;
beforeAll(async () => {
  await using installation = anInstallation();
  const response = await installation.web.fetch(apiRequest('GET', '/api/v1/openapi.json'));
  const document = (await response.json()) as Document;
  routes = routesOf(document);
  check = createSchemaCheck(document);
});

/** What is wrong with the examples of a body; a missing one is. */
function wrongIn(content: Content = {}): string[] {
  return Object.entries(content).flatMap(([type, { schema = {}, example }]) => {
    if (example === undefined) return [`${type}: no example`];
    const wrong = check(schema, example);
    return wrong === null ? [] : [`${type}: ${wrong}`];
  });
}

describe('the examples of the document', () => {
  it('are there for every parameter that is needed, body and answer, and fit', () => {
    const wrong = routes.flatMap(({ operation }) => {
      const { operationId, parameters = [], requestBody, responses } = operation;
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      return [
        ...parameters.flatMap((parameter) => {
          const example = exampleOf(parameter);
          if (example === undefined) return parameter.required ? [`${parameter.name}: no example`] : [];
          return check(parameter.schema, example) ?? [];
        }),
        ...wrongIn(requestBody?.content),
        ...answers.flatMap(([, { content }]) => wrongIn(content)),
      ].map((what) => `${operationId}: ${what}`);
    });

    expect(wrong).toEqual([]);
  });

  it('can be sent as they are, to read', async () => {
    await using installation = anInstallation();
    const ids = await prepared(installation, 'getRun');
    for (const route of routes.filter(({ method }) => method === 'get')) {
      await expectSuccess(installation, route, requestOf(route, ids));
    }
  });

  it('can be sent as they are, to change', { timeout: 60_000 }, async () => {
    const changes = routes.filter(({ method }) => method !== 'get');
    for (const route of changes.filter(({ operation }) => !(operation.operationId in cannotSucceed))) {
      await using installation = anInstallation();
      const ids = await prepared(installation, route.operation.operationId);
      await expectSuccess(installation, route, requestOf(route, ids));
    }
  });
});

/** Of the instance. A person, as some operations are for people only. */
const administrator = { ...person('root-ada'), userId: 5 };

async function expectSuccess({ web }: Installation, { operation }: Route, request: Request): Promise<void> {
  const { status, body } = await web.fetchAs(administrator, request);
  await body?.cancel();
  const documented = Object.keys(operation.responses).find((each) => each.startsWith('2'));
  expect(`${operation.operationId} ${status}`).toBe(`${operation.operationId} ${documented}`);
}

/** For another reason than the request. */
const cannotSucceed: Readonly<Record<string, string>> = {
  createModule: 'there are no modules',
  receiveFromGithub: 'it is signed',
};

const exampleOf = ({ example, schema }: { example?: unknown; schema: { example?: unknown } }): unknown =>
  example ?? schema.example;

/** With the ids of what there is, and for all else the examples. */
function requestOf({ path, method, operation }: Route, ids: Ids): Request {
  const { parameters = [], requestBody } = operation;
  const ofInbox = (name: string) => (path.includes('/inbox/') ? 'inboxDelivery' : name);
  const inPath = (name: string) => encodeURIComponent(ids[ofInbox(name)] ?? '');
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && exampleOf(parameter) !== undefined)
    .map((parameter): [string, string] => [
      parameter.name,
      ids[parameter.name] ?? String(exampleOf(parameter)),
    ]);
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => inPath(name));
  const body = requestBody?.content['application/json']?.example;
  const search = new URLSearchParams(query);
  return apiRequest(method.toUpperCase(), `${address}?${search}`, { body });
}

type Ids = Readonly<Record<string, string>>;
type Steps = Parameters<Installation['move']>[1][];

/** What the run has been through, when the operation needs another than one that waits for its confirmation. */
const stepsBefore: Readonly<Record<string, Steps>> = {
  cancelRun: [],
  stopRun: untilUnconfirmed.slice(0, -1),
  retryRun: [{ kind: 'cancel' }],
  deleteStack: [{ kind: 'cancel' }],
};

async function prepared(installation: Installation, operationId: string): Promise<Ids> {
  const {
    tokens,
    addStack,
    addRun,
    move,
    stackStore,
    inboxStore,
    webhooks,
    replays,
    database,
    logs,
    sessions,
  } = installation;
  // The one that the example makes must not be there.
  const stack = await addStack(operationId === 'createStack' ? 'Other' : 'Network Prod');
  const hook = await webhooks.create(stack.key, { endpoint: 'https://receiver.example/hook' });
  const ended: Readonly<Record<string, () => Promise<Run>>> = {
    overrideRun: () => addJudgedRun(installation, stack),
    mendRun: () => addTroubledRun(installation, stack),
  };
  const ordinary = async () => move(await addRun(stack), ...(stepsBefore[operationId] ?? untilUnconfirmed));
  const first = await (ended[operationId] ?? ordinary)();
  if (operationId === 'approveRun' || operationId === 'rejectRun') installation.guards.push('p1 1');
  const run = operationId === 'prioritizeRun' ? await addRun(stack) : first;
  await logs.append(run.id, 'planning', 0, Buffer.from('previewing'));
  const { deliveryId } = await attempted(installation, hook.id);
  const received = {
    id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    event: 'push',
    lane: 'other',
    receivedAtMs: 1,
  };
  await database.write(async (tx) => {
    const variable = { name: 'AWS_REGION', value: 'eu-west-1', secret: false, access: 'all' } as const;
    await stackStore.putVariable(tx, stack.key, variable);
    await inboxStore.insert(tx, { ...received, body: Buffer.from('{}') });
    await inboxStore.settle(tx, received.id, { state: 'failed', note: 'no luck' });
  });
  const { login, email, userId } = administrator;
  await installation.logIn(
    { login, email, userId },
    {
      ...{ userAgent: 'a browser', before: null, origin: commandLine },
    },
  );
  const [session] = await sessions.listOf(userId);
  const policy = aPolicy({ name: 'another' });
  const about = { accountId: 11, stackKey: stack.key, runId: run.id, subject: 'the plan' };
  const { stores } = installation.policies;
  const input = await stores.decisions.packSample(Buffer.from('{}'));
  const sample = await database.write(async (tx) => {
    await stores.policies.insert(tx, policy);
    await stores.policies.attach(tx, policy.id, stack.key);
    return stores.decisions.record(tx, aJudgement({ policy, sample: true }), about, input);
  });
  const token = await tokens.create({ name: 'spare', role: 'reader', account: null }, administrator);
  const range = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, state: null, failedOnly: false };
  const replay = operationId === 'cancelReplay' ? await replays.start(hook.id, range, 'ada') : null;
  return {
    account: 'acme',
    stack: stack.id,
    run: run.id,
    session: session?.id ?? '',
    webhook: hook.id,
    delivery: deliveryId,
    inboxDelivery: received.id,
    replay: replay && 'id' in replay ? replay.id : '',
    name: 'AWS_REGION',
    policy: policy.id,
    sample: sample.id,
    token: token.id,
  };
}
