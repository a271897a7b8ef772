import { execFileSync } from 'node:child_process';
import { verify, verifyWithFallback } from '@octokit/webhooks-methods';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeaders, signingKey } from '../../../src/webhooks/sending/signature.ts';
import { type Received, startReceiver } from '../receiver.ts';
import { bodyOf, deliver, oddBodies, secondsFromNow } from './deliveries.ts';

const secret = 'schlüssel 🔑';

/** What arrives at a receiver when the sender of the product sends this. */
async function received(
  body: Buffer,
  by: string | null = secret,
  clock = secondsFromNow(0),
): Promise<Received> {
  await using receiver = await startReceiver();
  await deliver({ url: receiver.url, body, secret: by, id: '01JD', clock });
  const [only] = receiver.received;
  if (!only) throw new Error('nothing arrived');
  return only;
}

function byPython(key: string, { body, headers }: Received): string {
  const program = `
import hmac, sys
body = sys.stdin.buffer.read()
for name, given in (("sha1", sys.argv[2]), ("sha256", sys.argv[3])):
    print(hmac.compare_digest(f"{name}={hmac.new(sys.argv[1].encode(), body, name).hexdigest()}", given))`;
  const args = [key, headers['x-signature'] ?? '', headers['x-signature-256'] ?? ''];
  return execFileSync('python3', ['-c', program, ...args], { input: body }).toString();
}

function byOpenssl(key: string, hash: string, { body }: Received): string {
  const args = ['dgst', `-${hash}`, '-hmac', key, '-r'];
  return execFileSync('openssl', args, { input: body }).toString().split(' ')[0] ?? '';
}

const signature256 = ({ headers }: Received): string => headers['x-signature-256'] ?? '';
// As bytes: of a string this library takes the characters for bytes, which fits ASCII only.
const standard = new Webhook(Buffer.from(secret), { format: 'raw' });

describe('what was sent is genuine to code that is not ours', () => {
  it.each([['an ordinary body', bodyOf(1)] as const, ...oddBodies])('%s', async (_what, body) => {
    const arrived = await received(body);
    expect(arrived.body).toEqual(body);
    expect(await verify(secret, arrived.body.toString(), signature256(arrived))).toBe(true);
    expect(byPython(secret, arrived)).toBe('True\nTrue\n');
    expect(arrived.headers['x-signature']).toBe(`sha1=${byOpenssl(secret, 'sha1', arrived)}`);
    expect(signature256(arrived)).toBe(`sha256=${byOpenssl(secret, 'sha256', arrived)}`);
    expect(standard.verify(arrived.body, arrived.headers)).toEqual(JSON.parse(body.toString()));
  });

  it('without a secret: keyed with the empty string', async () => {
    const arrived = await received(bodyOf(1), null);
    expect(byPython('', arrived)).toBe('True\nTrue\n');
    expect(signature256(arrived)).toBe(`sha256=${byOpenssl('', 'sha256', arrived)}`);
    expect(() => standard.verify(arrived.body, arrived.headers)).toThrow(WebhookVerificationError);
  });
});

describe('while the secret is being changed', () => {
  it.each([
    ['old', 'new'],
    ['new', 'old'],
  ])('what was signed with the %s one is genuine to who knows both', async (signedWith, other) => {
    const arrived = await received(bodyOf(1), signedWith);
    const text = arrived.body.toString();
    expect(await verifyWithFallback(other, text, signature256(arrived), [signedWith])).toBe(true);
    expect(await verifyWithFallback(other, text, signature256(arrived), ['another'])).toBe(false);
  });

  it('a list of two signatures is genuine to who knows either', async () => {
    const { body, headers } = await received(bodyOf(1), 'new');
    const timestamp = Number(headers['webhook-timestamp']);
    const older = signatureHeaders(signingKey('old'), { body, deliveryId: '01JD', timestamp });
    const both = [headers['webhook-signature'], older['webhook-signature']].join(' ');
    const given = { ...headers, 'webhook-signature': both };
    for (const key of ['new', 'old']) {
      expect(new Webhook(key, { format: 'raw' }).verify(body, given)).toEqual(JSON.parse(body.toString()));
    }
    const another = new Webhook('another', { format: 'raw' });
    expect(() => another.verify(body, given)).toThrow('No matching signature');
  });
});

describe('a library for Standard Webhooks', () => {
  it.each([
    ['is late', -600, 'too old'],
    ['comes from the future', 600, 'too new'],
  ])('refuses what %s', async (_what, seconds, problem) => {
    const { body, headers } = await received(bodyOf(1), secret, secondsFromNow(seconds));
    expect(() => standard.verify(body, headers)).toThrow(problem);
  });

  it('refuses another body, id or time', async () => {
    const { body, headers } = await received(bodyOf(1));
    const time = String(Number(headers['webhook-timestamp']) - 1);
    for (const [bytes, change] of [
      [bodyOf(2), {}],
      [body, { 'webhook-id': '01JE' }],
      [body, { 'webhook-timestamp': time }],
    ] as const) {
      expect(() => standard.verify(bytes, { ...headers, ...change })).toThrow('No matching signature');
    }
  });
});
