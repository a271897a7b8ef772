import { describe, expect, it, test } from 'vitest';
import { entityTag, isListed, requireMatch } from '../../src/web/entity-tag.ts';
import { anInstallation, apiRequest, type Installation } from './installation.ts';

const stackPath = '/api/v1/stacks/acme/network-prod';
const operator = { kind: 'operator' } as const;

describe('an entity tag', () => {
  test('is another one when anything is', () => {
    const tag = entityTag('v1', { a: 1 });
    expect(tag).toMatch(/^"[\w.-]+"$/);
    expect(entityTag('v1', { a: 1 })).toBe(tag);
    expect(entityTag('v2', { a: 1 })).not.toBe(tag);
    expect(entityTag('v1', { a: 2 })).not.toBe(tag);
  });

  test.each([
    [undefined, true],
    ['*', true],
    [' * ', true],
    ['"v1.x"', true],
    ['"v0.x", "v1.y"', true],
    ['"v2.x"', false],
    ['W/"v1.x"', false],
    ['v1.x', false],
    ['""', false],
    ['', false],
    ['"v1', false],
  ])('If-Match %j of version v1 allows: %s', (ifMatch, allows) => {
    const ask = () => requireMatch(ifMatch, 'v1');
    if (allows) expect(ask).not.toThrow();
    else expect(ask).toThrow('changed since you loaded them');
  });

  test.each([
    ['*', true],
    ['"a.b"', true],
    ['W/"a.b"', true],
    ['"x", "a.b"', true],
    ['"a.c"', false],
    ['a.b', false],
  ])('If-None-Match %j lists "a.b": %s', (header, isThere) => {
    expect(isListed(header, '"a.b"')).toBe(isThere);
  });
});

async function opened() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const webhook = await installation.webhooks.create(stack.key, {
    endpoint: 'https://receiver.example/hook',
  });
  return { installation, stack, paths: { stack: stackPath, webhook: `/api/v1/webhooks/${webhook.id}` } };
}

async function ask(installation: Installation, method: string, path: string, given: Given = {}) {
  const request = apiRequest(method, path, given.body === undefined ? {} : { body: given.body });
  for (const [name, value] of Object.entries(given.headers ?? {})) request.headers.set(name, value);
  const answer = await installation.web.fetchAs(operator, request);
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', text: await answer.text() };
}

interface Given {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const changes = { stack: { description: 'other' }, webhook: { enabled: false } } as const;

describe.each(['stack', 'webhook'] as const)('a %s', (kind) => {
  const body = changes[kind];

  it('is changed by whoever saw it as it is, and by nobody else', async () => {
    const { installation, paths } = await opened();
    await using _ = installation;
    const path = paths[kind];
    const { etag } = await ask(installation, 'GET', path);

    const mine = await ask(installation, 'PATCH', path, { body, headers: { 'if-match': etag } });
    const late = await ask(installation, 'PATCH', path, { body, headers: { 'if-match': etag } });
    const gone = await ask(installation, 'DELETE', path, { headers: { 'if-match': etag } });

    expect([mine.status, late.status, gone.status]).toEqual([200, 412, 412]);
    expect(JSON.parse(late.text)).toMatchObject({ code: 'precondition-failed', hint: expect.any(String) });
    expect(mine.etag).not.toBe(etag);
    expect((await ask(installation, 'GET', path)).etag).toBe(mine.etag);
    const again = await ask(installation, 'DELETE', path, { headers: { 'if-match': mine.etag } });
    expect(again.status).toBe(204);
  });

  it('is not sent to who has it', async () => {
    const { installation, paths } = await opened();
    await using _ = installation;
    const path = paths[kind];
    const { etag } = await ask(installation, 'GET', path);
    const again = () => ask(installation, 'GET', path, { headers: { 'if-none-match': etag } });

    expect(await again()).toEqual({ status: 304, etag, text: '' });
    await ask(installation, 'PATCH', path, { body });
    expect((await again()).status).toBe(200);
  });

  it('is changed once by many who saw the same', async () => {
    const { installation, paths } = await opened();
    await using _ = installation;
    const path = paths[kind];
    const headers = { 'if-match': (await ask(installation, 'GET', path)).etag };

    const bodies = [1, 2, 3, 4, 5].map((n) =>
      kind === 'stack' ? { description: `${n}` } : { headers: { 'x-number': `${n}` } },
    );
    const answers = await Promise.all(
      bodies.map((each) => ask(installation, 'PATCH', path, { body: each, headers })),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412]);
  });
});

it('a run that goes on, or a lock, is no change of the settings, but one of what is shown', async () => {
  const { installation, stack } = await opened();
  await using _ = installation;
  const { etag } = await ask(installation, 'GET', stackPath);
  await installation.addRun(stack);
  await ask(installation, 'PUT', `${stackPath}/lock`, { body: {} });

  expect((await ask(installation, 'GET', stackPath, { headers: { 'if-none-match': etag } })).status).toBe(
    200,
  );
  const body = { description: 'other' };
  expect((await ask(installation, 'PATCH', stackPath, { body, headers: { 'if-match': etag } })).status).toBe(
    200,
  );
});

it('a new secret of a webhook is another tag, and no tag tells it', async () => {
  const { installation, paths } = await opened();
  await using _ = installation;
  const tags: string[] = [];
  for (const secret of ['one', 'two', 'two']) {
    tags.push((await ask(installation, 'PATCH', paths.webhook, { body: { secret } })).etag);
  }
  expect(new Set(tags).size).toBe(3);
});
