import { describe, expect, it } from 'vitest';
import type { Stack } from '../../src/stacks/stack.ts';
import { anInstallation, call, type Installation } from './installation.ts';

const path = '/api/v1/stacks/acme/network-prod';

/** A stack that a repository file manages, with one variable of the file and one of somebody. */
async function opened() {
  const installation = anInstallation();
  const { database, stackStore } = installation;
  const stack = await installation.addStack();
  await database.write(async (tx) => {
    await stackStore.setManagedBy(tx, stack.key, 'file');
    const variable = { secret: false, access: 'all' } as const;
    await stackStore.putVariable(tx, stack.key, {
      ...variable,
      name: 'LOG_LEVEL',
      value: 'info',
      managedBy: 'file',
    });
    await stackStore.putVariable(tx, stack.key, { ...variable, name: 'FREE', value: 'x' });
  });
  const token = await installation.token('admin');
  return { installation, stack, token, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

async function release({ database, stackStore }: Installation, { key }: Stack): Promise<void> {
  await database.write((tx) => stackStore.setManagedBy(tx, key, null));
}

describe('a stack that the repository file manages', () => {
  it('says so', async () => {
    await using world = await opened();
    const { installation, token, stack } = world;

    expect((await call(installation, 'GET', path, { token })).body).toMatchObject({ managedBy: 'file' });
    await release(installation, stack);
    expect((await call(installation, 'GET', path, { token })).body).toMatchObject({ managedBy: null });
  });

  it.each([
    ['PATCH', { autodeploy: true }],
    ['PATCH', {}],
    ['DELETE', undefined],
  ])('is not for %s %j, until the file lets go', async (method, body) => {
    await using world = await opened();
    const { installation, token, stack } = world;

    const refused = await call(installation, method, path, { token, ...(body ? { body } : {}) });

    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'managed-by-file',
        detail: 'The stack network-prod is managed by .github/slipway.yml of acme/infra.',
        hint: expect.stringContaining('on the branch main; without the entry'),
      },
    });
    await release(installation, stack);
    const allowed = await call(installation, method, path, { token, ...(body ? { body } : {}) });
    expect(allowed.status).toBeLessThan(300);
  });

  it('keeps the variables that the file sets, and leaves the others free', async () => {
    await using world = await opened();
    const { installation, token } = world;
    const request = (method: string, name: string) =>
      call(installation, method, `${path}/environment/${name}`, {
        token,
        ...(method === 'PUT' ? { body: { value: 'changed', secret: false } } : {}),
      });

    for (const method of ['PUT', 'DELETE']) {
      expect(await request(method, 'LOG_LEVEL')).toMatchObject({
        ...{
          status: 409,
          body: { code: 'managed-by-file', hint: expect.stringContaining('take it out of the file') },
        },
      });
    }
    expect((await request('PUT', 'FREE')).status).toBe(204);
    expect((await request('PUT', 'NEW')).status).toBe(204);
    expect((await request('DELETE', 'NEW')).status).toBe(204);
    expect((await call(installation, 'GET', `${path}/environment`, { token })).body.items).toEqual([
      { name: 'FREE', secret: false, access: 'all', value: 'changed' },
      { name: 'LOG_LEVEL', secret: false, access: 'all', value: 'info', managedBy: 'file' },
    ]);
  });

  it('can be locked, and run, and has webhooks like any other', async () => {
    await using world = await opened();
    const { installation, token } = world;

    expect((await call(installation, 'PUT', `${path}/lock`, { token, body: {} })).status).toBe(204);
    expect((await call(installation, 'DELETE', `${path}/lock`, { token })).status).toBe(204);
    const webhook = { endpoint: 'https://receiver.example/x' };
    expect((await call(installation, 'POST', `${path}/webhooks`, { token, body: webhook })).status).toBe(201);
    expect(
      (await call(installation, 'POST', `${path}/runs`, { token, body: { type: 'TRACKED' } })).status,
    ).toBe(201);
  });

  it('is free again when the App no longer sees its repository', async () => {
    await using world = await opened();
    const { installation, token, stack } = world;
    await installation.database.write(async (tx) => {
      const db = installation.database.inside(tx);
      await db.updateTable('repository').set({ removed: 1 }).where('id', '=', stack.repository.id).execute();
    });

    expect((await call(installation, 'DELETE', path, { token })).status).toBe(204);
  });
});
