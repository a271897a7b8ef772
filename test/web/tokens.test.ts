import { expect, it } from 'vitest';
import { anInstallation, apiRequest, call } from './installation.ts';

const path = '/api/v1/tokens';

it('makes tokens that work at once, lists them without themselves, and takes them back', async () => {
  await using installation = anInstallation();
  const admin = await installation.token('admin');
  const body = { name: 'ci', role: 'writer', account: 'acme' };

  const made = await call(installation, 'POST', path, { token: admin, body });
  const { token, ...rest } = made.body as { token: string; id: string };
  const stacks = await call(installation, 'GET', '/api/v1/stacks', { token });
  const list = await call(installation, 'GET', path, { token: admin });
  const revoked = await call(installation, 'DELETE', `${path}/${rest.id}`, { token: admin });
  const after = await call(installation, 'GET', '/api/v1/stacks', { token });

  expect([made.status, stacks.status, revoked.status, after.status]).toEqual([201, 200, 204, 401]);
  expect(rest).toMatchObject({ ...body, createdBy: 'admin-token', expiresAt: null, lastUsedAt: null });
  expect((list.body as { items: object[] }).items[1]).toMatchObject({
    ...{ ...rest, lastUsedAt: expect.any(Number) },
  });
  expect(list.text).not.toContain(token);
});

it('says of an expired token that it expired', async () => {
  await using installation = anInstallation();
  // The clock of the installation goes on by a second with each look.
  const expiresAt = 1_795_000_000 + 60;
  const body = { name: 'short', role: 'admin', expiresAt };
  const made = await installation.web.fetchAs({ kind: 'operator' }, apiRequest('POST', path, { body }));
  const { token } = (await made.json()) as { token: string };

  expect((await call(installation, 'GET', '/api/v1/stacks', { token })).status).toBe(200);
  let answer = await call(installation, 'GET', '/api/v1/stacks', { token });
  for (let looks = 0; looks < 100 && answer.status === 200; looks += 1) {
    answer = await call(installation, 'GET', '/api/v1/stacks', { token });
  }

  expect(answer).toMatchObject({ status: 401, body: { detail: 'The token has expired.' } });
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

it.each([
  [{ name: '', role: 'admin' }, 'name'],
  [{ name: 'x', role: 'boss' }, 'role'],
  [{ name: 'x', role: 'admin', expiresAt: 5 }, 'expiresAt'],
  [{ name: 'x', role: 'admin', expiresAt: 1e15 }, 'expiresAt'],
])('refuses %j', async (body, field) => {
  await using installation = anInstallation();
  const token = await installation.token('admin');
  const answer = await call(installation, 'POST', path, { token, body });
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ path: field }] } });
});
