import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/user-error.ts';
import { changedHeaders, type HeaderChange } from '../../src/webhooks/custom-headers.ts';
import { fc } from '../support/fast-check.ts';

function refusal(change: HeaderChange, current: Readonly<Record<string, string>> = {}): UserError {
  try {
    changedHeaders(current, change);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const textOf = (error: UserError) => JSON.stringify([error.message, error.hint, error.issues]);

describe('custom headers', () => {
  it('are added, replaced and removed by name, whatever its case', () => {
    const current = { authorization: 'Bearer old', 'x-team': 'network' };
    const change = { Authorization: 'Bearer new', 'X-TEAM': null, 'x-new': 'a b\tc', 'x-gone': null };
    expect(changedHeaders(current, change)).toEqual({ authorization: 'Bearer new', 'x-new': 'a b\tc' });
    expect(changedHeaders(current, {})).toEqual(current);
  });

  it.each([
    ...['Host', 'Connection', 'Keep-Alive', 'Transfer-Encoding', 'TE', 'Trailer', 'Upgrade', 'Expect'],
    ...['Proxy-Authorization', 'Proxy-Connection', 'proxy-anything', 'HTTP2-Settings', 'Date'],
    ...['Content-Type', 'content-length', 'Content-Encoding', 'content-anything', 'User-Agent'],
    ...['Accept-Encoding', 'X-Signature', 'X-SIGNATURE-256', 'x-signature-anything', 'Webhook-Id'],
    ...['webhook-signature', 'webhook-anything', 'X-Slipway-Delivery', 'x-slipway-test', 'Cookie'],
    ...['Set-Cookie', 'Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Via', 'Metadata', 'Metadata-Flavor'],
    ...['X-Google-Metadata-Request', 'X-aws-ec2-metadata-token', 'X-AWS-EC2-Metadata-Token-TTL-Seconds'],
  ])('cannot be %s', (name) => {
    const error = refusal({ [name]: 'anything' });
    expect(error).toMatchObject({
      code: 'invalid-input',
      issues: [{ path: `headers.${name.toLowerCase()}` }],
    });
    // What was possible once can go.
    expect(changedHeaders({ [name.toLowerCase()]: 'v' }, { [name]: null })).toEqual({});
  });

  it.each([
    'Authorization',
    'X-Api-Key',
    'x-signing-team',
    'hostname',
    'x-slipwaylike',
    'Accept',
    'CF-Access-Client-Id',
  ])('can be %s', (name) => {
    expect(changedHeaders({}, { [name]: 'v' })).toEqual({ [name.toLowerCase()]: 'v' });
  });

  it('can have any name that is a token, also those that objects have of themselves', () => {
    const change = Object.fromEntries(
      ['__proto__', 'constructor', "!#$%&'*+-.^_`|~0a"].map((name) => [name, 'v']),
    );
    expect(Object.entries(changedHeaders({}, change))).toEqual(Object.entries(change));
  });

  it.each([
    '',
    ' ',
    'a b',
    'a:',
    'naïve',
    'a\r\nb',
    'a\0',
    '(a)',
    'a/b',
    'a@b',
    'x'.repeat(201),
    'Authorization: Bearer s3cret',
  ])('have no name like %j, and the error does not say it', (name) => {
    const error = refusal({ 'x-fine': 'v', [name]: 'value' });
    expect(error.issues[0]).toMatchObject({ path: 'headers', message: expect.stringContaining('name 2 ') });
    if (name.length > 3) expect(textOf(error)).not.toContain(name);
  });

  it.each([
    ...['', ' ', ' a', 'a ', '\ta', 'a\n', 'a\r\nx-signature: forged', 'a\0b', 'é', '🔑', 'a\x7fb', 'a\x1bb'],
    ...['***', 'x'.repeat(4097)],
  ])('have no value like %j, and the error does not say it', (value) => {
    const error = refusal({ 'X-Key': value });
    expect(error.issues[0]?.path).toBe('headers.x-key');
    if (value.trim().length > 3) expect(textOf(error)).not.toContain(value);
  });

  it('have values of 4096 bytes at most', () => {
    const value = 'x'.repeat(4096);
    expect(changedHeaders({}, { 'x-key': value })).toEqual({ 'x-key': value });
  });

  it('refuse a name that is given twice, in whatever case', () => {
    expect(refusal({ 'X-Key': 'a', 'x-key': 'b' }).message).toContain('headers.x-key');
    expect(refusal({ 'X-Key': 'a', 'x-key': null }).message).toContain('headers.x-key');
  });

  it('are twenty at most, counted after the change', () => {
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'v']));
    expect(changedHeaders({}, twenty)).toEqual(twenty);
    expect(refusal({ 'x-one-more': 'v' }, twenty).message).toContain('at most 20');
    expect(changedHeaders(twenty, { 'x-one-more': 'v', 'x-0': null })).not.toHaveProperty('x-0');
  });

  it('that are accepted can be sent: fetch takes each of them as it is', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary-ascii' }),
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[!-~]+$/),
    );
    fc.assert(
      fc.property(anything, anything, (name, value) => {
        let accepted: Readonly<Record<string, string>>;
        try {
          accepted = changedHeaders({}, { [name]: value });
        } catch (error) {
          if (error instanceof UserError) return;
          throw error;
        }
        expect([...new Headers(accepted)]).toEqual([[name.toLowerCase(), value]]);
      }),
      { numRuns: 2000 },
    );
  });
});
