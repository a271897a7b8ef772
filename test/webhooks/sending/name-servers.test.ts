import { describe, expect, it } from 'vitest';
import { createResolver } from '../../../src/webhooks/targets/name-resolver.ts';
import { type DnsAnswer, type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type Outgoing, startOutgoing } from '../outgoing.ts';
import { eventually, type Receiver, startReceiver } from '../receiver.ts';

/** Allowed, and where a receiver answers. */
const good = '127.0.0.1';
/** Not allowed, and answering just the same: a guard that fails is seen by its connections. */
const forbidden = '127.0.0.2';
const publicAddress = '93.184.215.14';
const mapped = (lastGroup: string) => `0:0:0:0:0:ffff:${lastGroup}`;

interface World extends AsyncDisposable {
  readonly dns: DnsServer;
  readonly app: Outgoing;
  readonly receiver: Receiver;
  /** On the forbidden address, on the same port. */
  readonly trap: Receiver;
  /** A webhook at a name, saved while it resolves to what is given. */
  add(answer: DnsAnswer): Promise<string>;
  /** The outcome and error of each attempt of the webhook's first delivery, once there are so many with one. */
  attempts(webhookId: string, count: number): Promise<readonly (readonly [string, string | null])[]>;
}

const name = 'rebind.example';

async function openWorld(how?: Parameters<typeof startReceiver>[0], deadlineMs?: number): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const dns = opening.use(await startDnsServer());
  const receiver = opening.use(await startReceiver(how));
  const trap = opening.use(await startReceiver(undefined, { host: forbidden, port: receiver.port }));
  const app = opening.use(
    await startOutgoing({
      allowed: [good],
      resolve: dns.resolve,
      limits: { drainMs: 0 },
      ...(deadlineMs !== undefined && { deadlineMs }),
    }),
  );
  const opened = opening.move();
  return {
    ...{ dns, app, receiver, trap },
    async add(answer) {
      dns.answer(name, answer);
      const endpoint = `http://${name}:${receiver.port}/hook`;
      return (await app.webhooks.create(app.stackKey, { endpoint })).id;
    },
    async attempts(webhookId, count) {
      const ended = async () => {
        const [delivery] = await app.deliveriesOf(webhookId);
        return (delivery?.attempts ?? []).filter(({ outcome }) => outcome !== 'started');
      };
      const seen = await eventually(ended, (attempts) => attempts.length === count);
      return seen.map(({ outcome, error }) => [outcome, error] as const);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const blocked = ['blocked', 'blocked'] as const;
const delivered = ['delivered', null] as const;

describe('names that change', () => {
  it('after they were saved reach nothing', async () => {
    await using world = await openWorld();
    const id = await world.add({ v4: [publicAddress] });
    world.dns.answer(name, { v4: [forbidden] });
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([blocked]);
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 0]);
  });

  it('between the first and the second connection are judged for each', async () => {
    await using world = await openWorld(
      () => (response) => void response.writeHead(204, { connection: 'close' }).end(),
    );
    const id = await world.add({ v4: [good] });
    const run = await world.app.startRun();
    await run.change(1);
    expect(await world.attempts(id, 1)).toEqual([delivered]);
    world.dns.answer(name, { v4: [forbidden] });
    await run.change(2);

    const [, second] = await eventually(
      () => world.app.deliveriesOf(id),
      (all) => all[1]?.status === 'failed',
    );
    expect(second?.attempts).toMatchObject([{ outcome: 'blocked' }]);
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 1]);
  });

  it('between attempts are judged for each, and good again when they are good again', async () => {
    await using world = await openWorld(() => 500);
    const id = await world.add({ v4: [good] });
    await (await world.app.startRun()).change(1);
    expect(await world.attempts(id, 1)).toEqual([['failed', 'status']]);

    // The connection of the first attempt is kept, and was judged when it was made: without it, the name decides.
    world.dns.answer(name, { v4: [forbidden] });
    await world.app.restartPump();
    world.app.advance(5000);
    expect(await world.attempts(id, 2)).toEqual([['failed', 'status'], blocked]);
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 1]);

    world.receiver.answer(() => 204);
    world.dns.answer(name, { v4: [good] });
    world.app.advance(30_000);
    expect(await world.attempts(id, 3)).toEqual([['failed', 'status'], blocked, delivered]);
    expect(world.trap.connections).toBe(0);
  });

  it('to another endpoint leave the kept connection behind', async () => {
    await using world = await openWorld();
    const id = await world.add({ v4: [good] });
    const run = await world.app.startRun();
    await run.change(1);
    expect(await world.attempts(id, 1)).toEqual([delivered]);
    await using moved = await startReceiver();
    await world.app.webhooks.update(id, { endpoint: `http://${name}:${moved.port}/hook` });
    await run.change(2);

    await eventually(
      () => moved.received.length,
      (count) => count === 1,
    );
    expect([world.receiver.received.length, world.receiver.connections]).toEqual([1, 1]);
  });

  it('while a connection is kept do not move it', async () => {
    await using world = await openWorld();
    const id = await world.add({ v4: [good] });
    const run = await world.app.startRun();
    await run.change(1);
    expect(await world.attempts(id, 1)).toEqual([delivered]);
    world.dns.answer(name, { v4: [forbidden] });
    await run.change(2);

    // Over the kept connection, or blocked when it was not back in time.
    await eventually(
      () => world.app.deliveriesOf(id),
      (all) => all[1] !== undefined && all[1].status !== 'pending',
    );
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 1]);
  });
});

describe('names that resolve to what is not allowed', () => {
  const thousand = Array.from({ length: 1000 }, () => good);
  const cases: Readonly<Record<string, DnsAnswer>> = {
    'a private address': { v4: ['10.0.0.1'] },
    'another loopback address': { v4: [forbidden] },
    'good and bad, mixed': { v4: [good, forbidden] },
    'good by IPv4, bad by IPv6': { v4: [good], v6: ['0:0:0:0:0:0:0:1'] },
    'a chain of aliases to a private address': {
      aliases: ['a.example', 'b.example', 'c.example'],
      v4: [forbidden],
    },
    'an IPv4 address in IPv6 clothes': { v6: [mapped('a00:1')] },
    'a loopback address in IPv6 clothes': { v6: [mapped('7f00:2')] },
    'a metadata service': { v4: ['169.254.169.254'] },
    'the address that means all': { v4: ['0.0.0.0'] },
    'a thousand good addresses and a bad one': { v4: [...thousand, forbidden] },
  };
  it.each(Object.entries(cases))('are blocked, without a connection: %s', async (_what, answer) => {
    await using world = await openWorld();
    const id = await world.add({ v4: [publicAddress] });
    world.dns.answer(name, answer);
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([blocked]);
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 0]);
  });

  it.each(Object.entries(cases))('cannot be saved: %s', async (_what, answer) => {
    await using world = await openWorld();
    await expect(world.add(answer)).rejects.toMatchObject({ code: 'endpoint-refused' });
  });

  it('are delivered to when all of a thousand addresses are good', async () => {
    await using world = await openWorld();
    const id = await world.add({ v4: thousand });
    expect(await world.dns.resolve(name)).toHaveLength(1000);
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([delivered]);
  });

  it('are delivered to through aliases when the address is good', async () => {
    await using world = await openWorld();
    const id = await world.add({ aliases: ['a.example', 'b.example'], v4: [good] });
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([delivered]);
    expect(world.receiver.received[0]?.headers['host']).toBe(`${name}:${world.receiver.port}`);
  });
});

describe('name servers that are no help', () => {
  it.each<[string, DnsAnswer]>([
    ['has no address', {}],
    ['does not exist', { code: 'NXDOMAIN' }],
    ['could not be looked up', { code: 'SERVFAIL' }],
    ['is an alias of nothing', { aliases: ['nothing.example'] }],
  ])('fail the attempt when the name %s', async (_what, answer) => {
    await using world = await openWorld();
    const id = await world.add(answer);
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([['failed', 'dns']]);
    expect([world.trap.connections, world.receiver.connections]).toEqual([0, 0]);
  });

  it('hold an attempt up no longer than its deadline, and nobody else', async () => {
    await using world = await openWorld(undefined, 300);
    const id = await world.add({ v4: [good] });
    const other = await world.app.webhooks.create(world.app.stackKey, { endpoint: world.receiver.url });
    world.dns.answer(name, 'silence');
    await (await world.app.startRun()).change(1);

    expect(await world.attempts(id, 1)).toEqual([['failed', 'timeout']]);
    expect(await world.attempts(other.id, 1)).toEqual([delivered]);
  });

  it('have a deadline of their own', async () => {
    await using dns = await startDnsServer();
    dns.answer(name, 'silence');

    await expect(createResolver(dns.resolve, 50)(name)).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(dns.asked).toContain(name);
  });
});
