import { createHash, createSign, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startGithub } from './stand-in.ts';

async function authorize(url: string, query: Record<string, string>) {
  const response = await fetch(`${url}/login/oauth/authorize?${new URLSearchParams(query)}`, {
    redirect: 'manual',
  });
  return new URL(response.headers.get('location') ?? 'none:');
}

async function post(url: string, body: Record<string, string>) {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    redirect: 'manual',
  });
  return response;
}

test('somebody signs in with PKCE and sees what they may see', async () => {
  await using started = await startGithub();
  const { github, installation } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra' });
  await github.addRepository({ owner: 'acme', name: 'secret' });
  github.addUser({ login: 'grace', name: 'Grace', email: 'grace@example.com', emailPublic: false });
  github.setPermission(repo, 'grace', 'write');
  github.signInAs('grace');
  const verifier = randomBytes(32).toString('base64url');
  const redirect_uri = 'http://127.0.0.1:3000/login/callback';
  const query = {
    client_id: github.app.clientId,
    redirect_uri,
    state: 'opaque',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const client = { client_id: github.app.clientId, client_secret: github.app.clientSecret, redirect_uri };
  const exchange = async (code_verifier: string) => {
    const back = await authorize(github.url, query);
    expect(back.searchParams.get('state')).toBe('opaque');
    const code = back.searchParams.get('code') ?? '';
    return (await post(`${github.url}/login/oauth/access_token`, { ...client, code, code_verifier })).json();
  };

  expect(await exchange('not the verifier')).toEqual({ error: 'bad_verification_code' });
  const { access_token: token } = (await exchange(verifier)) as { access_token: string };
  expect(token).toMatch(/^ghu_/);
  const as = async (path: string) =>
    (await fetch(`${github.url}/api/v3${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
  expect(await as('/user')).toMatchObject({ login: 'grace', email: null });
  expect(await as('/user/installations')).toMatchObject({
    total_count: 1,
    installations: [{ id: installation.id }],
  });
  expect(await as(`/user/installations/${installation.id}/repositories`)).toMatchObject({
    total_count: 1,
    repositories: [{ name: 'infra', permissions: { push: true, admin: false } }],
  });
  expect(await as('/repos/acme/secret')).toMatchObject({ status: '404' });
});

test('a plain challenge is refused', async () => {
  await using started = await startGithub();
  const { github } = started;
  const back = await authorize(github.url, {
    client_id: github.app.clientId,
    redirect_uri: 'http://127.0.0.1:3000/login/callback',
    code_challenge: 'x',
    code_challenge_method: 'plain',
  });
  expect(back.searchParams.get('error')).toBe('invalid_request');
  expect(back.searchParams.has('code')).toBe(false);
});

test('a manifest becomes the App, once, and its key works', async () => {
  await using started = await startGithub();
  const { github } = started;
  const manifest = JSON.stringify({
    name: 'My Slipway',
    url: 'http://127.0.0.1:3000',
    redirect_url: 'http://127.0.0.1:3000/setup',
    hook_attributes: { url: 'http://127.0.0.1:9/api/github/webhooks' },
    default_permissions: { contents: 'read' },
    default_events: ['push'],
  });
  const registered = await post(`${github.url}/settings/apps/new?state=opaque`, { manifest });
  const back = new URL(registered.headers.get('location') ?? 'none:');
  expect(back.searchParams.get('state')).toBe('opaque');
  const conversions = `${github.url}/api/v3/app-manifests/${back.searchParams.get('code')}/conversions`;
  const app = (await (await post(conversions, {})).json()) as { id: number; pem: string };
  expect(app).toMatchObject({
    slug: 'my-slipway',
    webhook_secret: expect.any(String),
    client_secret: expect.any(String),
  });
  expect((await post(conversions, {})).status).toBe(404);

  const nowSeconds = Math.floor(Date.now() / 1000);
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256' })}.${part({ iss: app.id, iat: nowSeconds, exp: nowSeconds + 60 })}`;
  const jwt = `${signed}.${createSign('RSA-SHA256').update(signed).sign(app.pem, 'base64url')}`;
  const own = await fetch(`${github.url}/app`, { headers: { authorization: `Bearer ${jwt}` } });
  expect(await own.json()).toMatchObject({ name: 'My Slipway', events: ['push'] });
});
