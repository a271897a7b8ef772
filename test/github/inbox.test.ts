import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createInbox, maxBodyBytes } from '../../src/github/inbox.ts';
import { createInboxControl } from '../../src/github/inbox-control.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { fc } from '../support/fast-check.ts';
import { aClock, tempDatabase, webhookSecret } from './support.ts';

async function openInbox(secret = webhookSecret) {
  const temp = await tempDatabase();
  const { database } = temp;
  const store = createInboxStore(database);
  const clock = aClock();
  const stored = { times: 0 };
  const inbox = createInbox({
    webhookSecret: secret,
    store,
    transactions: database,
    clock,
    onStored: () => {
      stored.times += 1;
    },
  });
  return { inbox, store, clock, stored, database, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

const sign = (body: Uint8Array | string, algorithm = 'sha256', secret = webhookSecret): string =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;

const zen = '{"zen":"Keep it logically awesome."}';

function aRequest(body: string | Uint8Array = zen, change: Record<string, string | null> = {}) {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'ping',
    'x-github-delivery': 'b0b1-1',
    'x-hub-signature-256': sign(body),
    ...change,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null);
  return { headers: new Headers(given), body: typeof body === 'string' ? Buffer.from(body) : body };
}

describe('a delivery is refused', () => {
  const noSignature = { 'x-hub-signature-256': null };
  const notJson = { 'content-type': 'text/plain' };

  test.each<[string, ReturnType<typeof aRequest>, number, string]>([
    ['without a signature', aRequest(zen, noSignature), 401, 'signature-invalid'],
    [
      'with the SHA-1 signature alone',
      aRequest(zen, { ...noSignature, 'x-hub-signature': sign(zen, 'sha1') }),
      401,
      'signature-invalid',
    ],
    [
      'with the SHA-1 signature in the place of the other',
      aRequest(zen, { 'x-hub-signature-256': sign(zen, 'sha1') }),
      401,
      'signature-invalid',
    ],
    [
      'signed with another secret',
      aRequest(zen, { 'x-hub-signature-256': sign(zen, 'sha256', 'another') }),
      401,
      'signature-invalid',
    ],
    [
      'signed for another body',
      aRequest(zen, { 'x-hub-signature-256': sign(`${zen} `) }),
      401,
      'signature-invalid',
    ],
    [
      'with a signature cut short',
      aRequest(zen, { 'x-hub-signature-256': sign(zen).slice(0, -1) }),
      401,
      'signature-invalid',
    ],
    [
      'with the digest but not its name',
      aRequest(zen, { 'x-hub-signature-256': sign(zen).slice('sha256='.length) }),
      401,
      'signature-invalid',
    ],
    ['unsigned and not JSON', aRequest('no', { ...noSignature, ...notJson }), 401, 'signature-invalid'],
    ['as a form', aRequest(zen, notJson), 415, 'unsupported-media-type'],
    ['without a content type', aRequest(zen, { 'content-type': null }), 415, 'unsupported-media-type'],
    ['neither as JSON nor being it', aRequest('no', notJson), 415, 'unsupported-media-type'],
    ['that is not JSON', aRequest('{"zen":'), 400, 'not-json'],
    ['that is empty', aRequest(''), 400, 'not-json'],
    ['that is not UTF-8', aRequest(Buffer.from([0x22, 0xff, 0x22])), 400, 'not-json'],
    ['that is JSON but no object', aRequest('[]'), 400, 'not-json'],
    ['without an event', aRequest(zen, { 'x-github-event': null }), 400, 'header-missing'],
    ['without an id', aRequest(zen, { 'x-github-delivery': null }), 400, 'header-missing'],
  ])('%s', async (_title, request, status, code) => {
    await using opened = await openInbox();
    const receipt = await opened.inbox.receive(request);

    expect(receipt).toMatchObject({ status, problem: { code } });
    expect(await opened.store.nextDueMs([])).toBeNull();
    expect(opened.stored.times).toBe(0);
  });

  test('over 25 MiB, before anything else is looked at', async () => {
    await using opened = await openInbox();
    const { inbox } = opened;
    const headers = new Headers();

    expect(maxBodyBytes).toBe(26_214_400);
    expect(await inbox.receive({ headers, body: 'too-large' })).toMatchObject({ status: 413 });
    const tooLarge = new Uint8Array(maxBodyBytes + 1);
    expect(await inbox.receive({ headers, body: tooLarge })).toMatchObject({ status: 413 });
    const largest = tooLarge.subarray(1);
    expect(await inbox.receive({ headers, body: largest })).toMatchObject({ status: 401 });
  });
});

test('a body of exactly 25 MiB is stored', async () => {
  await using opened = await openInbox();
  const body = Buffer.alloc(maxBodyBytes, ' ');
  body.write('{}');

  expect(await opened.inbox.receive(aRequest(body))).toEqual({ status: 202, problem: null });
});

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
  'a signed delivery of type %s is stored before it is answered',
  async (contentType) => {
    await using opened = await openInbox();
    const { inbox, store, clock, stored } = opened;

    const receipt = await inbox.receive(aRequest(zen, { 'content-type': contentType }));

    expect(receipt).toEqual({ status: 202, problem: null });
    expect(await store.find('b0b1-1')).toMatchObject({ event: 'ping', receivedAtMs: clock.ms });
    expect(stored.times).toBe(1);
  },
);

test('the same delivery again is accepted and nothing happens twice', async () => {
  await using opened = await openInbox();
  const { inbox, store, stored, database } = opened;
  await inbox.receive(aRequest());
  await database.write((tx) => store.settle(tx, 'b0b1-1', { state: 'done', note: 'done' }));

  expect(await inbox.receive(aRequest())).toEqual({ status: 202, problem: null });

  expect(await store.find('b0b1-1')).toMatchObject({ state: 'done' });
  expect(stored.times).toBe(1);
});

test.each([
  ['{"repository":{"id":5},"installation":{"id":7}}', 'repository 5'],
  ['{"installation":{"id":7}}', 'installation 7'],
  ['{"repository":{"id":"5"},"installation":[]}', 'other'],
  ['{}', 'other'],
])('%s goes into the lane "%s"', async (body, lane) => {
  await using opened = await openInbox();
  const { inbox, store, clock, database } = opened;

  await inbox.receive(aRequest(body));

  expect(await database.write((tx) => store.claim(tx, clock.ms, []))).toMatchObject({ lane });
});

describe('an operator', () => {
  async function openControl() {
    const opened = await openInbox();
    const { store, clock, database } = opened;
    const onReplay = vi.fn();
    const control = createInboxControl({ store, transactions: database, clock, onReplay });
    await opened.inbox.receive(aRequest());
    const settle = (state: 'done' | 'failed') =>
      database.write((tx) => store.settle(tx, 'b0b1-1', { state, note: 'no luck' }));
    const drop = () => database.write((tx) => store.dropBodies(tx, clock.ms + 1, 10));
    return { ...opened, control, onReplay, settle, drop };
  }

  test('replays what is settled, and hears why something is not', async () => {
    await using opened = await openControl();
    const { control, store, onReplay, settle, drop } = opened;

    expect(await control.replay('b0b1-1')).toBe('pending');
    expect(await control.replay('unknown')).toBe('unknown');
    await settle('failed');
    expect(await control.replay('b0b1-1')).toBe('replayed');

    expect(await store.find('b0b1-1')).toMatchObject({ state: 'pending', attempts: 0 });
    expect(onReplay).toHaveBeenCalledTimes(1);
    await settle('done');
    await drop();
    expect(await control.replay('b0b1-1')).toBe('body-dropped');
    expect(onReplay).toHaveBeenCalledTimes(1);
  });
});

test("GitHub's published example of a signature is accepted", async () => {
  await using opened = await openInbox("It's a Secret to Everybody");
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const request = aRequest('Hello, World!', { 'x-hub-signature-256': signature });

  // Past the signature: the example is no JSON.
  expect(await opened.inbox.receive(request)).toMatchObject({ status: 400 });
});

test('no inbox opens without a secret', async () => {
  await expect(openInbox('')).rejects.toThrow('needs a webhook secret');
});

test('whatever bytes and headers come, there is an answer', async () => {
  await using opened = await openInbox();
  const headerValue = fc.option(fc.stringMatching(/^[\x21-\x7e]{0,80}$/));
  const names = ['content-type', 'x-github-event', 'x-github-delivery', 'x-hub-signature-256'] as const;
  const headers = fc.record({
    [names[0]]: fc.oneof(headerValue, fc.constant('application/json')),
    [names[1]]: headerValue,
    [names[2]]: headerValue,
  });
  const bodies = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
  );

  await fc.assert(
    fc.asyncProperty(headers, bodies, fc.option(headerValue), async (given, body, signature) => {
      const signed = signature === null ? {} : { [names[3]]: signature };
      const { status, problem } = await opened.inbox.receive(aRequest(body, { ...given, ...signed }));
      expect([202, 400, 401, 415]).toContain(status);
      expect(problem === null).toBe(status === 202);
    }),
    { numRuns: 300 },
  );
});
