import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSender, type SendResult } from '../../../src/webhooks/sending/sender.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { closeServer, listen } from '../receiver.ts';
import { aMessage } from './messages.ts';

/** An authority of our own, and certificates by the real openssl. */
const directory = mkdtempSync(join(tmpdir(), 'slipway-tls-'));
const file = (name: string) => join(directory, name);
const openssl = (...args: readonly string[]) =>
  execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });

function makeCertificate(name: string, san: string, ...validity: readonly string[]): void {
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${san}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  openssl('req', '-new', ...key, ...subject, '-out', `${name}.csr`);
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-copy_extensions', 'copy'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...authority, ...validity, '-out', `${name}.pem`);
}

beforeAll(() => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'ca.key'];
  openssl('req', '-x509', ...key, '-subj', '/CN=Test authority', '-days', '2', '-out', 'ca.pem');
  makeCertificate('good', 'DNS:receiver.test,IP:127.0.0.1', '-days', '1');
  makeCertificate('expired', 'DNS:receiver.test', '-days', '-1');
});

afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

async function sendTo(
  host: string,
  options: { readonly certificate?: string; readonly trusted?: boolean; readonly tls?: TlsOptions } = {},
): Promise<SendResult> {
  const { certificate = 'good', trusted = true, tls = {} } = options;
  const identity = {
    key: readFileSync(file(`${certificate}.key`)),
    cert: readFileSync(file(`${certificate}.pem`)),
  };
  const sockets = new Set<Socket>();
  const server = createServer({ ...identity, ...tls }, (_request, response) => response.writeHead(204).end());
  server.on('connection', (socket: Socket) => sockets.add(socket));
  const port = await listen(server);
  const allowed = parseAllowedTargets(['127.0.0.1']);
  const guard = createTargetGuard({ allowed, resolve: () => Promise.resolve(['127.0.0.1']) });
  const caBundle = trusted ? readFileSync(file('ca.pem'), 'utf8') : null;
  try {
    await using sender = createSender({ guard, clock: manualClock(), version: '1', caBundle });
    const url = `https://${host}:${port}/`;
    return await sender.send(aMessage(url));
  } finally {
    await closeServer(server, sockets);
  }
}

describe('the sender over TLS', () => {
  it.each(['receiver.test', '127.0.0.1'])('trusts the authorities of the bundle for %s', async (host) => {
    expect(await sendTo(host)).toMatchObject({ kind: 'delivered', statusCode: 204 });
  });

  it('refuses an unknown authority', async () => {
    expect(await sendTo('receiver.test', { trusted: false })).toMatchObject({
      kind: 'failed',
      error: 'tls',
      detail: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });

  it('refuses a certificate of another name', async () => {
    expect(await sendTo('other.test')).toMatchObject({
      error: 'tls',
      detail: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('refuses one that is past its time', async () => {
    const result = await sendTo('receiver.test', { certificate: 'expired' });
    expect(result).toMatchObject({ error: 'tls', detail: 'CERT_HAS_EXPIRED' });
  });

  it('refuses TLS 1.1', async () => {
    const tls: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await sendTo('receiver.test', { tls })).toMatchObject({ kind: 'failed', error: 'tls' });
  });

  it('verifies although the environment says not to', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    expect(await sendTo('receiver.test', { trusted: false })).toMatchObject({ error: 'tls' });
  });
});
