import { describe, expect, it } from 'vitest';
import { createPatternRedactor } from '../../../src/sandbox/redaction/well-known-secrets.ts';
import { fc } from '../../support/fast-check.ts';

function redacted(text: string, cuts: readonly number[] = [], isCutShort = false): string {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const redactor = createPatternRedactor();
  const parts = places.slice(1).map((end, index) => redactor.write(bytes.subarray(places[index], end)));
  return Buffer.concat([...parts, redactor.flush(isCutShort)]).toString();
}

const letters = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2dE3f';
const jwt = `eyJ${letters}.eyJ${letters}.${letters}`;
/** Put together here, so that no scanner takes this file for a leak. */
const secrets = {
  'a GitHub token': `ghp_${letters}`,
  'a GitHub token with a JWT in it': `ghs_123456_${jwt}`,
  'a fine-grained GitHub token': `github_pat_${letters}_${letters}`,
  'the id of an access key of AWS': `AKIA${'ABCDEFGH'.repeat(2)}`,
  'an API key of Google': `AIza${letters.slice(0, 35)}`,
  'an access token of Google': `ya29.${letters}`,
  'a bot token of Slack': `xoxb-123456789012-${letters}`,
  'an app token of Slack': `xapp-1-${letters}`,
  'a JWT': jwt,
  'a secret of an application in Entra ID': `abc8Q~${letters.slice(0, 34)}`,
};
const key = (kind: string) =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${`${letters}\n`.repeat(5)}-----END ${kind}PRIVATE KEY-----`;

describe('what looks like a well-known credential', () => {
  it.each(Object.entries(secrets))('is hidden: %s', (_, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['token=', '\n'],
      ['Authorization: Bearer ', '"}\n'],
      ['ünïcode ', ' and more'],
    ])
      expect(redacted(`${before}${secret}${after}`)).toBe(`${before}***${after}`);
  });

  it('is hidden after its name', () => {
    const value = `${letters}+/==`;
    expect(redacted(`AccountName=acme;AccountKey=${value};EndpointSuffix=x`)).toBe(
      'AccountName=acme;AccountKey=***;EndpointSuffix=x',
    );
    expect(redacted(`aws_secret_access_key = ${value}\n`)).toBe('aws_secret_access_key = ***\n');
    expect(redacted(`"AWS_SECRET_ACCESS_KEY": "${value}"`)).toBe('"AWS_SECRET_ACCESS_KEY": "***"');
  });

  it.each(['', 'RSA ', 'OPENSSH '])('is hidden as a private key over several lines: %s', (kind) => {
    expect(redacted(`before\n${key(kind)}\nafter ${secrets['a JWT']}\n`)).toBe(
      'before\n***\n\n\n\n\n\n\nafter ***\n',
    );
  });

  it('is hidden as a private key in one line of JSON', () => {
    expect(redacted(`{"private_key": ${JSON.stringify(key(''))}}\n`)).toBe('{"private_key": "***"}\n');
  });

  it('is not all that comes after the beginning of a key that never ends', () => {
    const text = `-----BEGIN PRIVATE KEY-----\n${'x'.repeat(70_000)}\nafter\n`;
    expect(redacted(text)).toBe('***\n\nafter\n');
  });

  it.each([
    'commit 3f0c9d1e2b4a5c6d7e8f9a0b1c2d3e4f5a6b7c8d',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'arn:aws:iam::123456789012:role/deploy, AKIA is a prefix, eyJhbGciOi is one, too',
    'https://example.com/a/b?c=d&sig=abc',
    'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs',
    '***',
  ])('is not %s', (text) => {
    expect(redacted(`${text}\n`)).toBe(`${text}\n`);
  });

  it('is hidden however the stream is cut, and nothing else is lost', () => {
    const word = fc.constantFrom(
      ...Object.values(secrets),
      key('RSA '),
      'plain',
      'ünïcode',
      '***',
      'a-b_c.d',
    );
    const blank = fc.constantFrom(' ', '\n', '\r\n', '\t', ', ');
    const line = fc.array(fc.tuple(word, blank), { maxLength: 12 });
    fc.assert(
      fc.property(line, fc.array(fc.nat(), { maxLength: 20 }), (words, cuts) => {
        const text = words.map((pair) => pair.join('')).join('');
        const whole = redacted(text);
        expect(redacted(text, cuts)).toBe(whole);
        for (const secret of Object.values(secrets)) expect(whole).not.toContain(secret);
        expect(whole).not.toContain(`${letters}\n${letters}`);
        for (const plain of ['plain', 'ünïcode', 'a-b_c.d'])
          expect(whole.split(plain).length).toBe(text.split(plain).length);
      }),
    );
  });

  it('is hidden in a line without end, and where the stream was cut off in one', () => {
    const filler = 'word '.repeat(20_000);
    expect(redacted(`${filler}${jwt} ${filler}`, [70_000, 90_000, 100_020])).toBe(`${filler}*** ${filler}`);
    expect(redacted('token ghp_aB3dE5', [], true)).toBe('token ***');
    expect(redacted('token ghp_aB3dE5', [], false)).toBe('token ghp_aB3dE5');
    const endless = `eyJ${letters.repeat(3000)}.eyJ${letters}.${letters.repeat(3000)}`;
    expect(redacted(`x ${endless} y\n`).length).toBeLessThan(endless.length);
  });

  it.each(
    Object.entries({
      'after its name, with blanks': `"aws_secret_access_key" : "${letters}"`,
      'after its name': `AccountKey=${letters}`,
      'a private key': JSON.stringify(key('RSA ')),
      'a long JWT': `"eyJ${letters}.eyJ${letters.repeat(40)}.${letters}"`,
    }),
  )('is hidden in a line without end wherever that is cut: %s', (_, secret) => {
    const before = 'x '.repeat(33_000);
    for (let cut = 0; cut <= secret.length; cut += 1 + Math.floor(secret.length / 100)) {
      const shown = redacted(`${before}${secret} ${'y '.repeat(35_000)}`, [before.length + cut]);
      expect(shown.slice(before.length, before.length + 100)).not.toContain(letters.slice(0, 20));
    }
  });

  it('is looked for in linear time', () => {
    const bytes = Buffer.from(
      `${'eyJ'.repeat(400_000)}\n${'ghp_'.repeat(400_000)}\n${'-----BEGIN '.repeat(100_000)}\n`,
    );
    const redactor = createPatternRedactor();
    expect(redactor.write(bytes).length + redactor.flush().length).toBeGreaterThan(0);
  }, 5000);
});
