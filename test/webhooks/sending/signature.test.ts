import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { sign, verify, verifyWithFallback } from '@octokit/webhooks-methods';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, signatureHeaders, signingKey } from '../../../src/webhooks/sending/signature.ts';

const body = Buffer.from('{"account":"acme","state":"FINISHED","note":"l’été 🎉"}');

function headersFor(secret: string | null, bytes: Uint8Array = body): Readonly<Record<string, string>> {
  const message = { body: bytes, deliveryId: '01JDELIVERY', timestamp: 1_795_000_000 };
  return signatureHeaders(signingKey(secret), message);
}

/** HMACs by Python's standard library, in one process of its own, as JSON. */
function byPython(keys: readonly string[]): readonly { readonly sha1: string; readonly sha256: string }[] {
  const program = `
import hmac, json, sys
body = sys.stdin.buffer.read()
sign = lambda key, name: hmac.new(key.encode(), body, name).hexdigest()
print(json.dumps([{name: sign(key, name) for name in ("sha1", "sha256")} for key in sys.argv[1:]]))`;
  return JSON.parse(execFileSync('python3', ['-c', program, ...keys], { input: body }).toString());
}

function byOpenssl(hash: string, secret: string): string {
  const args = ['dgst', `-${hash}`, '-hmac', secret, '-r'];
  return execFileSync('openssl', args, { input: body }).toString().split(' ')[0] ?? '';
}

const secrets = [
  "It's a Secret to Everybody",
  'x',
  'ends with a line break\n',
  'schlüssel 🔑',
  's'.repeat(1024),
];

describe('signatures', () => {
  it("are those of GitHub's own example", () => {
    const headers = headersFor("It's a Secret to Everybody", Buffer.from('Hello, World!'));
    expect(headers['x-signature-256']).toBe(
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
  });

  it.each(secrets)("satisfy GitHub's own verifier with the secret %j", async (secret) => {
    const header = headersFor(secret)['x-signature-256'] ?? '';
    expect(header).toBe(await sign(secret, body.toString('utf8')));
    expect(await verify(secret, body.toString('utf8'), header)).toBe(true);
    expect(await verify(`${secret}.`, body.toString('utf8'), header)).toBe(false);
    expect(await verify(secret, `${body.toString('utf8')} `, header)).toBe(false);
    expect(await verifyWithFallback('new', body.toString('utf8'), header, [secret])).toBe(true);
  });

  it('are what python3 computes, with an empty secret too', () => {
    const keys = [...secrets, ''];
    const expected = byPython(keys).map(({ sha1, sha256 }) => ({
      'x-signature': `sha1=${sha1}`,
      'x-signature-256': `sha256=${sha256}`,
    }));
    expect(keys.map((key) => headersFor(key))).toMatchObject(expected);
    expect(expected).toHaveLength(keys.length);
  });

  it.each([...secrets, ''])('are what openssl computes with the secret %j', (secret) => {
    const headers = headersFor(secret);
    expect(headers['x-signature']).toBe(`sha1=${byOpenssl('sha1', secret)}`);
    expect(headers['x-signature-256']).toBe(`sha256=${byOpenssl('sha256', secret)}`);
  });

  it('are keyed with the empty string when there is no secret', () => {
    expect(headersFor(null)).toEqual(headersFor(''));
  });

  it('sign id, time and body in the form of Standard Webhooks', () => {
    const signed = `01JDELIVERY.1795000000.${body.toString('utf8')}`;
    const expected = createHmac('sha256', 'secret').update(signed).digest('base64');
    expect(headersFor('secret')).toMatchObject({
      'webhook-id': '01JDELIVERY',
      'webhook-timestamp': '1795000000',
      'webhook-signature': `v1,${expected}`,
    });
  });

  it('leave the Standard Webhooks signature out without a secret', () => {
    expect(headersFor(null)).toHaveProperty('webhook-id');
    expect(headersFor(null)).not.toHaveProperty('webhook-signature');
  });
});

describe('the fingerprint of a secret', () => {
  it('is the beginning of its SHA-256', () => {
    expect(fingerprintOf('abc')).toBe('key:ba7816bf');
    expect(fingerprintOf('abc\n')).not.toBe(fingerprintOf('abc'));
  });
});
