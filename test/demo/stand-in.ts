import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProbot, ProbotOctokit } from 'probot';
import { type StandInOptions, startStandInGithub } from '../../demo/github/server.ts';
import type { Permissions } from '../../demo/github/state.ts';

/** One key for the file: making one takes longer than most of the tests. */
export const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const wideOpen: Permissions = {
  metadata: 'read',
  contents: 'read',
  checks: 'write',
  pull_requests: 'write',
  issues: 'read',
  merge_queues: 'read',
};
const allEvents = [
  ...['push', 'pull_request', 'issue_comment', 'check_run', 'check_suite', 'merge_group', 'repository'],
];

/** A stand-in with the organisation acme, Ada who acts, and the App installed; gone with its directory at the end. */
export async function startGithub(options: Partial<StandInOptions> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'stand-in-github-'));
  const github = await startStandInGithub({
    appId: 1,
    publicKeyPem: keys.publicKey,
    webhook: null,
    dir,
    // All that the stand-in can do, which is more than the product asks for.
    app: { permissions: wideOpen, events: allEvents },
    // What it answers to those is the subject here.
    bearsViolations: true,
    ...options,
  });
  github.addAccount({ login: 'acme', type: 'Organization' });
  github.addUser({ login: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' });
  const installation = await github.installApp('acme');
  return {
    github,
    installation,
    dir,
    async [Symbol.asyncDispose](): Promise<void> {
      await github[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    },
  };
}

/** Probot's own defaults win over `ProbotOctokit.defaults({throttle})`: a write each second. Only this stops it. */
class ImpatientOctokit extends ProbotOctokit {
  constructor(options: ConstructorParameters<typeof ProbotOctokit>[0]) {
    super({ ...options, throttle: { enabled: false }, retry: { enabled: false } });
  }
}

/** The real client that the product uses too: as the App, or as an installation. */
export async function octokitFor(url: string, installationId?: number) {
  const overrides = {
    appId: 1,
    privateKey: keys.privateKey,
    secret: 's',
    baseUrl: `${url}/api/v3`,
    Octokit: ImpatientOctokit,
  };
  const probot = createProbot({ env: {}, overrides: { ...overrides, logLevel: 'fatal' } });
  return installationId === undefined ? probot.auth() : probot.auth(installationId);
}

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** An HTTP server that keeps what it gets and answers `status`. */
export async function startReceiver() {
  const received: Received[] = [];
  const answer = { status: 202 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
    response.writeHead(answer.status).end('thanks');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/github/webhooks`,
    received,
    answer,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The secret of `startPushing`. */
export const webhookSecret = "It's a Secret to Everybody";

/** A repository with one commit on main that no push told, and a receiver of what is told from now on. */
export async function startPushing() {
  const receiver = await startReceiver();
  const webhook = { url: receiver.url, secret: webhookSecret };
  const started = await startGithub({ webhook });
  const repo = await started.github.addRepository({
    owner: 'acme',
    name: 'infra',
    files: { 'README.md': 'hello\n' },
  });
  receiver.received.length = 0;
  return {
    ...started,
    repo,
    receiver,
    last: () => JSON.parse(receiver.received.at(-1)?.body ?? '{}'),
    async [Symbol.asyncDispose](): Promise<void> {
      await started[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}
