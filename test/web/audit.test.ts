import { describe, expect, it } from 'vitest';
import type { AuditLog } from '../../src/access/audit-log.ts';
import { UserError } from '../../src/user-error.ts';
import { auditRows } from '../support/audit-rows.ts';
import { person } from '../support/builders.ts';
import { fillInstallation } from './filled-installation.ts';
import { anInstallation, apiRequest, call, type Installation } from './installation.ts';

const operator = { kind: 'operator' } as const;
const stackPath = '/api/v1/stacks/acme/network-prod';

async function changingOperations(): Promise<string[]> {
  await using installation = anInstallation();
  const { body } = await call(installation, 'GET', '/api/v1/openapi.json');
  const { paths } = body as { paths: Record<string, object> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !operation.startsWith('GET '));
}

const changesNothing: ReadonlySet<string> = new Set([
  // What the caller alone is shown.
  'PUT /api/v1/runs/{run}/seen',
  'POST /api/v1/policies/check',
  'POST /api/v1/policies/{policy}/simulate',
  'POST /api/v1/policies/{policy}/simulate-runs',
]);
const operations = (await changingOperations()).filter((operation) => !changesNothing.has(operation));

/** What hangs on a stack, a run or a webhook has to be found by its administrators. */
const isOfStack = (operation: string): boolean => /\/(stacks|runs|webhooks|deliveries)\/\{/.test(operation);

const silent: AuditLog = {
  begin: async () => 1,
  end: async () => undefined,
  note: async () => undefined,
  list: async () => [],
  removeOld: async () => undefined,
};

describe('the audit log', () => {
  it('is about more than a few operations', () => {
    expect(operations.length).toBeGreaterThan(20);
  });

  it.each(operations)('has %s', async (operation) => {
    await using installation = anInstallation();
    const { pathOf } = await fillInstallation(installation);
    const [method = '', template = ''] = operation.split(' ');
    const before = await auditRows(installation.audit);

    const body = method === 'DELETE' ? {} : { body: {} };
    const answer = await installation.web.fetchAs(operator, apiRequest(method, pathOf(template), body));

    const [row, ...others] = await auditRows(installation.audit);
    expect(others).toEqual(before);
    expect(row).toMatchObject({
      ...{ operation, status: answer.status, outcome: answer.ok ? 'done' : 'refused' },
      origin: { via: 'cli', address: null },
      actor: { kind: 'operator' },
    });
    const found = { repositoryId: 21, account: 'acme', stack: 'network-prod' };
    if (isOfStack(operation)) expect(row?.subject).toMatchObject(found);
    if (template.includes('{run}')) expect(row?.subject.run).toBe(row?.params['run']);
  });

  it('has nothing of pages that somebody looks at', async () => {
    await using installation = anInstallation();
    const { pathOf } = await fillInstallation(installation);
    installation.roles.set('ada', 'reader');
    const before = await auditRows(installation.audit);

    const path = pathOf('/api/v1/runs/{run}/seen');
    const answer = await installation.web.fetchAs(person('ada'), apiRequest('PUT', path, { body: {} }));

    expect(answer.status).toBe(204);
    expect(await auditRows(installation.audit)).toEqual(before);
  });

  it('has what was made', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();
    const { body } = await call(installation, 'POST', `${stackPath}/runs`, {
      token,
      body: { type: 'TRACKED' },
    });
    const { id: run } = body as { id: string };
    const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };
    const input = { name: 'Another', repository: 'acme/infra', vendor };
    await call(installation, 'POST', '/api/v1/stacks', { token, body: input });

    const [ofStack, ofRun] = await auditRows(installation.audit);
    expect(ofRun?.subject).toEqual({ repositoryId: 21, account: 'acme', stack: 'network-prod', run });
    expect(ofStack?.subject).toEqual({ repositoryId: 21, account: 'acme', stack: 'another', run: null });
  });

  it('says who, by what way and from where', async () => {
    await using installation = anInstallation();
    const token = await installation.token('writer', 'acme');
    await installation.addStack();
    const request = apiRequest('PUT', `${stackPath}/lock`, { token, body: {} });
    request.headers.set('x-forwarded-for', '198.51.100.9');

    await installation.web.fetch(request, '203.0.113.7');

    expect(await auditRows(installation.audit)).toMatchObject([
      {
        actor: { kind: 'token', name: 'writer-token', key: expect.stringMatching(/^token:/) },
        origin: { via: 'api', address: '203.0.113.7', forwardedFor: '198.51.100.9' },
        params: { account: 'acme', stack: 'network-prod' },
      },
    ]);
  });

  it.each([
    ['401', 'wrong', 'DELETE', stackPath, {}, null],
    ['403', 'reader', 'DELETE', stackPath, {}, 403],
    ['404', 'globex', 'DELETE', stackPath, {}, 404],
    ['405', 'admin', 'PUT', stackPath, {}, null],
    ['415', 'admin', 'POST', `${stackPath}/runs`, 'text', 415],
    ['422', 'admin', 'POST', `${stackPath}/runs`, { type: 'NONE' }, 422],
  ])('writes %s down as it should', async (_, who, method, path, body, status) => {
    await using installation = anInstallation();
    await installation.addStack();
    const tokens: Record<string, string> = {
      wrong: 'slipway_wrong',
      reader: await installation.token('reader'),
      globex: await installation.token('admin', 'globex'),
      admin: await installation.token('admin'),
    };
    const request = apiRequest(method, path, { token: tokens[who] ?? '', body });
    if (body === 'text') request.headers.set('content-type', 'text/plain');

    await installation.web.fetch(request);

    const rows = await auditRows(installation.audit);
    expect(rows.map((row) => row.status)).toEqual(status === null ? [] : [status]);
  });

  it('has a call that was never ended, with an unknown outcome', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using installation = anInstallation({
      triggers: {
        manual: async () => {
          await held;
          throw new UserError('commit-not-found', 'too late');
        },
      },
    });
    await installation.addStack();
    const path = `${stackPath}/runs`;

    const answer = installation.web.fetchAs(
      operator,
      apiRequest('POST', path, { body: { type: 'TRACKED' } }),
    );
    await until(async () => (await auditRows(installation.audit)).length === 1);

    expect(await auditRows(installation.audit)).toMatchObject([{ outcome: 'unknown', status: null }]);
    release();
    expect((await answer).status).toBe(422);
    expect(await auditRows(installation.audit)).toMatchObject([{ outcome: 'refused', status: 422 }]);
  });

  it('has no secret, no endpoint and nothing else of a body', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();
    const variable = { value: 'value-of-variable' };
    await call(installation, 'PUT', `${stackPath}/environment/NAME`, { token, body: variable });
    const endpoint = 'https://receiver.example/path-of-endpoint?q=query-of-endpoint';
    const webhook = { endpoint, secret: 'secret-of-webhook', headers: { authorization: 'value-of-header' } };
    const { status } = await call(installation, 'POST', `${stackPath}/webhooks`, { token, body: webhook });

    expect(status).toBe(201);
    const rows = await auditRows(installation.audit);
    expect(rows.map(({ params }) => params['name'])).toEqual([undefined, 'NAME']);
    expect(JSON.stringify(rows)).not.toMatch(/-of-/);
  });

  it('keeps a call from being carried out that cannot be written down', async () => {
    await using installation = anInstallation({
      audit: {
        ...silent,
        begin: () => Promise.reject(new UserError('storage-full', 'The disk is full.')),
      },
    });
    await installation.addStack();

    const answer = await installation.web.fetchAs(operator, apiRequest('DELETE', stackPath));

    expect(answer.status).toBe(503);
    expect(await installation.stackStore.find('acme', 'network-prod')).not.toBeNull();
  });

  it('does not make an answer wrong when its outcome cannot be written', async () => {
    await using installation = anInstallation({
      audit: {
        ...silent,
        end: () => Promise.reject(new UserError('storage-full', 'The disk is full.')),
      },
    });
    await installation.addStack();

    const answer = await installation.web.fetchAs(operator, apiRequest('DELETE', stackPath));

    expect(answer.status).toBe(204);
    expect(installation.logged.map(({ msg }) => msg)).toContain(
      'the outcome of a call could not be written to the audit log',
    );
  });
});

describe('GET /api/v1/audit', () => {
  async function written() {
    const installation = anInstallation();
    await installation.addStack('Network Prod');
    await installation.addStack('Theirs', 'globex/infra');
    for (const path of [stackPath, '/api/v1/stacks/globex/theirs', '/api/v1/stacks/acme/none']) {
      await installation.web.fetchAs(operator, apiRequest('PUT', `${path}/lock`, { body: {} }));
    }
    return installation;
  }

  const stacksOf = (body: unknown) =>
    (body as { items: { stack?: string }[] }).items.map(({ stack = 'none' }) => stack);

  async function seenBy(installation: Installation, login: string): Promise<string[]> {
    const answer = await installation.web.fetchAs(person(login), apiRequest('GET', '/api/v1/audit'));
    return stacksOf(await answer.json());
  }

  it('shows everything to administrators of the instance', async () => {
    await using installation = await written();
    expect(await seenBy(installation, 'Root-Ada')).toEqual(['none', 'theirs', 'network-prod']);
  });

  it('shows what people administer, as GitHub says now', async () => {
    await using installation = await written();
    installation.roles.set('ann acme/infra', 'admin');
    installation.roles.set('ann globex/infra', 'writer');

    expect(await seenBy(installation, 'ann')).toEqual(['network-prod']);
    installation.roles.set('ann acme/infra', 'writer');
    expect(await seenBy(installation, 'ann')).toEqual([]);
  });

  it('shows who deleted a stack to who administered it', async () => {
    await using installation = await written();
    installation.roles.set('ann acme/infra', 'admin');
    await installation.web.fetchAs(operator, apiRequest('DELETE', stackPath));

    expect(await seenBy(installation, 'ann')).toEqual(['network-prod', 'network-prod']);
  });

  it.each([
    ['reader', 'acme', []],
    ['admin', 'acme', ['network-prod']],
    ['admin', 'globex', ['theirs']],
    ['writer', null, []],
  ] as const)(
    'shows a token of role %s and account %s what it administers',
    async (role, account, wanted) => {
      await using installation = await written();
      const token = await installation.token(role, account);

      const { body } = await call(installation, 'GET', '/api/v1/audit', { token });

      expect(stacksOf(body)).toEqual(wanted);
    },
  );

  it('shows nothing of another account, whatever is asked for', async () => {
    await using installation = await written();
    const token = await installation.token('admin', 'acme');
    const { body } = await call(installation, 'GET', '/api/v1/audit?account=globex', { token });
    expect(stacksOf(body)).toEqual([]);
  });

  it.each([
    ['account=ACME', ['network-prod']],
    ['stack=theirs', ['theirs']],
    ['actor=Operator', ['none', 'theirs', 'network-prod']],
    ['actor=ada', []],
    ['since=99999999999', []],
    ['until=1', []],
  ])('filters by ?%s', async (query, wanted) => {
    await using installation = await written();
    const token = await installation.token('admin');
    const { body } = await call(installation, 'GET', `/api/v1/audit?${query}`, { token });
    expect(stacksOf(body)).toEqual(wanted);
  });

  it('comes in pages that new rows do not move', async () => {
    await using installation = await written();
    const token = await installation.token('admin');
    const first = await call(installation, 'GET', '/api/v1/audit?limit=2', { token });
    const { items, nextCursor } = first.body as { items: object[]; nextCursor: string };
    await call(installation, 'PUT', `${stackPath}/lock`, { token, body: {} });

    const rest = await call(installation, 'GET', `/api/v1/audit?limit=2&cursor=${nextCursor}`, { token });

    expect(items).toHaveLength(2);
    expect(rest.body).toMatchObject({ items: [{ stack: 'network-prod', status: 204 }], nextCursor: null });
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await expect.poll(isSo).toBe(true);
}
