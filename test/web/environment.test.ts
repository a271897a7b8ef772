import { describe, expect, it } from 'vitest';
import { anInstallation, call } from './installation.ts';

const path = '/api/v1/stacks/acme/network-prod/environment';

describe('the environment of a stack', () => {
  it('gives values back only when they are no secrets', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();
    const put = (name: string, body: unknown) =>
      call(installation, 'PUT', `${path}/${name}`, { token, body });

    const secret = await put('TOKEN', { value: 'hunter2hunter2' });
    const plain = await put('REGION', { value: 'eu', secret: false, access: 'tracked' });
    const list = await call(installation, 'GET', path, { token });

    expect([secret.status, plain.status]).toEqual([204, 204]);
    expect(list.body.items).toEqual([
      { name: 'REGION', secret: false, access: 'tracked', value: 'eu' },
      { name: 'TOKEN', secret: true, access: 'all' },
    ]);
    expect(list.text).not.toContain('hunter2');
  });

  it.each(['LD_PRELOAD', 'PATH', 'PULUMI_OPTION_TARGET', 'SLIPWAY_X', '1ST'])('refuses %s', async (name) => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    const refused = await call(installation, 'PUT', `${path}/${name}`, {
      token,
      body: { value: 'something' },
    });

    expect(refused.body).toMatchObject({ status: 422, code: 'environment-name-refused' });
  });

  it('has 500 variables at most', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    const { key } = await installation.addStack();
    await installation.database.write(async (tx) => {
      for (let index = 0; index < 500; index += 1) {
        const variable = { name: `A${index}`, value: 'x', secret: false, access: 'all' } as const;
        await installation.stackStore.putVariable(tx, key, variable);
      }
    });
    const put = (name: string) =>
      call(installation, 'PUT', `${path}/${name}`, { token, body: { value: 'y', secret: false } });

    expect((await put('A7')).status).toBe(204);
    expect((await put('NEW')).body).toMatchObject({ status: 422, code: 'invalid-input' });
  });

  it.each([
    ['a secret too short to be hidden', { value: 'abc' }],
    ['a value with NUL', { value: 'a\0b', secret: false }],
    ['another access', { value: 'something', access: 'everyone' }],
    ['no value', {}],
  ])('refuses %s without repeating it', async (_, body) => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    const refused = await call(installation, 'PUT', `${path}/NAME`, { token, body });

    expect(refused.body).toMatchObject({ status: 422, code: 'invalid-input' });
    expect(refused.body.errors).toHaveLength(1);
  });

  it('loses a variable once', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();
    await call(installation, 'PUT', `${path}/NAME`, { token, body: { value: 'something' } });

    const first = await call(installation, 'DELETE', `${path}/NAME`, { token });
    const second = await call(installation, 'DELETE', `${path}/NAME`, { token });

    expect([first.status, second.status]).toEqual([204, 404]);
  });

  it('keeps values out of the log of the server', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    await call(installation, 'PUT', `${path}/TOKEN`, { token, body: { value: 'hunter2hunter2' } });

    expect(JSON.stringify(installation.logged)).not.toContain('hunter2');
  });
});
