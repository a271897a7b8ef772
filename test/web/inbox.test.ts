import { describe, expect, it } from 'vitest';
import { aCommandLine } from '../cli/command-line.ts';
import { anInstallation, call } from './installation.ts';

const inbox = '/api/v1/inbox';
const body = Buffer.from('{ "pusher": {"email": "ada@example.com"},  "zen": "é" }');

/** Deliveries a (done), b (failed), c (failed, its body dropped), d (waits for its second attempt). */
async function withDeliveries() {
  const installation = anInstallation();
  const { database, inboxStore } = installation;
  for (const id of ['a', 'b', 'c', 'd']) {
    const receivedAtMs = id === 'c' ? 1_000_000 : 1_794_999_000_000;
    const delivery = { id, event: id === 'a' ? 'ping' : 'push', lane: 'other', body, receivedAtMs };
    await database.write((tx) => inboxStore.insert(tx, delivery));
  }
  const settle = (id: string, state: 'done' | 'failed') =>
    database.write((tx) => inboxStore.settle(tx, id, { state, note: `${id} is ${state}` }));
  await settle('a', 'done');
  await settle('b', 'failed');
  await settle('c', 'failed');
  await database.write((tx) => inboxStore.dropBodies(tx, 1_000_001, 10));
  await database.write((tx) => inboxStore.claim(tx, 1, []));
  await database.write((tx) => inboxStore.retryLater(tx, 'd', 1_795_000_600_000, 'GitHub said 500'));
  return { ...installation, admin: await installation.token('admin') };
}

describe('the inbox', () => {
  it('is listed, newest first, by state and event, page by page', async () => {
    await using installation = await withDeliveries();
    const { admin: token } = installation;
    const ids = async (query: string) => {
      const { body: page } = await call(installation, 'GET', inbox + query, { token });
      return { ids: page.items.map(({ id }: { id: string }) => id).join(''), next: page.nextCursor };
    };

    const first = await ids('?limit=3');
    expect(first.ids).toBe('dcb');
    expect(await ids(`?limit=3&cursor=${first.next}`)).toEqual({ ids: 'a', next: null });
    expect((await ids('?state=failed')).ids).toBe('cb');
    expect((await ids('?event=ping')).ids).toBe('a');
    expect((await ids('?state=failed&event=ping')).ids).toBe('');
    expect((await call(installation, 'GET', `${inbox}?state=lost`, { token })).status).toBe(422);
  });

  it('shows how a delivery stands, and its body only when asked for that', async () => {
    await using installation = await withDeliveries();
    const { admin: token, logged } = installation;
    const get = async (path: string) => call(installation, 'GET', `${inbox}/${path}`, { token });

    expect((await get('d')).body).toEqual({
      id: 'd',
      event: 'push',
      state: 'pending',
      attempts: 1,
      receivedAt: 1_794_999_000,
      nextAt: 1_795_000_600,
      note: 'GitHub said 500',
      size: body.byteLength,
    });
    expect((await get('c')).body).toMatchObject({ state: 'failed', size: null });
    expect((await get('b/body')).text).toBe(body.toString());
    expect((await get('b/body')).headers.get('content-type')).toBe('application/json');
    expect((await get('c/body')).body).toMatchObject({ status: 410, code: 'body-dropped' });
    expect([(await get('e')).status, (await get('e/body')).status]).toEqual([404, 404]);
    expect(JSON.stringify(logged)).not.toContain('ada@example.com');
  });

  it('is not there for others, whatever they ask', async () => {
    await using installation = await withDeliveries();
    const token = await installation.token('admin', 'acme');
    const status = async (method: string, path: string) =>
      (await call(installation, method, inbox + path, { token })).status;

    const statuses = [
      await status('GET', '?state=lost'),
      await status('GET', '?unknown=1'),
      await status('GET', '/b'),
      await status('GET', '/nothing'),
      await status('POST', '/b/replay'),
    ];

    expect(statuses).toEqual([404, 404, 404, 404, 404]);
    expect(await installation.inboxStore.find('b')).toMatchObject({ state: 'failed' });
  });

  it('replays what is settled and kept', async () => {
    await using installation = await withDeliveries();
    const { admin: token } = installation;
    const replay = async (id: string) =>
      (await call(installation, 'POST', `${inbox}/${id}/replay`, { token })).body;

    expect(await replay('b')).toMatchObject({ id: 'b', state: 'pending', attempts: 0 });
    expect(await replay('b')).toMatchObject({ status: 409, code: 'delivery-pending' });
    expect(await replay('c')).toMatchObject({ status: 410, code: 'body-dropped' });
    expect(await replay('e')).toMatchObject({ status: 404, code: 'not-found' });
  });
});

describe('slipway inbox', () => {
  it('lists, and leads on to what failed', async () => {
    await using installation = await withDeliveries();
    const { run } = aCommandLine(installation);

    const list = await run('inbox list');
    const failed = await run('inbox list --state failed --limit 1 --json');

    expect(list.out).toMatch(/^DELIVERY +EVENT +STATE +ATTEMPTS +RECEIVED +NEXT +NOTE\nd +push +pending +1 /);
    expect(list.out).toMatch(/\nb +push +failed .* b is failed\n/);
    expect(list.err).toBe('Next: slipway inbox show b, then slipway inbox replay b\n');
    expect(failed.json().items.map(({ id }: { id: string }) => id)).toEqual(['c']);
    expect((await run('inbox list --state lost')).exitCode).toBe(2);
  });

  it('shows one, without its body unless asked', async () => {
    await using installation = await withDeliveries();
    const { run } = aCommandLine(installation);

    const shown = await run('inbox show b');
    const asked = await run('inbox show b --body --json');

    expect(shown.out).toContain('note      b is failed\n');
    expect(shown.out).not.toContain('ada@');
    expect(asked.out).toBe(body.toString());
    expect((await run('inbox show c')).out).toContain('dropped for its age');
    expect((await run('inbox show c --body')).exitCode).toBe(3);
    expect((await run('inbox show e')).exitCode).toBe(3);
  });

  it('replays one, or all that failed and are kept', async () => {
    await using installation = await withDeliveries();
    const { run } = aCommandLine(installation);

    const all = await run('inbox replay --failed');
    const none = await run('inbox replay --failed --json');
    const one = await run('inbox replay a --json');

    expect(all).toMatchObject({ exitCode: 0, out: 'Delivery b will be handled once more.\n' });
    expect(none.json()).toEqual({ items: [], errors: [] });
    expect(one.json().items).toMatchObject([{ id: 'a', state: 'pending' }]);
    const codes = [];
    for (const line of ['inbox replay', 'inbox replay a --failed', 'inbox replay d', 'inbox replay c']) {
      codes.push((await run(line)).exitCode);
    }
    expect(codes).toEqual([2, 2, 5, 3]);
  });

  it('prints a body as it came, numbers and all, and lets it not steer a terminal', async () => {
    await using installation = await withDeliveries();
    const { run } = aCommandLine(installation);
    const { database, inboxStore } = installation;
    const text = '{"id":9007199254740993,\t"name":"a\u009b31m\u202e\u2028b",\r\n "zen" : 1.0}';
    const odd = { id: 'odd', event: 'push', lane: 'other', body: Buffer.from(text), receivedAtMs: 1 };
    await database.write((tx) => inboxStore.insert(tx, odd));

    const piped = await run('inbox show odd --body');
    const seen = await run('inbox show odd --body', { outputIsTerminal: true });

    expect(piped.out).toBe(text);
    expect(seen.out).toBe(
      '{"id":9007199254740993,\t"name":"a\\u009b31m\\u202e\\u2028b",\\u000d\n "zen" : 1.0}\n',
    );
  });

  it('shortens a long note in the list, and shows it whole', async () => {
    await using installation = await withDeliveries();
    const { run } = aCommandLine(installation);
    const { database, inboxStore } = installation;
    const note = `37 stacks: no changed path belongs to the stack (${'network, '.repeat(500)}dns)`;
    await database.write((tx) => inboxStore.settle(tx, 'a', { state: 'done', note }));

    const list = await run('inbox list');

    expect(list.out).toMatch(/\na .* 37 stacks: no changed path belongs to the stack \(network, .*…\n/);
    expect(Math.max(...list.out.split('\n').map((line) => line.length))).toBeLessThan(220);
    expect((await run('inbox show a')).out).toContain(note);
  });

  it('goes on with the others when one of those that failed cannot be replayed', async () => {
    await using installation = await withDeliveries();
    const { database, inboxStore } = installation;
    for (const id of ['d', 'e']) {
      const body = Buffer.from('{}');
      const delivery = { id, event: 'push', lane: 'other', body, receivedAtMs: 1_794_999_000_000 };
      await database.write((tx) => inboxStore.insert(tx, delivery));
      await database.write((tx) => inboxStore.settle(tx, id, { state: 'failed', note: 'no' }));
    }
    // Somebody is faster with the second of the three.
    const fetchAs: typeof installation.web.fetchAs = async (actor, request) => {
      if (request.url.endsWith('/b/replay')) {
        await database.write((tx) => inboxStore.reopen(tx, 'd', 1));
      }
      return installation.web.fetchAs(actor, request);
    };
    const { run } = aCommandLine({ ...installation, web: { ...installation.web, fetchAs } });

    const all = await run('inbox replay --failed');

    expect(all).toMatchObject({
      exitCode: 1,
      out: 'Delivery b will be handled once more.\nDelivery e will be handled once more.\n',
      err: 'Delivery d: The delivery d is pending already.\n',
    });
  });
});
