import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { tempDirectory } from '../../support/temp-database.ts';
import { bodyOf, deliver } from './deliveries.ts';
import { receiversFolder, startCgi, startListening } from './program.ts';
import { startRelay } from './relay.ts';
import { describeReceiver } from './suite.ts';

const file = (name: string) => join(receiversFolder, name);
const startNode = (secret: string) => startListening([process.execPath, file('receiver.mjs')], secret);
const startPython = (secret: string) => startListening(['python3', file('receiver.py')], secret);
const startBash = (secret: string) => startCgi(file('receiver.sh'), { WEBHOOK_SECRET: secret });

describeReceiver('the receiver in JavaScript', startNode);
describeReceiver('the receiver in Python', startPython);
describeReceiver('the receiver in bash', startBash);

describe('without a secret', () => {
  it.each([
    ['JavaScript', startNode],
    ['Python', startPython],
  ])('the receiver in %s does not start', async (_language, start) => {
    await expect(start('')).rejects.toThrow('WEBHOOK_SECRET is empty');
  });

  it('the receiver in bash answers with an error', async () => {
    await using receiver = await startBash('');
    expect(await deliver({ url: receiver.url, body: bodyOf(1), secret: null, id: 'a' })).toBe(500);
    expect(receiver.said.join()).toContain('WEBHOOK_SECRET: is empty');
  });
});

it('the receiver in Python takes nothing behind a body for a request of its own', async () => {
  await using receiver = await startPython('s');
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
  const head = ['POST / HTTP/1.1', 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked', '', ''];
  // Whoever goes by the length takes the last line for another request.
  socket.end(`${head.join('\r\n')}0\r\n\r\nPOST /hidden HTTP/1.1\r\nContent-Length: 0\r\n\r\n`);
  const answer = await text(socket);
  expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 411']);
});

it.each([
  ['fails', 1, 'v1,'],
  ['fails', 1, ''],
  ['says nothing', 0, 'v1,'],
  ['says nothing', 0, 'v1, v1,'],
])('the receiver in bash believes nothing when openssl %s (%i): %j', async (_what, exitCode, signature) => {
  using broken = tempDirectory();
  writeFileSync(join(broken.path, 'openssl'), `#!/bin/sh\ncat >/dev/null\nexit ${exitCode}\n`, {
    mode: 0o755,
  });
  const path = `${broken.path}:${process.env['PATH']}`;
  await using receiver = await startCgi(file('receiver.sh'), { WEBHOOK_SECRET: 's', PATH: path });
  await using relay = await startRelay(receiver.url, ({ headers }) => ({
    headers: { ...headers, 'webhook-signature': signature },
  }));
  expect(await deliver({ url: relay.url, body: bodyOf(1), secret: 's', id: 'a' })).toBe(401);
});
