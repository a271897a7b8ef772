import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../demo/witness.py', import.meta.url));
const secret = 'a secret of 漢字';
const payload = {
  account: 'acme',
  state: 'FINISHED',
  stateVersion: 7,
  timestamp: 1_790_000_000,
  run: { id: '01J000000000000000000000AA' },
  stack: { id: 'network-prod' },
};

async function startReceiver() {
  const child: ChildProcess = spawn('python3', [program, '--port', '0', '--secret', secret], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  if (!child.stdout) throw new Error('no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => JSON.parse((await lines.next()).value ?? 'null');
  const { port } = await nextLine();
  // One connection only, so that keeping it open is part of every test with two requests.
  const agent = new Agent({ connections: 1, pipelining: 1 });
  return {
    nextLine,
    exited,
    stop: () => child.kill('SIGTERM'),
    async post(body: string, headers: Record<string, string>) {
      const answer = await request(`http://127.0.0.1:${port}/hook`, {
        method: 'POST',
        body,
        headers,
        dispatcher: agent,
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await agent.close();
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}

function signed(body: string) {
  const hmac = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;
  return {
    'content-type': 'application/json',
    'x-signature': hmac('sha1'),
    'x-signature-256': hmac('sha256'),
    'x-slipway-delivery': '01J000000000000000000000BB',
    'x-slipway-attempt': '2',
  };
}

test('a signed webhook is verified and printed', async () => {
  await using receiver = await startReceiver();
  const body = JSON.stringify({ ...payload, note: 'grüße' });
  expect(await receiver.post(body, signed(body))).toBe(204);
  expect(await receiver.nextLine()).toEqual({
    verified: true,
    verified256: true,
    state: 'FINISHED',
    stateVersion: 7,
    run: '01J000000000000000000000AA',
    stack: 'network-prod',
    delivery: '01J000000000000000000000BB',
    attempt: 2,
    receivedAtMs: expect.any(Number),
    body: { ...payload, note: 'grüße' },
  });
});

test('a body that was changed on the way is refused, and the next good one on the same connection is not', async () => {
  await using receiver = await startReceiver();
  const body = JSON.stringify(payload);
  const tampered = body.replace('FINISHED', 'FAILED');
  expect(await receiver.post(tampered, signed(body))).toBe(401);
  expect(await receiver.nextLine()).toMatchObject({ verified: false, verified256: false, state: 'FAILED' });
  expect(await receiver.post(body, signed(body))).toBe(204);
  expect(await receiver.nextLine()).toMatchObject({ verified: true, verified256: true });
});

test.each([
  ['no signature', { 'x-signature': '', 'x-signature-256': '' }, { verified: false, verified256: false }],
  [
    'a wrong SHA-1 signature',
    { 'x-signature': `sha1=${'0'.repeat(40)}` },
    { verified: false, verified256: true },
  ],
  ['an upper-case digest', { 'x-signature-256': 'sha256=ABCDEF' }, { verified: true, verified256: false }],
])('a webhook with %s is refused', async (_what, headers, line) => {
  await using receiver = await startReceiver();
  const body = JSON.stringify(payload);
  expect(await receiver.post(body, { ...signed(body), ...headers })).toBe(401);
  expect(await receiver.nextLine()).toMatchObject(line);
});

test('what is signed but not JSON is still printed', async () => {
  await using receiver = await startReceiver();
  expect(await receiver.post('hello', signed('hello'))).toBe(204);
  expect(await receiver.nextLine()).toMatchObject({ verified: true, state: null, body: 'hello' });
});

test('it ends on SIGTERM, cleanly', async () => {
  await using receiver = await startReceiver();
  receiver.stop();
  expect(await receiver.exited).toEqual([0, null]);
});
