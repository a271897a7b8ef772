import { describe, expect, it } from 'vitest';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard, type TargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { startReceiver } from '../receiver.ts';
import { aMessage, aSender, loopback } from './messages.ts';

describe('the sender and private targets', () => {
  const nothingAllowed = createTargetGuard({
    allowed: parseAllowedTargets([]),
    resolve: () => Promise.resolve(['127.0.0.1']),
  });

  it.each(['127.0.0.1', '[::ffff:127.0.0.1]', 'loopback.example'])(
    'makes no connection to %s',
    async (host) => {
      await using receiver = await startReceiver();
      await using sender = aSender(nothingAllowed);
      const result = await sender.send(aMessage(`http://${host}:${receiver.port}/`));
      expect(result).toMatchObject({ kind: 'blocked' });
      expect(receiver.connections).toBe(0);
    },
  );

  it('judges a name anew for every connection', async () => {
    await using receiver = await startReceiver();
    const answers = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1']];
    const guard = createTargetGuard({
      allowed: parseAllowedTargets(['127.0.0.1']),
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
    await using sender = aSender(guard);
    const url = `http://rebind.example:${receiver.port}/`;
    receiver.answer(() => (response) => void response.writeHead(204, { connection: 'close' }).end());
    expect(await sender.send(aMessage(url))).toMatchObject({ kind: 'delivered' });
    expect(await sender.send(aMessage(url))).toMatchObject({ kind: 'blocked' });
    expect(receiver.received).toHaveLength(1);
  });

  it('closes a socket that reached another address than it was allowed', async () => {
    await using receiver = await startReceiver();
    // What a resolver trick between the check and the connection would look like from here.
    const tricked: TargetGuard = {
      ...loopback,
      allows: (_hostname, _port, address) => address !== '127.0.0.1',
    };
    const guard: TargetGuard = { ...tricked, resolve: () => Promise.resolve(['127.0.0.1']) };
    await using sender = aSender(guard);
    const result = await sender.send(aMessage(`http://tricked.example:${receiver.port}/`));
    expect(result).toMatchObject({ kind: 'blocked' });
    expect(receiver.received).toHaveLength(0);
  });

  it('carries no connection over to the next policy', async () => {
    await using receiver = await startReceiver();
    const message = aMessage(receiver.url);
    await using before = aSender();
    expect(await before.send(message)).toMatchObject({ kind: 'delivered' });
    await using after = aSender(nothingAllowed);

    expect(await after.send(message)).toMatchObject({ kind: 'blocked' });
    expect([receiver.connections, receiver.received.length]).toEqual([1, 1]);
  });

  it('honours the port of an allowed target', async () => {
    await using open = await startReceiver();
    await using closed = await startReceiver();
    const allowed = parseAllowedTargets([`127.0.0.1:${open.port}`]);
    await using sender = aSender(createTargetGuard({ allowed }));
    expect(await sender.send(aMessage(open.url))).toMatchObject({ kind: 'delivered' });
    expect(await sender.send(aMessage(closed.url))).toMatchObject({ kind: 'blocked' });
    expect(closed.connections).toBe(0);
  });
});
