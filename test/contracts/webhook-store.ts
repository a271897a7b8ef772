import { describe, expect, it } from 'vitest';
import type { Transactions } from '../../src/tx.ts';
import { everyEvent } from '../../src/webhooks/webhook.ts';
import type { NewWebhook, WebhookStore } from '../../src/webhooks/webhook-store.ts';
import { aWebhook as anyWebhook } from '../support/builders.ts';

export interface WebhookStoreWorld extends AsyncDisposable {
  readonly webhooks: WebhookStore;
  readonly transactions: Transactions;
  addStack(): Promise<string>;
  /** All bytes that the store keeps, for those who look for what must not stand there. */
  dump(): Buffer;
}

const webhookId = '01JWEBHOOK0000000000000000';

function aWebhook(stackKey: string, change: Partial<NewWebhook> = {}): NewWebhook {
  return anyWebhook({
    id: webhookId,
    stackKey,
    endpoint: 'https://Example.com/hook',
    url: 'https://example.com/hook',
    createdAtMs: 1_795_000_000_000,
    ...change,
  });
}

export function webhookStoreContract(name: string, open: () => Promise<WebhookStoreWorld>): void {
  describe(`webhook store on ${name}`, () => {
    it('gives back what was put in', async () => {
      await using world = await open();
      const stackKey = await world.addStack();
      const filter = { states: ['FINISHED', 'FAILED'], runTypes: null } as const;
      const kept = { 'x-key': 'va lue', constructor: 'no prototype' };
      const webhook = aWebhook(stackKey, { secret: 'schlüssel 🔑\n', headers: kept, filter });
      expect(await insert(world, webhook)).toBe('inserted');
      const headerNames = Object.keys(kept);
      const defaults = { headerNames, oldSecrets: [], disabledReason: null, disabledAtMs: null, version: 1 };
      const expected = { ...webhook, ...defaults };
      expect(await world.webhooks.find(webhook.id)).toEqual(expected);
      const { secret, oldSecrets, headers, ...summary } = expected;
      expect(await list(world, stackKey)).toEqual([summary]);
      expect(await world.webhooks.find('nobody')).toBeNull();
    });

    it('keeps no secret in clear text', async () => {
      await using world = await open();
      const secret = 'a-secret-that-must-not-be-found';
      const stackKey = await world.addStack();
      await insert(world, aWebhook(stackKey, { secret, headers: { authorization: `Bearer ${secret}` } }));
      const oldSecrets = [{ secret: `old-${secret}`, untilMs: 9 }];
      await world.transactions.write((tx) => world.webhooks.update(tx, webhookId, { oldSecrets }));
      expect(await world.webhooks.find(webhookId)).toMatchObject({ secret, oldSecrets });
      expect(world.dump().includes('example.com')).toBe(true);
      expect(world.dump().includes(secret)).toBe(false);
    });

    it('has each URL once in a stack, and in as many stacks as want it', async () => {
      await using world = await open();
      const [one, two] = [await world.addStack(), await world.addStack()];
      expect(await insert(world, aWebhook(one))).toBe('inserted');
      expect(await insert(world, aWebhook(one, { id: 'b' }))).toBe('not-unique');
      expect(await insert(world, aWebhook(two, { id: 'c' }))).toBe('inserted');
    });

    it('lets one of two win that come at the same time', async () => {
      await using world = await open();
      const stackKey = await world.addStack();
      const outcomes = await Promise.all([
        insert(world, aWebhook(stackKey, { id: 'a' })),
        insert(world, aWebhook(stackKey, { id: 'b' })),
      ]);
      expect(outcomes.toSorted()).toEqual(['inserted', 'not-unique']);
    });

    it('changes what is named and raises the version', async () => {
      await using world = await open();
      const stackKey = await world.addStack();
      const webhook = aWebhook(stackKey, { secret: 'old' });
      await insert(world, webhook);
      const update = (change: Parameters<WebhookStore['update']>[2]) =>
        world.transactions.write((tx) => world.webhooks.update(tx, webhook.id, change));

      expect(await update({ secret: 'new' })).toBe('updated');
      expect(await world.webhooks.find(webhook.id)).toMatchObject({
        secret: 'new',
        enabled: true,
        version: 2,
      });
      await update({ disabled: { reason: '410', atMs: 5 } });
      await update({ endpoint: { endpoint: 'http://b.example', url: 'http://b.example/' } });
      await update({ secret: null });
      expect(await world.webhooks.find(webhook.id)).toEqual({
        ...webhook,
        endpoint: 'http://b.example',
        url: 'http://b.example/',
        enabled: false,
        disabledReason: '410',
        disabledAtMs: 5,
        headerNames: [],
        oldSecrets: [],
        secret: null,
        version: 5,
      });
    });

    it('refuses a change to the URL of another webhook, but not to its own', async () => {
      await using world = await open();
      const stackKey = await world.addStack();
      const other = { endpoint: 'https://other.example/', url: 'https://other.example/' };
      await insert(world, aWebhook(stackKey, { id: 'a' }));
      await insert(world, aWebhook(stackKey, { id: 'b', ...other }));
      await world.transactions.write(async (tx) => {
        expect(await world.webhooks.update(tx, 'a', { endpoint: other })).toBe('not-unique');
        expect(await world.webhooks.update(tx, 'b', { endpoint: other })).toBe('updated');
        expect(await world.webhooks.update(tx, 'c', { endpoint: other })).toBe('missing');
      });
      expect(await world.webhooks.find('a')).toMatchObject({ url: 'https://example.com/hook', version: 1 });
    });

    it('lists by age, page by page, the stack alone', async () => {
      await using world = await open();
      const [one, two] = [await world.addStack(), await world.addStack()];
      for (const id of ['c', 'a', 'b']) {
        await insert(world, aWebhook(one, { id, url: `https://${id}.example/` }));
      }
      await insert(world, aWebhook(two, { id: 'd' }));
      const first = await world.webhooks.list(one, { after: null, limit: 2 });
      expect(first.map(({ id }) => id)).toEqual(['a', 'b']);
      const rest = await world.webhooks.list(one, { after: 'b', limit: 2 });
      expect(rest.map(({ id }) => id)).toEqual(['c']);
    });

    it('names the enabled ones of a stack, as the transaction sees them', async () => {
      await using world = await open();
      const stackKey = await world.addStack();
      await insert(world, aWebhook(stackKey, { id: 'a' }));
      await insert(world, aWebhook(stackKey, { id: 'b', url: 'https://b.example/', enabled: false }));
      await world.transactions.write(async (tx) => {
        expect(await world.webhooks.enabledOf(tx, stackKey)).toEqual([{ id: 'a', filter: everyEvent }]);
        await world.webhooks.update(tx, 'b', { disabled: null });
        expect(await world.webhooks.enabledOf(tx, stackKey)).toMatchObject([{ id: 'a' }, { id: 'b' }]);
        expect(await world.webhooks.find('b', tx)).toMatchObject({ enabled: true });
      });
    });

    it('removes a webhook once', async () => {
      await using world = await open();
      await insert(world, aWebhook(await world.addStack(), { id: 'a' }));
      const remove = () => world.transactions.write((tx) => world.webhooks.remove(tx, 'a'));
      expect([await remove(), await remove()]).toEqual([true, false]);
      expect(await world.webhooks.find('a')).toBeNull();
    });
  });
}

function insert(world: WebhookStoreWorld, webhook: NewWebhook): Promise<'inserted' | 'not-unique'> {
  return world.transactions.write((tx) => world.webhooks.insert(tx, webhook));
}

function list(world: WebhookStoreWorld, stackKey: string): ReturnType<WebhookStore['list']> {
  return world.webhooks.list(stackKey, { after: null, limit: 100 });
}
