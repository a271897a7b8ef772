import { describe, expect, it } from 'vitest';
import { webhooksOn } from './endpoints.ts';
import { openStores } from './stores.ts';

const page = { after: null, limit: 10 };

describe('webhooks of a stack', () => {
  it('are enabled and without a secret unless somebody says otherwise', async () => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    const created = await webhooks.create(stackKey, { endpoint: 'https://Example.com/Hook' });
    expect(created).toMatchObject({
      stackKey,
      endpoint: 'https://Example.com/Hook',
      url: 'https://example.com/Hook',
      enabled: true,
      secret: null,
      disabledReason: null,
      createdAtMs: stores.clock.nowMs(),
    });
    expect(await webhooks.find(created.id)).toEqual(created);
  });

  it.each([null, '', undefined])('have no secret when it is %j', async (secret) => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const created = await webhooks.create(await stores.addStack(), {
      endpoint: 'https://a.example/',
      secret,
    });
    expect(created.secret).toBeNull();
  });

  it('show their secret, but not in lists', async () => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    const { id } = await webhooks.create(stackKey, { endpoint: 'https://a.example/', secret: 's3cret' });
    expect((await webhooks.find(id))?.secret).toBe('s3cret');
    expect(JSON.stringify(await webhooks.list(stackKey, page))).not.toContain('s3cret');
  });

  it.each([
    'https://example.com/hook',
    'HTTPS://EXAMPLE.com/hook',
    'https://example.com:443/hook',
    'https://example.com./hook',
    'https://example.com/hook#part',
  ])('have https://example.com/hook once, also written as %s', async (endpoint) => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    await webhooks.create(stackKey, { endpoint: 'https://example.com/hook' });
    await expect(webhooks.create(stackKey, { endpoint })).rejects.toMatchObject({
      code: 'endpoint-not-unique',
    });
    expect(await webhooks.list(stackKey, page)).toHaveLength(1);
  });

  it.each([
    'http://example.com/hook',
    'https://example.com:8443/hook',
    'https://example.com/Hook',
    'https://example.com/hook/',
    'https://example.com/hook?a=1',
  ])('may be at %s beside https://example.com/hook', async (endpoint) => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    await webhooks.create(stackKey, { endpoint: 'https://example.com/hook' });
    await expect(webhooks.create(stackKey, { endpoint })).resolves.toBeDefined();
  });

  it('let one of two win that are created at the same time', async () => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    const outcomes = await Promise.allSettled([
      webhooks.create(stackKey, { endpoint: 'https://example.com/hook' }),
      webhooks.create(stackKey, { endpoint: 'HTTPS://Example.com:443/hook' }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'endpoint-not-unique' },
    });
  });

  it('are refused when the target is, and then nothing changes', async () => {
    await using stores = await openStores();
    const stackKey = await stores.addStack();
    const webhooks = webhooksOn(stores);
    const refused = { code: 'endpoint-refused' };
    await expect(webhooks.create(stackKey, { endpoint: 'http://127.0.0.1/' })).rejects.toMatchObject(refused);
    const { id } = await webhooks.create(stackKey, { endpoint: 'https://example.com/' });
    const change = { endpoint: 'https://private.example/', enabled: false };
    await expect(webhooks.update(id, change)).rejects.toMatchObject(refused);
    expect(await webhooks.list(stackKey, page)).toMatchObject([
      { url: 'https://example.com/', enabled: true },
    ]);
  });

  it('change in what is named only', async () => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const stackKey = await stores.addStack();
    const created = await webhooks.create(stackKey, { endpoint: 'https://a.example/', secret: 'old' });
    expect(await webhooks.update(created.id, { enabled: false })).toMatchObject({
      endpoint: 'https://a.example/',
      secret: 'old',
      enabled: false,
      disabledReason: null,
    });
    expect(await webhooks.update(created.id, { secret: '' })).toMatchObject({ secret: null, enabled: false });
    expect(await webhooks.update(created.id, { endpoint: 'https://b.example/' })).toMatchObject({
      url: 'https://b.example/',
    });
    expect(await webhooks.update('nobody', { enabled: true })).toBeNull();
  });

  it('cannot be moved to the endpoint of another', async () => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const stackKey = await stores.addStack();
    await webhooks.create(stackKey, { endpoint: 'https://a.example/' });
    const { id } = await webhooks.create(stackKey, { endpoint: 'https://b.example/' });
    await expect(webhooks.update(id, { endpoint: 'https://A.example/' })).rejects.toMatchObject({
      code: 'endpoint-not-unique',
    });
  });

  it('forget why they were disabled once somebody enables them', async () => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const { id } = await webhooks.create(await stores.addStack(), { endpoint: 'https://a.example/' });
    const disabled = { reason: 'gone', atMs: 0 };
    await stores.database.write((tx) => stores.webhooks.update(tx, id, { disabled }));
    expect(await webhooks.find(id)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(await webhooks.update(id, { enabled: true })).toMatchObject({
      enabled: true,
      disabledReason: null,
    });
  });

  it('get a new random secret of 32 bytes, or the one that is given', async () => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const { id } = await webhooks.create(await stores.addStack(), { endpoint: 'https://a.example/' });
    const regenerate = async (secret?: string) =>
      (await webhooks.regenerateSecret(id, { secret, overlapHours: 0 }))?.secret;
    const [one, two] = [await regenerate(), await regenerate('')];
    expect(one).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(two).not.toBe(one);
    expect((await webhooks.find(id))?.secret).toBe(two);
    expect(await regenerate('mine\n')).toBe('mine\n');
    expect(await webhooks.regenerateSecret('nobody', { overlapHours: 0 })).toBeNull();
  });

  it.each(['x'.repeat(1025), 'é'.repeat(513), 'half \ud83d pair'])('refuse the secret %j', async (secret) => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const input = { endpoint: 'https://a.example/', secret };
    await expect(webhooks.create(await stores.addStack(), input)).rejects.toMatchObject({
      code: 'invalid-input',
      issues: [{ path: 'secret' }],
    });
  });

  it('are removed once', async () => {
    await using stores = await openStores();
    const webhooks = webhooksOn(stores);
    const { id } = await webhooks.create(await stores.addStack(), { endpoint: 'https://a.example/' });
    expect([await webhooks.remove(id), await webhooks.remove(id)]).toEqual([true, false]);
    expect(await webhooks.find(id)).toBeNull();
  });
});
