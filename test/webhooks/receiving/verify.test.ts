import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bodyGuesses } from '../../../src/webhooks/receiving/body-guesses.ts';
import { secretGuesses } from '../../../src/webhooks/receiving/secret-guesses.ts';
import { type ReceivedDelivery, verifyDelivery } from '../../../src/webhooks/receiving/verify.ts';
import { signatureHeaders, signingKey } from '../../../src/webhooks/sending/signature.ts';
import { fc } from '../../support/fast-check.ts';
import { bodyOf } from '../receivers/deliveries.ts';

const secret = 'correct horse battery staple';
const body = bodyOf(7, 'FINISHED');
const timestamp = 1_795_000_000;

function headersOf(key: string | null = secret, bytes: Uint8Array = body): Record<string, string> {
  return { ...signatureHeaders(signingKey(key), { body: bytes, deliveryId: '01JD', timestamp }) };
}

function verify(change: Record<string, string | undefined>, more: Partial<ReceivedDelivery> = {}) {
  const headers = Object.entries({ ...headersOf(), ...change }).filter(([, value]) => value !== undefined);
  const given = new Map(headers as [string, string][]);
  return verifyDelivery({ secret, headers: given, body, nowSeconds: timestamp + 1, ...more });
}

/** What is said about one header when the others are not there. */
function checkOf(header: string, value: string, more: Partial<ReceivedDelivery> = {}) {
  const others = { 'x-signature': undefined, 'x-signature-256': undefined, 'webhook-signature': undefined };
  const [check] = verify({ ...others, [header]: value }, more).checks;
  if (!check) throw new Error('nothing was checked');
  return { ...check, codes: check.causes.map(({ code }) => code) };
}

const own = (header: string): string => headersOf()[header] ?? '';
const hex = own('x-signature-256').replace('sha256=', '');
const base64 = Buffer.from(hex, 'hex').toString('base64');

describe('the verification of a delivery', () => {
  it('finds nothing wrong with what Slipway sends', () => {
    const { valid, checks } = verify({});
    expect(valid).toBe(true);
    expect(checks.map(({ header }) => header)).toEqual([
      ...['x-signature', 'x-signature-256', 'webhook-signature'],
    ]);
    expect(checks.every((check) => check.valid && check.causes.length === 0)).toBe(true);
  });

  it('is valid only when every signature is, and never without one', () => {
    expect(verify({ 'x-signature': 'sha1=00' }).valid).toBe(false);
    expect(verifyDelivery({ secret, headers: new Map(), body, nowSeconds: 0 })).toEqual({
      valid: false,
      checks: [],
    });
  });

  it.each([
    ['x-signature-256', '', ['missing']],
    ['x-signature-256', `sha256=${hex.toUpperCase()}`, ['upper-case']],
    ['x-signature-256', hex, ['prefix-missing']],
    ['x-signature-256', `"sha256=${hex}"`, ['padding']],
    ['x-signature-256', `sha256=${hex}\r`, ['padding']],
    ['x-signature-256', `sha256:${hex}`, ['prefix-wrong']],
    ['x-signature-256', `sha1=${hex}`, ['prefix-wrong']],
    ['x-signature-256', `sha256=${base64}`, ['wrong-encoding']],
    ['x-signature-256', hex.toUpperCase(), ['prefix-missing', 'upper-case']],
    ['x-signature-256', `sha256=${hex.slice(0, 40)}`, ['truncated']],
    ['x-signature-256', `sha256=${hex}00`, ['too-long']],
    ['x-signature-256', own('x-signature'), ['prefix-wrong', 'wrong-algorithm']],
    ['x-signature-256', own('x-signature').replace('sha1', 'sha256'), ['wrong-algorithm']],
    ['x-signature', own('x-signature-256'), ['prefix-wrong', 'wrong-algorithm']],
    ['x-signature-256', `sha256=${createHash('sha256').update(body).digest('hex')}`, ['unknown']],
    ['x-signature-256', 'sha256=', ['unknown']],
    ['x-signature-256', `sha256=${hex}0`, ['malformed']],
    ['x-signature-256', `sha256=${hex.replace(/.$/, 'x')}`, ['malformed', 'unknown']],
    ['webhook-signature', own('webhook-signature').replace('=', ''), ['malformed']],
    ['webhook-signature', `v1,AAAA v1,BBBB\t${own('webhook-signature')}`, ['list-separator']],
    ['webhook-signature', own('webhook-signature').replace('v1,', ''), ['prefix-missing']],
    ['webhook-signature', own('webhook-signature').replace('v1,', 'v1='), ['prefix-wrong']],
    ['webhook-signature', own('webhook-signature').slice(0, 30), ['truncated']],
    ['webhook-signature', `v1,${base64}`, ['wrong-algorithm']],
    ['webhook-signature', `v1,AAAA,${own('webhook-signature')}`, ['list-separator']],
  ])('explains %s: %s', (header, value, codes) => {
    expect(checkOf(header, value)).toMatchObject({ valid: false, given: value, codes });
  });

  it.each([
    ['the first of two', `${own('webhook-signature')} v1,AAAA`],
    ['the second of two', `v1,AAAA ${own('webhook-signature')}`],
  ])('takes %s signatures', (_which, value) => {
    expect(checkOf('webhook-signature', value)).toMatchObject({ valid: true, differsAt: null });
  });

  it.each([
    [`sha256=${hex.replace(/.$/, 'x')}`, 71],
    ['SHA256=', 1],
    [`sha256=${hex}0`, 72],
  ])('says where %s differs', (value, differsAt) => {
    expect(checkOf('x-signature-256', value)).toMatchObject({ expected: `sha256=${hex}`, differsAt });
  });

  it.each([
    ['301 s old', 301, {}, ['timestamp-too-old']],
    ['301 s ahead', -301, {}, ['timestamp-in-future']],
    ['without an id', 0, { 'webhook-id': undefined }, ['id-missing']],
    ['without a time', 0, { 'webhook-timestamp': undefined }, ['timestamp-missing']],
    ['with a time that is none', 0, { 'webhook-timestamp': '1.795e9' }, ['timestamp-missing']],
    ['with another id', 0, { 'webhook-id': '01JE' }, ['unknown']],
  ])('refuses a webhook-signature that is %s', (_what, age, change, codes) => {
    const { checks } = verify(change, { nowSeconds: timestamp + age });
    expect(checks[2]?.causes.map(({ code }) => code)).toEqual(codes);
    expect(checks.slice(0, 2).every(({ valid }) => valid)).toBe(true);
  });

  it('takes a time up to 300 s off', () => {
    for (const age of [-300, 0, 300]) expect(verify({}, { nowSeconds: timestamp + age }).valid).toBe(true);
  });

  it('knows the empty secret on both sides', () => {
    const unsigned = headersOf(null);
    expect(checkOf('x-signature', unsigned['x-signature'] ?? '').codes).toEqual(['secret-empty']);
    expect(checkOf('x-signature', unsigned['x-signature'] ?? '', { secret: '' }).valid).toBe(true);
    expect(checkOf('webhook-signature', own('webhook-signature'), { secret: '' }).codes).toEqual([
      'secret-empty',
    ]);
  });

  it.each([
    ['a line break at its end', `${secret}\n`, 'followed by a line break'],
    ['its quotes', `'${secret}'`, 'in'],
    ['its base64', Buffer.from(secret).toString('base64'), 'encoded in base64'],
    ['its hex', Buffer.from(secret).toString('hex'), 'encoded in hex'],
  ])('tells the secret from %s', (_what, used, text) => {
    const { causes } = checkOf('x-signature-256', headersOf(used)['x-signature-256'] ?? '');
    expect(causes).toMatchObject([{ code: 'secret-changed', text: expect.stringContaining(text) }]);
  });

  it.each([
    ['c2VjcmV0IGtleQ==', 'secret key', 'decoded from base64'],
    ['whsec_c2VjcmV0IGtleQ==', 'secret key', 'behind "whsec_"'],
    ['73656372657420', 'secret ', 'decoded from hex'],
    ['s%C3%A9cret', 'sécret', 'decoded'],
  ])('tells the secret %s from what it decodes to', (given, used, text) => {
    const value = headersOf(used)['x-signature-256'] ?? '';
    const { causes } = checkOf('x-signature-256', value, { secret: given });
    expect(causes).toMatchObject([{ code: 'secret-changed', text: expect.stringContaining(text) }]);
  });

  const object = JSON.parse(body.toString()) as Record<string, unknown>;
  it.each([
    ['indented', JSON.stringify(object, null, 2), 'as compact JSON'],
    [
      'with other order of keys',
      JSON.stringify(Object.fromEntries(Object.entries(object).toReversed())),
      'orders',
    ],
    ['with a line break behind it', `${body}\n`, 'without the line break'],
    ['with a byte order mark', `\ufeff${body}`, 'byte order mark'],
    ['in base64', body.toString('base64'), 'decoded from base64'],
  ])('recognises a body that is %s', (_what, changed, text) => {
    const { causes } = checkOf('x-signature-256', own('x-signature-256'), { body: Buffer.from(changed) });
    expect(causes).toMatchObject([{ code: 'body-changed', text: expect.stringContaining(text) }]);
  });

  it('recognises every change of secret and body that it knows, alone and together, in each header', () => {
    const odd = Buffer.from('{"z": "l’été <b>/\u2028",\r\n "a": [1, {"b": "é"}]}\n');
    const sound = 'c2VjcmV0+é ';
    const noChange = { cause: null, bytes: null };
    const changes = fc.record({
      secret: fc.constantFrom(noChange, ...secretGuesses(sound)),
      body: fc.constantFrom(noChange, ...bodyGuesses(odd)),
      header: fc.constantFrom('x-signature', 'x-signature-256', 'webhook-signature'),
    });
    fc.assert(
      fc.property(changes, ({ secret: key, body: bytes, header }) => {
        const used = key.bytes === null ? sound : Buffer.from(key.bytes).toString('utf8');
        // What is no text cannot be a secret of Slipway.
        fc.pre(key.bytes === null || Buffer.from(used).equals(Buffer.from(key.bytes)));
        fc.pre(header !== 'webhook-signature' || used !== '');
        const value = headersOf(used, bytes.bytes ?? odd)[header] ?? '';
        const found = checkOf(header, value, { secret: sound, body: odd });
        expect(found.causes).toEqual([key.cause, bytes.cause].filter((cause) => cause !== null));
      }),
    );
  });

  it.each([
    ['empty', '', 'body-empty'],
    ['longer than any of Slipway', ' '.repeat(1_048_577), 'body-too-long'],
    ['another', '{}', 'unknown'],
  ])('says that the body is %s', (_what, text, code) => {
    const { codes } = checkOf('x-signature-256', own('x-signature-256'), { body: Buffer.from(text) });
    expect(codes).toEqual([code]);
  });

  it('gives a reason for whatever single character is wrong', () => {
    const edits = fc.record({
      header: fc.constantFrom('x-signature', 'x-signature-256', 'webhook-signature'),
      at: fc.nat(70),
      removed: fc.nat(1),
      added: fc.constantFrom('', ' ', '\t', '0', 'a', 'F', 'x', '=', ',', '-', '\n'),
    });
    fc.assert(
      fc.property(edits, ({ header, at, removed, added }) => {
        const value = own(header);
        const edited = value.slice(0, at) + added + value.slice(at + removed);
        const { valid, codes } = checkOf(header, edited);
        expect(codes.length > 0).toBe(!valid);
      }),
    );
  });

  it('says nothing of the secret, whatever is wrong', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, text) => {
        const headers = { 'x-signature-256': value, 'webhook-signature': value };
        const told = JSON.stringify(verify(headers, { body: Buffer.from(text) }));
        expect(told).not.toContain(secret);
        expect(verify(headers).valid).toBe(false);
      }),
    );
  });
});
