import { describe, expect, it } from 'vitest';
import type { AttemptExchange, Claim, WebhookHealth } from '../../src/webhooks/delivery-store.ts';
import { type DeliveryStoreWorld, driver, leaseMs, t0 } from './delivery-store-driver.ts';

const exchange: AttemptExchange = {
  key: 'key:0a1b2c3d',
  request: {
    headers: {
      'content-type': 'application/json',
      'accept-encoding': 'identity, really',
      'x-slipway-attempt': '1',
      'x-own': '***',
    },
  },
  response: {
    headers: { 'content-type': 'text/plain' },
    body: 'été 🎉',
    bodyEncoding: 'utf8',
    bodyTruncated: true,
    location: null,
  },
  connection: {
    address: '192.0.2.7',
    port: 443,
    reused: false,
    tls: { protocol: 'TLSv1.3', validTo: 1_800_000_000 },
  },
  timingsMs: { dns: 1, connect: 2.5, tls: 3, firstByte: 9, total: 10 },
  resentAtOnce: false,
};

const health: WebhookHealth = {
  failedAttempts: 3,
  failingSinceMs: t0,
  lastFailedAtMs: t0 + 35_000,
  exhausted: 0,
  warnings: 0,
  pausedUntilMs: t0 + 60_000,
  lastError: 'status 503',
};

const versions = (claims: readonly Claim[]) => claims.map(({ stateVersion }) => stateVersion);

export function deliveryStoreContract(name: string, open: () => Promise<DeliveryStoreWorld>): void {
  describe(`delivery store on ${name}`, () => {
    it('keeps the bytes of a payload', async () => {
      await using world = await open();
      const runId = await world.addRun();
      const body = Buffer.from([0, 1, 0xff, 0x7b]);
      await world.transactions.write((tx) => world.deliveries.insertPayload(tx, runId, 1, body));
      expect(Buffer.from((await world.deliveries.payload(runId, 1)) ?? [])).toEqual(body);
      expect(await world.deliveries.payload(runId, 2)).toBeNull();
    });

    it('has one delivery for each webhook, run and state', async () => {
      await using world = await open();
      const [webhookId, runId] = [await world.addWebhook(), await world.addRun()];
      const insert = () =>
        world.transactions.write((tx) =>
          world.deliveries.insert(tx, {
            id: world.newId(),
            webhookId,
            runId,
            stateVersion: 1,
            createdAtMs: t0,
          }),
        );
      expect([await insert(), await insert()]).toEqual([true, false]);
    });

    it('claims what is due once, with a started attempt', async () => {
      await using world = await open();
      const { add, claim } = driver(world);
      const [webhookId, runId] = [await world.addWebhook(), await world.addRun()];
      const id = await add(webhookId, runId, 1);
      expect(await world.deliveries.queues()).toEqual([{ webhookId, nextAtMs: t0 }]);
      expect(await claim(t0 - 1)).toEqual([]);
      expect(await claim(t0)).toEqual([
        {
          ...{ deliveryId: id, webhookId, webhookVersion: 1, runId, stateVersion: 1 },
          ...{ attempt: 1, tries: 1, startedAtMs: t0, rejections: 0, createdAtMs: t0, body: null },
        },
      ]);
      expect(await claim(t0)).toEqual([]);
      const started = { number: 1, startedAtMs: t0, outcome: 'started', durationMs: null, statusCode: null };
      expect(await world.deliveries.find(id)).toMatchObject({
        status: 'pending',
        nextAttemptAtMs: null,
        attempts: [started],
      });
    });

    it('sends what a policy wants, in the way of no state change and with none in its way', async () => {
      await using world = await open();
      const { add, claim } = driver(world);
      const [webhookId, runId] = [await world.addWebhook(), await world.addRun()];
      const change = await add(webhookId, runId, 1);
      const policy = { id: 'policy-1', name: 'Tell' };
      const request = { id: world.newId(), webhookId, runId, stateVersion: 1, createdAtMs: t0, policy };
      const [headers, body] = [{ 'x-own': 'value' }, Buffer.from('{"a":1}')];
      const other = { ...request, id: world.newId() };
      await world.transactions.write(async (tx) => {
        await world.deliveries.insertRequest(tx, { ...request, headers, body });
        await world.deliveries.insertRequest(tx, { ...other, headers: {}, body });
      });
      const next = await add(webhookId, runId, 2);

      const claims = await claim(t0);
      expect(claims.map(({ deliveryId }) => deliveryId)).toEqual([change, request.id, other.id]);
      expect(claims[1]).toMatchObject({ stateVersion: 1, body, policyHeaders: headers });
      const found = await world.deliveries.find(request.id);
      expect(found).toMatchObject({ stateVersion: 1, state: null, policy });
      expect(found && (await world.deliveries.body(found))).toEqual(body);
      expect((await world.deliveries.find(change))?.policy).toBeNull();
      const ofRun = await world.deliveries.listOfRun(runId);
      expect(ofRun.map(({ id }) => id).toSorted()).toEqual([change, next].toSorted());
    });

    it('is done with what was delivered', async () => {
      await using world = await open();
      const { add, claim, finish } = driver(world);
      const id = await add(await world.addWebhook(), await world.addRun(), 1);
      const [claimed] = await claim(t0);
      expect(await finish(claimed)).toBe(true);
      expect(await world.deliveries.find(id)).toMatchObject({
        status: 'delivered',
        nextAttemptAtMs: null,
        attempts: [{ number: 1, outcome: 'delivered', statusCode: 204, durationMs: 12 }],
      });
      expect(await world.deliveries.queues()).toEqual([]);
    });

    it('keeps what went over the wire, and leaves it out of lists', async () => {
      await using world = await open();
      const { add, claim, finish } = driver(world);
      const webhookId = await world.addWebhook();
      const id = await add(webhookId, await world.addRun(), 1);
      const [claimed] = await claim(t0);
      // Most of what is sent follows from the attempt, unless something else was sent.
      const headers = { ...exchange.request.headers, 'x-slipway-delivery': id, 'webhook-id': id };
      const sent = { ...exchange, request: { headers } };
      await finish(claimed, { exchange: sent });
      expect((await world.deliveries.find(id))?.attempts[0]?.exchange).toEqual(sent);
      const [listed] = await world.deliveries.listOfWebhook(webhookId, { before: null, limit: 1 });
      expect(listed?.attempts).toMatchObject([{ number: 1, exchange: null }]);
    });

    it('claims a failed one again at its time, and counts', async () => {
      await using world = await open();
      const { add, claim, finish, failed } = driver(world);
      const id = await add(await world.addWebhook(), await world.addRun(), 1);
      const [first] = await claim(t0);
      await finish(first, failed(t0 + 5000));
      expect(await world.deliveries.find(id)).toMatchObject({ status: 'failed', nextAttemptAtMs: t0 + 5000 });
      expect(await claim(t0 + 4999)).toEqual([]);
      expect(await claim(t0 + 5000)).toMatchObject([{ deliveryId: id, attempt: 2, tries: 2 }]);
    });

    it('claims again what nobody finished, says so, and refuses the late result', async () => {
      await using world = await open();
      const { add, claim, finish } = driver(world);
      const id = await add(await world.addWebhook(), await world.addRun(), 1);
      const [lost] = await claim(t0);
      expect(await claim(t0 + leaseMs - 1)).toEqual([]);
      const [taken] = await claim(t0 + leaseMs);
      expect(taken).toMatchObject({ deliveryId: id, attempt: 2 });
      expect((await world.deliveries.find(id))?.attempts).toMatchObject([
        { number: 1, outcome: 'unknown' },
        { number: 2, outcome: 'started' },
      ]);
      expect(await finish(lost, { statusCode: 200 })).toBe(false);
      expect(await world.deliveries.find(id)).toMatchObject({
        status: 'pending',
        attempts: [{ outcome: 'delivered', statusCode: 200 }, { outcome: 'started' }],
      });
      expect(await finish(taken)).toBe(true);
    });

    it('sends first attempts of a run in the order of its states, and those of other runs beside them', async () => {
      await using world = await open();
      const { add, claim, finish, failed } = driver(world);
      const webhookId = await world.addWebhook();
      const [one, two] = [await world.addRun(), await world.addRun()];
      for (const stateVersion of [2, 1, 3]) await add(webhookId, one, stateVersion);
      await add(webhookId, two, 1);

      const first = await claim(t0);
      expect(first.map(({ runId, stateVersion }) => [runId, stateVersion])).toEqual([
        [one, 1],
        [two, 1],
      ]);
      expect(await claim(t0)).toEqual([]);
      await finish(first[0], failed(t0 + 5000));
      const second = await claim(t0);
      expect(versions(second)).toEqual([2]);
      await finish(second[0]);
      // The failed first is tried again beside the third: it holds up nobody, and is held up by nobody.
      expect(versions(await claim(t0 + 5000)).toSorted()).toEqual([1, 3]);
    });

    it('keeps that order when the sender of the first died', async () => {
      await using world = await open();
      const { add, claim, endLeases } = driver(world);
      const [webhookId, runId] = [await world.addWebhook(), await world.addRun()];
      await add(webhookId, runId, 1);
      await add(webhookId, runId, 2);
      await claim(t0);
      await endLeases();
      expect(versions(await claim(t0 + 10))).toEqual([1]);
      expect(versions(await claim(t0 + 10 + leaseMs))).toEqual([1]);
    });

    it('gives each webhook its share, however long the queue of another', async () => {
      await using world = await open();
      const { add, claim } = driver(world);
      const [busy, idle] = [await world.addWebhook(), await world.addWebhook()];
      for (let index = 0; index < 20; index += 1) await add(busy, await world.addRun(), 1);
      await add(idle, await world.addRun(), 1, t0 + 1);
      const claims = await claim(t0 + 1, { perWebhook: 4 });
      expect(claims.filter(({ webhookId }) => webhookId === busy)).toHaveLength(4);
      expect(claims.filter(({ webhookId }) => webhookId === idle)).toHaveLength(1);
      expect(await claim(t0 + 1, { perWebhook: 4 })).toEqual([]);
    });

    it('looks where it is told to, in that order, and says what is left there', async () => {
      await using world = await open();
      const { add, claimFrom } = driver(world);
      const [one, two, other] = [
        await world.addWebhook(),
        await world.addWebhook(),
        await world.addWebhook(),
      ];
      for (const webhookId of [one, two, other]) {
        for (const atMs of [t0, t0 + 1, t0 + 9000]) await add(webhookId, await world.addRun(), 1, atMs);
      }
      const { claims, queues } = await claimFrom(t0 + 1, [
        { webhookId: two, inFlightAtMost: 3 },
        { webhookId: one, inFlightAtMost: 1 },
      ]);
      expect(claims.map(({ webhookId }) => webhookId)).toEqual([two, two, one]);
      expect(queues).toEqual([
        { webhookId: two, nextAtMs: t0 },
        { webhookId: one, nextAtMs: t0 + 1 },
      ]);
      expect((await claimFrom(t0 + 9000, [{ webhookId: two, inFlightAtMost: 0 }])).claims).toEqual([]);
      expect(await world.deliveries.queues()).toEqual(
        [
          { webhookId: one, nextAtMs: t0 },
          { webhookId: two, nextAtMs: t0 },
          { webhookId: other, nextAtMs: t0 },
        ].toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1)),
      );
    });

    it('gives the body, the version of the webhook and the refusals with a claim', async () => {
      await using world = await open();
      const { add, claim, finish, failed, restart } = driver(world);
      const runId = await world.addRun();
      const body = Buffer.from('{}');
      await world.transactions.write((tx) => world.deliveries.insertPayload(tx, runId, 1, body));
      const id = await add(await world.addWebhook(), runId, 1);
      const [first] = await claim(t0);
      expect(first).toMatchObject({ webhookVersion: 1, rejections: 0 });
      expect(Buffer.from(first?.body ?? [])).toEqual(body);
      await finish(first, { ...failed(t0 + 5000), statusCode: 401, rejections: 1 });
      const [second] = await claim(t0 + 5000);
      expect(second).toMatchObject({ attempt: 2, rejections: 1 });
      await finish(second);
      await restart(id, t0 + 6000);
      expect(await claim(t0 + 6000)).toMatchObject([{ attempt: 3, tries: 1, rejections: 0 }]);
    });

    it('keeps what is planned as far away as it was when the clock is set back', async () => {
      await using world = await open();
      const { add, claim, finish, failed } = driver(world);
      const [webhookId, other] = [await world.addWebhook(), await world.addWebhook()];
      await add(webhookId, await world.addRun(), 1);
      const [first] = await claim(t0);
      await finish(first, failed(t0 + 5000));
      const inFlight = await add(other, await world.addRun(), 1);
      await claim(t0);
      await world.transactions.write(async (tx) => {
        await world.deliveries.saveHealth(tx, webhookId, { ...health, pausedUntilMs: t0 + 60_000 });
        await world.deliveries.moveTimes(tx, 3_600_000);
      });
      const back = t0 - 3_600_000;
      expect((await world.deliveries.health(webhookId))?.pausedUntilMs).toBe(back + 60_000);
      expect(await claim(back + 4999)).toEqual([]);
      expect(await claim(back + 5000)).toMatchObject([{ webhookId, attempt: 2 }]);
      expect(await claim(back + leaseMs)).toMatchObject([{ deliveryId: inFlight, attempt: 2 }]);
    });

    it('keeps the health of a webhook until it works again or is removed', async () => {
      await using world = await open();
      const { deliveries, transactions } = world;
      const [webhookId, other] = [await world.addWebhook(), await world.addWebhook()];
      expect(await deliveries.health(webhookId)).toBeNull();
      const later = { ...health, failedAttempts: 7, warnings: 1, pausedUntilMs: null };
      await transactions.write((tx) => deliveries.saveHealth(tx, webhookId, health));
      await transactions.write(async (tx) => {
        await deliveries.saveHealth(tx, webhookId, later);
        expect(await deliveries.healths(tx, [webhookId, other, 'nobody'])).toEqual(
          new Map([[webhookId, later]]),
        );
      });
      expect(await deliveries.health(webhookId)).toEqual(later);
      await transactions.write((tx) => deliveries.clearHealth(tx, webhookId));
      expect(await deliveries.health(webhookId)).toBeNull();
      await transactions.write((tx) => deliveries.saveHealth(tx, other, health));
      await world.removeWebhook(other);
      expect(await deliveries.health(other)).toBeNull();
    });

    it('takes back a claim of which nothing was sent, as if it had not been', async () => {
      await using world = await open();
      const { add, claim, handBack } = driver(world);
      const id = await add(await world.addWebhook(), await world.addRun(), 1);
      const [claimed] = await claim(t0);
      await handBack(claimed);
      expect(await world.deliveries.find(id)).toMatchObject({ status: 'pending', attempts: [] });
      expect(await claim(t0 + 1)).toMatchObject([{ deliveryId: id, attempt: 1 }]);
    });

    it('stops what is not delivered, also while it is in flight', async () => {
      await using world = await open();
      const { add, claim, finish, failed, stop, handBack } = driver(world);
      const [webhookId, other] = [await world.addWebhook(), await world.addWebhook()];
      const ids: string[] = [];
      for (let index = 0; index < 4; index += 1) ids.push(await add(webhookId, await world.addRun(), 1));
      const untouched = await add(other, await world.addRun(), 1, t0 + 60_000);
      const [delivered, failing, unsent] = await claim(t0, { perWebhook: 3 });
      await stop(webhookId);
      await finish(delivered);
      await finish(failing, failed(t0 + 5000));
      await handBack(unsent);

      const statuses = await Promise.all(ids.map(async (id) => (await world.deliveries.find(id))?.status));
      expect(statuses).toEqual(['delivered', 'skipped', 'skipped', 'skipped']);
      expect(await claim(t0 + 30_000)).toEqual([]);
      expect((await world.deliveries.find(untouched))?.status).toBe('pending');
    });

    it('starts a new round for a delivery in any state, but not for one in flight', async () => {
      await using world = await open();
      const { add, claim, finish, failed, restart } = driver(world);
      const id = await add(await world.addWebhook(), await world.addRun(), 1);
      const [first] = await claim(t0);
      expect(await restart(id, t0 + 1)).toBe('in-flight');
      await finish(first, { ...failed(0), status: 'exhausted', nextAttemptAtMs: null });
      expect(await claim(t0 + 10)).toEqual([]);
      expect(await restart(id, t0 + 10)).toBe('due');
      expect(await world.deliveries.find(id)).toMatchObject({ status: 'pending', nextAttemptAtMs: t0 + 10 });
      expect(await claim(t0 + 10)).toMatchObject([{ deliveryId: id, attempt: 2, tries: 1 }]);
      expect(await restart('nobody', t0)).toBe('missing');
    });

    it('ends all leases at the start of a server', async () => {
      await using world = await open();
      const { add, claim, finish, endLeases, stop } = driver(world);
      const [webhookId, stopped] = [await world.addWebhook(), await world.addWebhook()];
      const id = await add(webhookId, await world.addRun(), 1);
      const skipped = await add(stopped, await world.addRun(), 1);
      const [lost] = await claim(t0);
      await stop(stopped);
      await endLeases();
      expect(await finish(lost)).toBe(false);
      expect(await claim(t0 + 1)).toMatchObject([{ deliveryId: id, attempt: 2, tries: 2 }]);
      expect(await world.deliveries.find(skipped)).toMatchObject({
        status: 'skipped',
        attempts: [{ outcome: 'unknown' }],
      });
    });

    it('knows the last attempt of a webhook, that of its newest delivery that was tried', async () => {
      await using world = await open();
      const { add, claim, finish, failed } = driver(world);
      const [webhookId, other] = [await world.addWebhook(), await world.addWebhook()];
      const [first, second] = [await world.addRun(), await world.addRun()];
      await add(webhookId, first, 1);
      const last = async () => world.deliveries.lastAttempt(webhookId);
      expect(await last()).toBeNull();

      const [claimed] = await claim(t0);
      expect(await last()).toMatchObject({ number: 1, outcome: 'started' });
      await finish(claimed, { ...failed(t0 + 5000), exchange });
      expect(await last()).toMatchObject({ outcome: 'failed', statusCode: 500, exchange: null });
      await add(webhookId, second, 1);
      expect(await last()).toMatchObject({ outcome: 'failed' });
      const [again] = await claim(t0 + 1);
      await finish(again);
      expect(await last()).toMatchObject({ outcome: 'delivered', statusCode: 204, durationMs: 12 });
      expect(await world.deliveries.lastAttempt(other)).toBeNull();
    });

    it('lists newest first, page by page, and forgets those of a removed webhook', async () => {
      await using world = await open();
      const { add, claim } = driver(world);
      const [webhookId, runId] = [await world.addWebhook(), await world.addRun()];
      const ids: string[] = [];
      for (const stateVersion of [1, 2, 3]) ids.push(await add(webhookId, runId, stateVersion));
      await add(await world.addWebhook(), runId, 1);
      await claim(t0);
      const newest = await world.deliveries.listOfWebhook(webhookId, { before: null, limit: 2 });
      expect(newest.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
      const rest = await world.deliveries.listOfWebhook(webhookId, { before: ids[1] ?? '', limit: 2 });
      expect(rest).toMatchObject([{ id: ids[0], attempts: [{ number: 1 }] }]);

      await world.removeWebhook(webhookId);
      expect(await world.deliveries.find(ids[0] ?? '')).toBeNull();
      expect(await world.deliveries.listOfWebhook(webhookId, { before: null, limit: 2 })).toEqual([]);
    });
  });
}
