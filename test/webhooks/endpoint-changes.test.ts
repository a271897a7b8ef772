import { describe, expect, it } from 'vitest';
import type { WebhookInput } from '../../src/webhooks/endpoint.ts';
import { someHealth } from '../support/builders.ts';
import { webhooksOn } from './endpoints.ts';
import { openStores } from './stores.ts';

const hourMs = 3_600_000;
const failing = someHealth({ pausedUntilMs: 1_795_000_060_000 });

async function withWebhook(input: Partial<WebhookInput> = {}) {
  const stores = await openStores();
  const webhooks = webhooksOn(stores);
  const stackKey = await stores.addStack();
  const made = await webhooks.create(stackKey, { endpoint: 'https://a.example/', ...input });
  return {
    stores,
    webhooks,
    stackKey,
    made,
    id: made.id,
    update: (change: Parameters<typeof webhooks.update>[1]) => webhooks.update(made.id, change),
    setHealth: (change = {}) =>
      stores.database.write((tx) => stores.deliveries.saveHealth(tx, made.id, { ...failing, ...change })),
    disabledByServer: () =>
      stores.database.write((tx) =>
        stores.webhooks.update(tx, made.id, { disabled: { reason: 'gone', atMs: stores.clock.nowMs() } }),
      ),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

describe('the headers of a webhook', () => {
  it('are merged with those that are there', async () => {
    await using world = await withWebhook({ headers: { Authorization: 'Bearer one', 'X-Team': 'net' } });
    expect(world.made.headers).toEqual({ authorization: 'Bearer one', 'x-team': 'net' });

    const changed = await world.update({ headers: { 'x-team': null, 'X-New': 'v' } });

    expect(changed?.headers).toEqual({ authorization: 'Bearer one', 'x-new': 'v' });
    expect(await world.webhooks.find(world.id)).toEqual(changed);
    expect(await world.webhooks.list(world.stackKey, { after: null, limit: 9 })).toMatchObject([
      { headerNames: ['authorization', 'x-new'] },
    ]);
  });

  it('are merged one change after the other, also when both come at once', async () => {
    await using world = await withWebhook();
    await Promise.all([world.update({ headers: { 'x-a': '1' } }), world.update({ headers: { 'x-b': '2' } })]);
    expect((await world.webhooks.find(world.id))?.headers).toEqual({ 'x-a': '1', 'x-b': '2' });
  });

  it('change nothing when one of them is refused', async () => {
    await using world = await withWebhook({ secret: 'before' });
    const change = { secret: 'after', enabled: false, headers: { 'x-fine': 'v', host: 'b.example' } };
    await expect(world.update(change)).rejects.toMatchObject({ code: 'invalid-input' });
    expect(await world.webhooks.find(world.id)).toEqual(world.made);
  });
});

describe('the filter of a webhook', () => {
  it('is replaced as a whole', async () => {
    const filter = { states: ['FINISHED'], runTypes: ['TRACKED'] } as const;
    await using world = await withWebhook({ filter });
    expect(world.made.filter).toEqual(filter);
    const other = { states: null, runTypes: ['TASK'] } as const;
    expect(await world.update({ filter: other })).toMatchObject({ filter: other });
    expect(await world.update({ enabled: false })).toMatchObject({ filter: other });
  });
});

describe('the secret of a webhook', () => {
  it('is used on after it was regenerated, for as long as the overlap', async () => {
    await using world = await withWebhook({ secret: 'one' });
    const untilMs = world.stores.clock.nowMs() + 24 * hourMs;

    const changed = await world.webhooks.regenerateSecret(world.id, { secret: 'two', overlapHours: 24 });

    expect(changed).toMatchObject({ secret: 'two', oldSecrets: [{ secret: 'one', untilMs }] });
  });

  it('ends at once when it is set, unless somebody says for how long it does not', async () => {
    await using world = await withWebhook({ secret: 'one' });
    await world.update({ secret: 'two', overlapHours: 1 });
    expect(await world.webhooks.find(world.id)).toMatchObject({ oldSecrets: [{ secret: 'one' }] });
    expect(await world.update({ secret: 'three' })).toMatchObject({ secret: 'three', oldSecrets: [] });
  });

  it('that is old is forgotten at the first change after its end, and on demand', async () => {
    await using world = await withWebhook({ secret: 'one' });
    await world.webhooks.regenerateSecret(world.id, { secret: 'two', overlapHours: 1 });
    world.stores.clock.advance(hourMs);
    await world.webhooks.regenerateSecret(world.id, { secret: 'three', overlapHours: 24 });
    expect((await world.update({ enabled: true }))?.oldSecrets.map(({ secret }) => secret)).toEqual(['two']);

    expect(await world.webhooks.endOverlap(world.id)).toBe(true);
    expect(await world.webhooks.find(world.id)).toMatchObject({ secret: 'three', oldSecrets: [] });
    expect(await world.webhooks.endOverlap('nobody')).toBe(false);
  });

  it('is replaced one change after the other, also when both come at once: none is forgotten', async () => {
    await using world = await withWebhook({ secret: 'one' });
    const regenerate = (secret: string) =>
      world.webhooks.regenerateSecret(world.id, { secret, overlapHours: 24 });
    await Promise.all([regenerate('two'), regenerate('three')]);
    const found = await world.webhooks.find(world.id);
    const all = [found?.secret, ...(found?.oldSecrets ?? []).map(({ secret }) => secret)];
    expect(all.toSorted()).toEqual(['one', 'three', 'two']);
    expect(all.at(-1)).toBe('one');
  });
});

describe('what failed', () => {
  it('is forgotten when the webhook is enabled, with the reason', async () => {
    await using world = await withWebhook();
    await world.setHealth();
    await world.disabledByServer();
    expect(await world.webhooks.health(world.id)).toEqual(failing);

    const enabled = await world.update({ enabled: true });

    expect(enabled).toMatchObject({ enabled: true, disabledReason: null, disabledAtMs: null });
    expect(await world.webhooks.health(world.id)).toBeNull();
  });

  it.each([
    { enabled: true },
    { secret: 'other' },
    { headers: { 'x-a': 'b' } },
    { endpoint: 'HTTPS://A.example:443/' },
  ])('is kept when an enabled webhook is changed by %j', async (change) => {
    await using world = await withWebhook();
    await world.setHealth();
    await world.update(change);
    expect(await world.webhooks.health(world.id)).toEqual(failing);
  });

  it('is forgotten when an enabled webhook moves elsewhere, and kept while it is disabled', async () => {
    await using world = await withWebhook();
    await world.setHealth();
    await world.disabledByServer();
    await world.update({ endpoint: 'https://b.example/' });
    expect(await world.webhooks.health(world.id)).toEqual(failing);
    await world.update({ enabled: true });
    await world.setHealth();
    await world.update({ endpoint: 'https://c.example/' });
    expect(await world.webhooks.health(world.id)).toBeNull();
  });

  it('says why the server disabled it, also after a person did the same', async () => {
    await using world = await withWebhook();
    await world.disabledByServer();
    expect(await world.update({ enabled: false })).toMatchObject({ disabledReason: 'gone' });
  });
});

describe('what was missed', () => {
  const states = ['QUEUED', 'READY', 'PREPARING'] as const;

  it('is unknown for a webhook that works', async () => {
    await using world = await withWebhook();
    await world.stores.addEvents(await world.stores.addRun(world.stackKey), states);
    expect(await world.webhooks.missed(world.made)).toBeNull();
  });

  it('counts from when it was disabled', async () => {
    await using world = await withWebhook();
    const { clock } = world.stores;
    await world.stores.addEvents(await world.stores.addRun(world.stackKey), states);
    clock.advance(60_000);
    const disabled = await world.update({ enabled: false });
    await world.stores.addEvents(await world.stores.addRun(world.stackKey), states);
    expect(disabled && (await world.webhooks.missed(disabled))).toBe(3);
  });

  it('counts from when it began to fail, the first failure included, but not from before it was made', async () => {
    await using world = await withWebhook();
    const { clock } = world.stores;
    await world.stores.addEvents(await world.stores.addRun(world.stackKey), states, -1000);
    await world.stores.addEvents(await world.stores.addRun(world.stackKey), states, 1000);
    clock.advance(3000);
    await world.setHealth({ failingSinceMs: clock.nowMs() });
    clock.advance(hourMs);
    await world.disabledByServer();
    const found = await world.webhooks.find(world.id);
    expect(found && (await world.webhooks.missed(found))).toBe(3);
  });
});
