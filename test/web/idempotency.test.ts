import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/user-error.ts';
import { auditRows } from '../support/audit-rows.ts';
import { person } from '../support/builders.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';
import { anInstallation, apiRequest, type Installation } from './installation.ts';

const stackPath = '/api/v1/stacks/acme/network-prod';
const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };
const run = { type: 'TRACKED' };

async function post(installation: Installation, path: string, given: Given) {
  const { token, key, body } = given;
  const request = apiRequest('POST', path, { token, body });
  if (key !== undefined) request.headers.set('idempotency-key', key);
  const answer = await installation.web.fetch(request);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as Body };
}

interface Given {
  readonly token: string;
  readonly key?: string;
  readonly body: unknown;
}

interface Body {
  readonly id?: string;
  readonly code?: string;
}

async function opened(change: Parameters<typeof anInstallation>[0] = {}) {
  const installation = anInstallation(change);
  const stack = await installation.addStack();
  const token = await installation.token('admin');
  const runsThere = () => runsOfStack(installation.database, stack.key);
  return { installation, stack, token, runsThere };
}

describe('an Idempotency-Key', () => {
  it.each([
    ['/api/v1/stacks', { name: 'Another', repository: 'acme/infra', vendor }],
    [`${stackPath}/runs`, run],
    [`${stackPath}/webhooks`, { endpoint: 'https://receiver.example/x', generateSecret: true }],
    ['/api/v1/tokens', { name: 'ci', role: 'reader' }],
  ])('makes one of equal requests to %s, with one answer', async (path, body) => {
    const { installation, token } = await opened();
    await using _ = installation;

    const first = await post(installation, path, { token, key: 'k', body });
    const again = await post(installation, path, { token, key: 'k', body });

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    const [row] = await auditRows(installation.audit);
    expect(row).toMatchObject({ status: 201, note: 'answered as before' });
  });

  it('makes one of twenty that come at the same time', async () => {
    const { installation, token, runsThere } = await opened();
    await using _ = installation;
    const given = { token, key: 'k', body: run };

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(installation, `${stackPath}/runs`, given)),
    );
    const late = await post(installation, `${stackPath}/runs`, given);

    const [made, ...others] = await runsThere();
    expect(others).toEqual([]);
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set([...ids, late.body.id])).toEqual(new Set([made?.id]));
    const codes = answers.filter(({ status }) => status === 409).map(({ body }) => body.code);
    expect(new Set([...codes, 'idempotency-key-in-use'])).toEqual(new Set(['idempotency-key-in-use']));
  });

  it('is one of its sender and its request alone', async () => {
    const { installation, token, runsThere } = await opened();
    await using _ = installation;
    const path = `${stackPath}/runs`;
    await post(installation, path, { token, key: 'k', body: run });
    const other = await installation.token('writer');

    expect((await post(installation, path, { token: other, key: 'k', body: run })).status).toBe(201);
    expect((await post(installation, path, { token, key: 'k2', body: run })).status).toBe(201);
    expect((await post(installation, path, { token, body: run })).status).toBe(201);
    expect(await runsThere()).toHaveLength(4);
    const reused = await post(installation, path, { token, key: 'k', body: { ...run, branch: 'main' } });
    expect(reused).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } });
  });

  it.each([
    ['/api/v1/stacks', { name: 'Another', repository: 'acme/infra', vendor }],
    [`${stackPath}/runs`, run],
    [`${stackPath}/webhooks`, { endpoint: 'https://receiver.example/x', generateSecret: true }],
  ])('tells nobody what was made by %s who has lost the role since', async (path, body) => {
    const { installation } = await opened();
    await using _ = installation;
    const ask = async () => {
      const request = apiRequest('POST', path, { body });
      request.headers.set('idempotency-key', 'k');
      const answer = await installation.web.fetchAs(person('ada'), request);
      return { status: answer.status, text: await answer.text() };
    };
    installation.roles.set('ada', 'admin');
    expect(await ask()).toEqual({ ...(await ask()), status: 201 });

    installation.roles.set('ada', 'reader');
    expect((await ask()).status).toBe(403);
    installation.roles.delete('ada');
    const refused = await ask();
    expect(refused.status).toBe(404);
    expect(refused.text).not.toContain('secret');
  });

  it('is free again when its request was refused', async () => {
    const { installation, token } = await opened();
    await using _ = installation;
    const path = '/api/v1/stacks';
    const body = { name: 'Late', repository: 'acme/late', vendor };
    const late = installation.installed.get('acme/infra');

    expect((await post(installation, path, { token, key: 'k', body })).status).toBe(422);
    if (late) installation.installed.set('acme/late', late);
    expect((await post(installation, path, { token, key: 'k', body })).status).toBe(201);
  });

  it.each([
    ['fails inside', new Error('a bug'), [500, 409]],
    ['could not ask GitHub', new UserError('github-unavailable', 'no answer'), [502, 502]],
  ])('whose request %s', async (_what, error, statuses) => {
    const { installation, token } = await opened({ triggers: { manual: () => Promise.reject(error) } });
    await using _ = installation;
    const ask = () => post(installation, `${stackPath}/runs`, { token, key: 'k', body: run });

    expect([(await ask()).status, (await ask()).status]).toEqual(statuses);
  });

  it.each(['', 'a b', 'x'.repeat(256)])('%j is none', async (key) => {
    const { installation, token } = await opened();
    await using _ = installation;
    const answer = await post(installation, `${stackPath}/runs`, { token, key, body: run });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ path: 'idempotency-key' }] } });
  });
});
