import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { attemptDelaysMs } from '../../src/webhooks/sending/schedule.ts';
import { signatureHeaders, signingKey } from '../../src/webhooks/sending/signature.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'webhooks.md'), 'utf8');

/** The code blocks of a language, as a reader would copy them. */
function snippets(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code]) => code ?? '',
  );
}

function runPython(code: string, args: readonly string[], input: Buffer): string {
  return execFileSync('python3', ['-c', code, ...args], { input })
    .toString()
    .trim();
}

const body = Buffer.from('{"account":"acme","note":"l’été 🎉"}');
const secret = "It's a Secret to Everybody";
const message = { body, deliveryId: 'd', timestamp: 1 };
const signature = signatureHeaders(signingKey(secret), message)['x-signature-256'] ?? '';

describe('the page on webhooks', () => {
  it.each([
    ['the right signature', secret, signature, 'True'],
    ['another secret', 'other', signature, 'False'],
    ['another signature', secret, signature.replace(/.$/, 'x'), 'False'],
    ['no signature', secret, '', 'False'],
    ['a signature that is not ASCII', secret, 'sha256=é', 'False'],
  ])('has Python that tells %s', (_what, key, header, expected) => {
    const [verify] = snippets('python');
    const use = 'import sys\nprint(is_genuine(sys.argv[1], sys.stdin.buffer.read(), sys.argv[2]))';
    expect(runPython(`${verify}\n${use}`, [key, header], body)).toBe(expected);
  });

  it('has Python that bears with a header that is not there', () => {
    const [verify] = snippets('python');
    expect(runPython(`${verify}\nprint(is_genuine("s", b"", None))`, [], body)).toBe('False');
  });

  it.each([
    ['the right signature', secret, signature, true],
    ['another secret', 'other', signature, false],
    ['another signature', secret, signature.replace(/.$/, 'x'), false],
    ['no signature', secret, undefined, false],
  ])('has JavaScript that tells %s', async (_what, key, header, expected) => {
    const [code = ''] = snippets('js');
    const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
    const module = (await import(url)) as { isGenuine(...args: readonly unknown[]): boolean };
    expect(module.isGenuine(key, body, header)).toBe(expected);
  });

  it('has Python that ends at the newest state, in whatever order they come', () => {
    const [, isNews] = snippets('python');
    const use = 'import json, sys\nprint([p["stateVersion"] for p in json.load(sys.stdin) if is_news(p)])';
    const arrived = [2, 1, 4, 4, 3, 5].map((stateVersion) => ({ stateVersion, run: { id: 'r' } }));
    const input = Buffer.from(JSON.stringify(arrived));
    expect(runPython(`${isNews}\n${use}`, [], input)).toBe('[2, 4, 5]');
  });

  it('shows a payload that the published schema accepts', () => {
    const [example = ''] = snippets('json');
    const schema = JSON.parse(readFileSync(join(docs, 'webhook-payload.schema.json'), 'utf8')) as object;
    const validate = new Ajv2020().compile(schema);
    validate(JSON.parse(example));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('links every receiver that stands beside it, and no other', () => {
    const linked = [...page.matchAll(/\(receivers\/([\w.]+)\)/g)].map(([, file]) => file);
    expect(linked.toSorted()).toEqual(readdirSync(join(docs, 'receivers')).toSorted());
  });

  it('has the schedule of the code', () => {
    const units: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 };
    const rows = [...page.matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)];
    const waits = rows.flatMap(([, numbers = '', text = '']) => {
      const count = numbers.split(',').length;
      const given = [...text.matchAll(/(\d+) (s|min|h)/g)].map(
        ([, n, unit]) => Number(n) * (units[unit ?? ''] ?? 0),
      );
      return text === 'at once' ? [0] : given.length === count ? given : Array(count).fill(given[0]);
    });
    expect(waits).toEqual(attemptDelaysMs);
  });
});
