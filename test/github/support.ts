import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { type StandInOptions, startStandInGithub } from '../../demo/github/server.ts';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { createGithubApp } from '../../src/github/github-app.ts';
import { type Inbox, maxBodyBytes } from '../../src/github/inbox.ts';
import { createLogger } from '../../src/logger.ts';
import { openDatabase } from '../../src/storage/database.ts';

export const webhookSecret = 'a secret of the tests';
export const silent = createLogger('silent');

/** Making a key takes longer than most tests. */
const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** Until the evidence is there; how long that takes is the machine's business. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 10 });

export function aClock(startMs = Date.parse('2026-11-21T10:00:00Z')) {
  return {
    ms: startMs,
    nowMs(): number {
      return this.ms;
    },
  };
}

export async function tempDir() {
  const path = await mkdtemp(join(tmpdir(), 'slipway-github-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function tempDatabase() {
  const dir = await tempDir();
  const database = openDatabase(join(dir.path, 'slipway.db'));
  return {
    database,
    path: dir.path,
    async [Symbol.asyncDispose](): Promise<void> {
      await database[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** The stand-in GitHub with acme, Ada, the App installed on acme, and our App talking to it. */
export async function startGithub(options: Partial<StandInOptions> = {}) {
  const dir = await tempDir();
  const given = { appId: 7, publicKeyPem: keys.publicKey, webhook: null, dir: dir.path };
  const github = await startStandInGithub({ ...given, ...options });
  github.addAccount({ login: 'acme', type: 'Organization' });
  github.addUser({ login: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' });
  const installation = await github.installApp('acme');
  const apiUrl = `${github.url}/api/v3`;
  const settings = { appId: 7, privateKey: keys.privateKey, webhookSecret, apiUrl, webUrl: github.url };
  const clock = aClock();
  const budget = createApiBudget({ clock });
  const app = await createGithubApp(settings, budget, silent);
  return {
    github,
    installation,
    app,
    settings,
    budget,
    clock,
    apiUrl,
    async [Symbol.asyncDispose](): Promise<void> {
      await github[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** What the web layer does for the inbox: reads up to the limit, passes the bytes, answers. */
export async function serveInbox(inbox: Inbox) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request) {
      length += chunk.length;
      if (length <= maxBodyBytes) chunks.push(chunk);
    }
    const headers = new Headers(request.headers as Record<string, string>);
    const body = length > maxBodyBytes ? 'too-large' : Buffer.concat(chunks);
    const receipt = await inbox.receive({ headers, body });
    response.writeHead(receipt.status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/github/webhooks`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
