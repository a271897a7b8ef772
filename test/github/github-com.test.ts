import { generateKeyPairSync } from 'node:crypto';
import nock from 'nock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { createGithubApp } from '../../src/github/github-app.ts';
import { createRepositoryDirectory } from '../../src/github/repositories.ts';
import { aClock, silent } from './support.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const settings = { appId: 7, privateKey, webhookSecret: 'secret', apiUrl: 'https://api.github.com' };

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
  nock.restore();
  nock.activate();
});

test('github.com is asked at api.github.com, without the prefix of an enterprise server', async () => {
  const github = nock('https://api.github.com')
    .get('/repos/acme/infra/installation')
    .matchHeader('authorization', /^bearer [\w-]+\.[\w-]+\.[\w-]+$/i)
    .reply(200, { id: 101, account: { id: 11, login: 'acme', type: 'Organization' }, suspended_at: null })
    .post('/app/installations/101/access_tokens')
    .reply(201, {
      token: 'ghs_0123456789',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      permissions: {},
    })
    .get('/repos/acme/infra')
    .matchHeader('authorization', 'token ghs_0123456789')
    .reply(200, {
      id: 21,
      full_name: 'acme/infra',
      default_branch: 'main',
      private: true,
      owner: { id: 11, login: 'acme' },
    });
  using app = await createGithubApp(settings, createApiBudget({ clock: aClock() }), silent);

  const found = await createRepositoryDirectory(app).lookUp('acme/infra');

  expect(found).toMatchObject({
    account: { id: 11 },
    repository: { id: 21, installationId: 101, isPrivate: true },
  });
  expect(github.isDone()).toBe(true);
});
