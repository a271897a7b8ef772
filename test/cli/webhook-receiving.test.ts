import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signatureHeaders, signingKey } from '../../src/webhooks/sending/signature.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { aCommandLine } from './command-line.ts';

const body = Buffer.from('{"state":"FINISHED","note":"\u00e9"}');
const timestamp = 1_795_000_000;
const signed = signatureHeaders(signingKey('s3cret'), { body, deliveryId: '01JD', timestamp });
const header = (name: string, value = signed[name] ?? ''): readonly string[] => [
  '--header',
  `${name}: ${value}`,
];

/** Nothing of the installation is used: these commands need no server. */
async function aLine() {
  const installation = anInstallation();
  const { run, opened } = aCommandLine(installation);
  return {
    async run(argv: readonly string[], input?: string | Uint8Array) {
      const ended = await run(['webhook', ...argv], input === undefined ? {} : { input });
      expect(opened).toEqual([]);
      return ended;
    },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

describe('slipway webhook verify', () => {
  it('takes a good delivery, byte by byte', async () => {
    await using line = await aLine();
    const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) => header(name));
    const argv = ['verify', '--secret', 's3cret', '--at', String(timestamp)];

    const told = await line.run(
      [...argv, ...header('X-Signature-256', signed['x-signature-256']), ...standard],
      body,
    );
    const json = await line.run([...argv, ...standard, '--json'], body);

    expect(told).toMatchObject({ exitCode: 0, out: 'X-Signature-256: valid\n\nwebhook-signature: valid\n' });
    expect(json.json()).toMatchObject({ valid: true, checks: [{ header: 'webhook-signature', causes: [] }] });
  });

  it('says where a signature differs and why, and fails', async () => {
    await using line = await aLine();
    using directory = tempDirectory();
    const path = join(directory.path, 'body');
    writeFileSync(path, `${body}\n`);
    const argv = ['verify', '--secret', '-', '--body', path, ...header('x-signature-256')];

    const told = await line.run(argv, 's3cret\n');
    const json = await line.run([...argv, '--json'], 's3cret\n');

    expect(told).toMatchObject({ exitCode: 1, err: '' });
    expect(told.out).toMatch(
      /^X-Signature-256: not valid\n {2}given {5}sha256=[0-9a-f]{64}\n {2}expected {2}sha256=/,
    );
    expect(told.out).toMatch(/^ {2}differs {3}from character \d+ on$/m);
    expect(told.out).toContain('because   It fits the body without the line break at its end.');
    expect(json.json()).toMatchObject({ valid: false, checks: [{ causes: [{ code: 'body-changed' }] }] });
  });

  it('says that an empty secret proves little', async () => {
    await using line = await aLine();
    const unsigned = signatureHeaders(null, { body, deliveryId: '01JD', timestamp });
    const value = unsigned['x-signature'];
    const told = await line.run(['verify', '--secret', '', ...header('x-signature', value)], body);
    expect(told).toMatchObject({ exitCode: 0, err: expect.stringContaining('damage, but no forgery') });
  });

  it.each([
    ['no header', []],
    ['no signature', header('Content-Type', 'application/json')],
    ['a header without a colon', ['--header', 'x-signature']],
    ['a header twice', [...header('x-signature'), ...header('X-Signature', 'sha1=')]],
    ['a time that is none', [...header('x-signature'), '--at', 'now']],
  ])('refuses %s', async (_what, argv) => {
    await using line = await aLine();
    const told = await line.run(['verify', '--secret', 's3cret', ...argv], body);
    expect(told).toMatchObject({ exitCode: 2, out: '' });
    expect(told.err).not.toContain('s3cret');
  });

  it('asks for the body at a terminal', async () => {
    await using line = await aLine();
    const argv = ['verify', '--secret', 's3cret', ...header('x-signature')];
    const [typed, piped] = [await line.run(argv), await line.run(argv, body)];
    expect(typed).toMatchObject({ exitCode: 1, err: expect.stringContaining('Type the body, then Ctrl-D') });
    expect(piped).toMatchObject({ exitCode: 0, err: expect.not.stringContaining('Type') });
  });

  it('refuses to read two things from standard input, and a body that is not there', async () => {
    await using line = await aLine();
    const both = await line.run(['verify', '--secret', '-', ...header('x-signature')], body);
    const none = await line.run(['verify', '--secret', 's', '--body', '/nowhere', ...header('x-signature')]);
    expect(both).toMatchObject({ exitCode: 2, err: expect.stringContaining('cannot both') });
    expect(none).toMatchObject({ exitCode: 1, err: expect.stringContaining('ENOENT') });
  });
});

describe('slipway webhook fixtures', () => {
  it('writes each request and an index', async () => {
    await using line = await aLine();
    using directory = tempDirectory();
    const to = join(directory.path, 'kit');

    const told = await line.run(['fixtures', '--secret', '-', '--to', to, '--json'], 's3cret');

    const index = JSON.parse(readFileSync(join(to, 'index.json'), 'utf8')) as {
      readonly signedAt: number;
      readonly fixtures: readonly {
        readonly name: string;
        readonly body: string;
        readonly headers: string;
      }[];
    };
    expect(told.json()).toMatchObject({ directory: to, files: expect.arrayContaining(['index.json']) });
    expect(readdirSync(to).toSorted()).toEqual((told.json() as { files: string[] }).files.toSorted());
    expect(index).not.toHaveProperty('secret');
    // What was written is what the other command takes.
    const good = index.fixtures.find(({ name }) => name === 'good');
    const headers = JSON.parse(readFileSync(join(to, good?.headers ?? ''), 'utf8')) as Record<string, string>;
    const argv = Object.entries(headers).flatMap(([name, value]) => header(name, value));
    const file = join(to, good?.body ?? '');
    const verified = await line.run(['verify', '--secret', 's3cret', '--body', file, ...argv]);
    expect(verified.exitCode).toBe(0);
  });

  it('lists them, and with --json gives all of it, with the secret that everybody knows', async () => {
    await using line = await aLine();
    const told = await line.run(['fixtures']);
    const { secret, fixtures } = (await line.run(['fixtures', '--json'])).json() as {
      readonly secret: string;
      readonly fixtures: readonly { readonly headers: object; readonly bodyBase64: string }[];
    };
    expect(told.out).toMatch(/^tampered-body +401 +nothing is handled/m);
    expect(secret).toBe('slipway-example-secret');
    expect(fixtures.length).toBe(told.out.trim().split('\n').length - 1);
    expect(fixtures[0]).toMatchObject({
      headers: { 'x-slipway-attempt': '1' },
      bodyBase64: expect.any(String),
    });
  });

  it('sends them and tells a receiver that believes everything', async () => {
    await using line = await aLine();
    await using receiver = await startReceiver();

    const told = await line.run(['fixtures', '--send', receiver.url]);

    expect(told.exitCode).toBe(1);
    expect(told.out).toMatch(/^good +2xx +204 +right$/m);
    expect(told.out).toMatch(/^tampered-body +401 +204 +WRONG$/m);
    expect(told.out).toMatch(/^late +401, or 2xx if no time is checked +204 +right$/m);
    expect(receiver.received.map(({ attempt }) => attempt).slice(0, 3)).toEqual([1, 2, 1]);
  });

  it('sends them and tells a receiver that takes nothing, redirects, or is not there', async () => {
    await using line = await aLine();
    const closed = await startReceiver();
    await closed[Symbol.asyncDispose]();
    await using receiver = await startReceiver(() => (response) => {
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const redirected = await line.run(['fixtures', '--send', receiver.url, '--json']);
    const address = `http://127.0.0.1:${closed.port}/secret-path`;
    const gone = await line.run(['fixtures', '--send', address, '--json']);
    const { answers } = gone.json() as { readonly answers: readonly object[] };

    expect(redirected.exitCode).toBe(1);
    expect(redirected.json()).toMatchObject({ ok: false });
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/hook']));
    expect(answers[0]).toMatchObject({ status: null, error: 'ECONNREFUSED', isRight: false });
    expect(gone.out + gone.err).not.toContain('secret-path');
  });

  it.each([
    ['both ways', ['--to', 'x', '--send', 'http://127.0.0.1/']],
    ['an empty secret', ['--secret', '']],
    ['what is no URL', ['--send', 'receiver.example/hidden']],
    ['another scheme', ['--send', 'ftp://receiver.example/hidden']],
    ['a URL with a password', ['--send', 'http://user:hidden@receiver.example/']],
  ])('refuses %s', async (_what, argv) => {
    await using line = await aLine();
    const told = await line.run(['fixtures', ...argv]);
    expect(told).toMatchObject({ exitCode: 2, out: '' });
    expect(told.err).not.toContain('hidden');
  });
});
