import { describe, expect, it } from 'vitest';
import { createOutputWindow, createRedactor, indexSecrets } from '../../../src/sandbox/redaction/output.ts';
import { fc } from '../../support/fast-check.ts';

const encoder = new TextEncoder();

function redact(secrets: readonly string[], chunks: readonly Uint8Array[], isCutShort = false): string {
  const redactor = createRedactor(indexSecrets(secrets));
  const parts = chunks.map((chunk) => redactor.write(chunk));
  return Buffer.concat([...parts, redactor.flush(isCutShort)]).toString('utf8');
}

const hide = (secret: string, text: string) => redact([secret], [encoder.encode(text)]);

/** Cuts a text's bytes at any places, also inside characters. */
function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = encoder.encode(text);
  const edges = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

const places = fc.array(fc.nat(), { maxLength: 30 });
/** Without digits and asterisks, so that neither a mask nor the filling can make a secret by accident. */
const letters = fc.constantFrom(...'abcdefgh äöü€😀/+=\n"\\&<');
const secret = fc.string({ unit: letters, minLength: 4, maxLength: 40 });
const filling = fc.string({ unit: fc.constantFrom(...'0123456789ß漢'), maxLength: 20 });

describe('redaction', () => {
  it('lets no secret through and changes nothing else, wherever chunks are cut', () => {
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(filling, fc.nat()), { maxLength: 10 }),
        filling,
        places,
        (secrets, parts, end, cuts) => {
          const chosen = (index: number) => secrets[index % secrets.length] ?? '';
          const text = parts.map(([before, index]) => before + chosen(index)).join('') + end;
          const expected = (parts.map(([before]) => `${before}\0`).join('') + end).replace(/\0+/g, '***');

          expect(redact(secrets, cut(text, cuts))).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives the same result for every way to cut a text in which secrets overlap', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab'), maxLength: 200 });
    const short = fc.string({ unit: fc.constantFrom(...'ab'), minLength: 4, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(short, { minLength: 1, maxLength: 4 }), text, places, (secrets, full, cuts) => {
        const whole = redact(secrets, [encoder.encode(full)]);

        expect(redact(secrets, cut(full, cuts))).toBe(whole);
        for (const value of secrets) expect(whole).not.toContain(value);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps bytes that are no text', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 }), (chunks) => {
        const redactor = createRedactor(indexSecrets(['not-in-random-bytes']));
        const output = Buffer.concat([...chunks.map((chunk) => redactor.write(chunk)), redactor.flush()]);

        expect(output.equals(Buffer.concat(chunks))).toBe(true);
      }),
    );
  });

  it.each([
    ['as it is', (s: string) => s],
    ['in base64', (s: string) => Buffer.from(s).toString('base64')],
    ['in URL-safe base64', (s: string) => Buffer.from(s).toString('base64url')],
    ['in JSON', (s: string) => JSON.stringify(s).slice(1, -1)],
    [
      'in JSON as Go writes it',
      (s: string) => JSON.stringify(s).slice(1, -1).replaceAll('&', '\\u0026').replaceAll('>', '\\u003e'),
    ],
    ['in a URL', (s: string) => encodeURIComponent(s)],
    [
      'in a URL in lower case',
      (s: string) => encodeURIComponent(s).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['in a form', (s: string) => new URLSearchParams({ s }).toString().slice(2)],
  ])('finds a secret %s', (_name, encode) => {
    const value = 'pa"ss\\wörd/with & all+of=it ~?>';

    expect(hide(value, `<${encode(value)}>`).replace(/=+>$/, '>')).toBe('<***>');
  });

  it('finds a secret inside the base64 of more, at every position', () => {
    const value = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    for (const before of ['', 'x', 'xy', 'x-access-token:']) {
      for (const after of ['', 'z', 'zz']) {
        const shown = hide(value, Buffer.from(before + value + after).toString('base64'));

        expect(shown).toContain('***');
        // At most the characters that it shares with its neighbours.
        const decoded = Buffer.from(shown.replace('***', ''), 'base64').toString('latin1');
        expect(decoded.length).toBeLessThan(before.length + after.length + 5);
      }
    }
  });

  it('finds the lines of a private key in output that shows it with other line ends', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nab\n-----END KEY-----\n';
    const shown = hide(key, `  MIIEvQIBADANBgkq\r\n> hkiG9w0BAQEFAASC\r\nab`);

    expect(shown).toBe('  ***\r\n> ***\r\nab');
  });

  it('leaves values of fewer than four characters alone', () => {
    expect(redact(['eu', 'on', '123', ''], [encoder.encode('eu on 123')])).toBe('eu on 123');
  });

  it('hides the longer of two secrets that begin alike', () => {
    expect(redact(['token', 'token-and-more'], cut('a token-and-more b token c', [8]))).toBe('a *** b *** c');
  });

  it('makes one mask of secrets that overlap, so that no part of either is left', () => {
    expect(redact(['xabc', 'abcdef'], [encoder.encode('1xabcdef2')])).toBe('1***2');
  });

  it('keeps back what may become a secret, and gives it out when it does not', () => {
    const redactor = createRedactor(indexSecrets(['secret-value']));

    expect(Buffer.from(redactor.write(encoder.encode('a secret-'))).toString()).toBe('a ');
    expect(Buffer.from(redactor.write(encoder.encode('ish'))).toString()).toBe('secret-ish');
    expect(Buffer.from(redactor.flush()).toString()).toBe('');
  });

  it('hides the first half of a secret where the stream was cut short', () => {
    expect(redact(['secret-value'], [encoder.encode('a secret-val')])).toBe('a secret-val');
    expect(redact(['secret-value'], [encoder.encode('a secret-val')], true)).toBe('a ***');
  });
});

describe('the window on output', () => {
  it('has the first and the last bytes whatever the chunks', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'abcdefgh'), maxLength: 300 }),
        places,
        fc.nat(40),
        fc.nat(40),
        (text, cuts, headBytes, tailBytes) => {
          const window = createOutputWindow({ headBytes, tailBytes });
          for (const chunk of cut(text, cuts)) window.write(chunk);
          const missing = text.length - headBytes - tailBytes;
          const tail = tailBytes === 0 ? '' : text.slice(-tailBytes);
          const notice = headBytes === 0 ? '' : `\n[${missing} bytes left out]\n`;

          expect(window.totalBytes()).toBe(text.length);
          expect(window.text()).toBe(missing > 0 ? text.slice(0, headBytes) + notice + tail : text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('begins its tail with a whole character', () => {
    const window = createOutputWindow({ headBytes: 0, tailBytes: 5 });
    window.write(encoder.encode('€€€'));

    expect(window.text()).toBe('€');
  });
});
