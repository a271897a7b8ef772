import { createSign, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { keys, octokitFor, startGithub } from './stand-in.ts';

const nowSeconds = Math.floor(Date.now() / 1000);

function appJwt(claims: Record<string, unknown> = {}, privateKey = keys.privateKey): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = { iss: 1, iat: nowSeconds - 30, exp: nowSeconds + 300, ...claims };
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(body)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}

async function ask(url: string, authorization?: string) {
  const response = await fetch(url, { headers: authorization === undefined ? {} : { authorization } });
  return { status: response.status, body: await response.json() };
}

test('the App finds its installations and repositories, with and without the Enterprise prefix', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra' });
  const jwt = `Bearer ${appJwt()}`;

  for (const prefix of ['', '/api/v3']) {
    const api = github.url + prefix;
    expect((await ask(`${api}/app`, jwt)).body).toMatchObject({ id: 1, slug: 'slipway' });
    expect((await ask(`${api}/app/installations`, jwt)).body).toMatchObject([{ id: installation.id }]);
    expect((await ask(`${api}/repos/Acme/infra/installation`, jwt)).body).toMatchObject({
      id: installation.id,
    });
    expect((await ask(`${api}/orgs/acme/installation`, jwt)).body).toMatchObject({ id: installation.id });
    expect((await ask(`${api}/users/acme/installation`, jwt)).status).toBe(404);
  }
  const octokit = await octokitFor(github.url, installation.id);
  const listed = await octokit.rest.apps.listReposAccessibleToInstallation();
  expect(listed.data.repositories).toMatchObject([{ id: repo.id, full_name: 'acme/infra', private: true }]);
  const byId = await octokit.request('GET /repositories/{id}', { id: repo.id });
  expect(byId.data).toMatchObject({
    full_name: 'acme/infra',
    default_branch: 'main',
    owner: { login: 'acme' },
  });
});

test('lists are paged with links that Octokit follows', async () => {
  await using started = await startGithub();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await started.github.addRepository({ owner: 'acme', name });
  const octokit = await octokitFor(started.github.url, started.installation.id);
  const all = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 2 });
  expect(all.map((repository) => repository.name)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

const strangeKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

test.each([
  ['signed with another key', appJwt({}, strangeKey), 'A JSON web token could not be decoded'],
  ['of another App', appJwt({ iss: 2 }), 'Integration not found'],
  ['that has expired', appJwt({ exp: nowSeconds - 1 }), "'Expiration time' claim"],
  ['that lives longer than ten minutes', appJwt({ exp: nowSeconds + 3600 }), 'too far in the future'],
  ['that is none', 'ghs_nonsense', 'Bad credentials'],
])('an App token %s is refused', async (_which, token, message) => {
  await using started = await startGithub();
  const answer = await ask(`${started.github.url}/app`, `Bearer ${token}`);
  expect(answer).toMatchObject({
    status: 401,
    body: { message: expect.stringContaining(message), status: '401' },
  });
});

test('a token is narrowed to the repositories and permissions asked for', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  const infra = await github.addRepository({
    owner: 'acme',
    name: 'infra',
    files: { 'README.md': 'hello\n' },
  });
  await github.addRepository({ owner: 'acme', name: 'other', files: { 'README.md': 'hello\n' } });
  const app = await octokitFor(github.url);
  const minted = await app.rest.apps.createInstallationAccessToken({
    installation_id: installation.id,
    repository_ids: [infra.id],
    permissions: { contents: 'read' },
  });
  expect(minted.data.token).toMatch(/^ghs_1_[\w.-]{300,}$/);
  expect(minted.data.permissions).toEqual({ contents: 'read', metadata: 'read' });
  const token = `token ${minted.data.token}`;

  expect(await ask(`${github.url}/repos/acme/infra/commits/main`, token)).toMatchObject({ status: 200 });
  expect(await ask(`${github.url}/repos/acme/other`, token)).toMatchObject({ status: 404 });
  expect(await ask(`${github.url}/repos/acme/infra/commits/main/check-runs`, token)).toMatchObject({
    status: 403,
    body: { message: 'Resource not accessible by integration' },
  });
  expect((await ask(`${github.url}/installation/repositories`, token)).body).toMatchObject({
    total_count: 1,
  });
});

test('more than the installation has is not minted', async () => {
  await using started = await startGithub();
  const app = await octokitFor(started.github.url);
  const installation_id = started.installation.id;
  const mint = app.rest.apps.createInstallationAccessToken;
  await expect(mint({ installation_id, permissions: { administration: 'write' } })).rejects.toMatchObject({
    status: 422,
  });
  await expect(mint({ installation_id, repository_ids: [4711] })).rejects.toMatchObject({ status: 422 });
  await expect(mint({ installation_id: 4711 })).rejects.toMatchObject({ status: 404 });
});

test('a token ends after an hour, when revoked, and with its installation', async () => {
  let nowMs = Date.now();
  await using started = await startGithub({ nowMs: () => nowMs });
  const { github, installation } = started;
  const app = await octokitFor(github.url);
  const mint = async (): Promise<string> => {
    const minted = await app.rest.apps.createInstallationAccessToken({ installation_id: installation.id });
    return `Bearer ${minted.data.token}`;
  };
  const status = async (token: string) =>
    (await ask(`${github.url}/installation/repositories`, token)).status;

  const revoked = await mint();
  expect(await status(revoked)).toBe(200);
  await fetch(`${github.url}/installation/token`, { method: 'DELETE', headers: { authorization: revoked } });
  expect(await status(revoked)).toBe(401);
  const [old, orphan] = [await mint(), await mint()];
  await github.uninstallApp('acme');
  expect(await status(orphan)).toBe(401);
  nowMs += 3_600_000;
  expect(await status(old)).toBe(401);
});

test('permissions are the legacy word and the true role, and unknown people are 404', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra' });
  const open = await github.addRepository({ owner: 'acme', name: 'open', private: false });
  const octokit = await octokitFor(github.url, installation.id);
  const ask = async (name: string, username: string) => {
    const answer = await octokit.rest.repos.getCollaboratorPermissionLevel({
      owner: 'acme',
      repo: name,
      username,
    });
    return [answer.data.permission, answer.data.role_name];
  };

  expect(await ask('infra', 'ada')).toEqual(['none', 'none']);
  expect(await ask('open', 'ada')).toEqual(['read', 'read']);
  github.setPermission(repo, 'ada', 'maintain');
  expect(await ask('infra', 'ADA')).toEqual(['write', 'maintain']);
  github.setPermission(repo, 'ada', 'triage');
  expect(await ask('infra', 'ada')).toEqual(['read', 'triage']);
  github.setPermission(open, 'ada', 'admin');
  expect(await ask('open', 'ada')).toEqual(['admin', 'admin']);
  github.setPermission(open, 'ada', null);
  expect(await ask('open', 'ada')).toEqual(['read', 'read']);
  await expect(ask('infra', 'nobody')).rejects.toMatchObject({ status: 404 });
});

test('ordered failures meet only the requests they are for, so many times', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  await github.addRepository({ owner: 'acme', name: 'infra' });
  const octokit = await octokitFor(github.url, installation.id);
  const get = () => octokit.rest.repos.get({ owner: 'acme', repo: 'infra' });
  github.failNext({ method: 'POST', pathPattern: /infra$/, status: 500, times: 1 });
  github.failNext({
    pathPattern: /^\/repos\/acme\/infra$/,
    status: 403,
    times: 2,
    headers: { 'retry-after': '7' },
    message: 'You have exceeded a secondary rate limit.',
  });

  await expect(get()).rejects.toMatchObject({ status: 403, response: { headers: { 'retry-after': '7' } } });
  await expect(get()).rejects.toMatchObject({ status: 403 });
  expect((await get()).status).toBe(200);
  const asked = github.requests.filter((each) => each.path === '/repos/acme/infra');
  expect(asked.map(({ status, authKind }) => [status, authKind])).toEqual([
    [403, 'installation'],
    [403, 'installation'],
    [200, 'installation'],
  ]);
});

test('a lost answer means performed, and the client cut off', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra' });
  const head_sha = await github.commit(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  const octokit = await octokitFor(github.url, installation.id);
  github.failNext({ method: 'POST', pathPattern: /check-runs$/, dropAnswer: true });

  const create = octokit.rest.checks.create({ owner: 'acme', repo: 'infra', name: 'slipway/net', head_sha });
  await expect(create).rejects.toThrow();
  expect(github.checkRuns).toMatchObject([{ name: 'slipway/net' }]);
  expect(github.requests.at(-1)).toMatchObject({ method: 'POST', status: 201, lost: true });
});

test('what nobody asked to be refused but is unknown is 404 in the shape of GitHub', async () => {
  await using started = await startGithub();
  expect(await ask(`${started.github.url}/no/such/thing`)).toEqual({
    status: 404,
    body: { message: 'Not Found', documentation_url: expect.any(String), status: '404' },
  });
});
