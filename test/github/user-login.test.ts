import { expect, test } from 'vitest';
import { createLogin } from '../../src/access/login.ts';
import { createUserLogin } from '../../src/github/user-login.ts';
import { startGithub } from './support.ts';

const redirectUrl = 'https://slipway.example.com/login/callback';

async function open() {
  const started = await startGithub();
  const { github, apiUrl } = started;
  const { clientId, clientSecret } = github.app;
  const settings = { clientId, clientSecret, webUrl: github.url, apiUrl };
  const login = createLogin(createUserLogin(settings));
  const { url, memo } = login.begin({ returnTo: '/', redirectUrl });
  /** What the browser does: it is sent to GitHub and from there back. */
  async function throughGithub() {
    const answer = await fetch(url, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    const { code, state } = Object.fromEntries(back.searchParams);
    return { memo, code, state, redirectUrl };
  }
  return {
    ...started,
    settings,
    login,
    throughGithub,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

test('GitHub says who it is', async () => {
  await using all = await open();
  const { id } = all.github.addUser({
    login: 'eve',
    name: 'Eve',
    email: 'eve@example.com',
    emailPublic: true,
  });
  all.github.signInAs('eve');

  const { identity } = await all.login.finish(await all.throughGithub());

  expect(identity.person).toEqual({ userId: id, login: 'eve', email: 'eve@example.com' });
});

test('a private address is not asked for', async () => {
  await using all = await open();
  const { id } = all.github.addUser({
    login: 'eve',
    name: 'Eve',
    email: 'eve@example.com',
    emailPublic: false,
  });
  all.github.signInAs('eve');

  const { identity } = await all.login.finish(await all.throughGithub());

  expect(identity.person.email).toBe(`${id}+eve@users.noreply.github.com`);
});

test('a code is good once, and for the login it was made for', async () => {
  await using all = await open();
  const back = await all.throughGithub();
  await all.login.finish(back);
  await expect(all.login.finish(back)).rejects.toMatchObject({ code: 'login-refused' });

  const stolen = await all.throughGithub();
  const other = all.login.begin({ returnTo: '/', redirectUrl });
  const state = new URL(other.url).searchParams.get('state') ?? '';
  await expect(all.login.finish({ ...stolen, memo: other.memo, state })).rejects.toMatchObject({
    code: 'login-refused',
  });
});

test('a GitHub that does not answer is no refusal, and what failed names no secret', async () => {
  await using all = await open();
  const back = await all.throughGithub();
  all.github.failNext({ method: 'POST', pathPattern: /access_token/, status: 503 });

  const error = await all.login.finish(back).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: 'github-unavailable' });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(all.settings.clientSecret);
});

async function identityOf(all: Awaited<ReturnType<typeof open>>, login: string) {
  all.github.signInAs(login);
  return (await all.login.finish(await all.throughGithub())).identity;
}

test('what a person belongs to is what GitHub shows them', async () => {
  await using all = await open();
  const { github } = all;
  github.addUser({ login: 'eve', name: 'Eve', email: 'eve@example.com' });
  github.addAccount({ login: 'Globex', type: 'Organization' });
  const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
  await github.addRepository({ owner: 'Globex', name: 'private' });
  await github.installApp('Globex');
  github.setPermission(repository, 'eve', 'read');
  await github.acceptPermissions('acme', { ...github.app.permissions, members: 'read' });
  const parent = github.addTeam({ organization: 'acme', slug: 'engineering', members: [] });
  github.addTeam({ organization: 'acme', slug: 'platform', members: ['eve'], parent });
  github.addTeam({ organization: 'acme', slug: 'finance', members: ['ada'] });
  github.addTeam({ organization: 'Globex', slug: 'ops', members: ['eve'] });

  expect(await (await identityOf(all, 'eve')).memberships()).toEqual({
    accounts: ['acme'],
    teams: ['acme/platform', 'acme/engineering'],
  });
});

test('an App that may not read members does not know teams', async () => {
  await using all = await open();
  const identity = await identityOf(all, 'ada');
  expect(await identity.memberships()).toMatchObject({ teams: null });
});

test('all pages are read', async () => {
  await using all = await open();
  await all.github.acceptPermissions('acme', { ...all.github.app.permissions, members: 'read' });
  for (let n = 0; n < 101; n += 1) {
    all.github.addTeam({ organization: 'acme', slug: `team-${n}`, members: ['ada'] });
  }

  const { teams } = await (await identityOf(all, 'ada')).memberships();

  expect([teams?.length, teams?.at(-1)]).toEqual([101, 'acme/team-100']);
});

test.each([
  ['installations', 500, {}],
  ['teams', 500, {}],
  ['teams', 403, { 'retry-after': '60' }],
  ['teams', 403, { 'x-ratelimit-remaining': '0' }],
])('nothing is known of a person when GitHub answers %s with %i %j', async (path, status, headers) => {
  await using all = await open();
  const identity = await identityOf(all, 'ada');
  all.github.failNext({ method: 'GET', pathPattern: new RegExp(`/user/${path}`), status, headers });

  await expect(identity.memberships()).rejects.toMatchObject({ code: 'github-unavailable' });
});

test('GitHub is asked what a person belongs to only when somebody wants to know', async () => {
  await using all = await open();
  await identityOf(all, 'ada');

  expect(all.github.requests.map(({ path }) => path).filter((path) => path.includes('/user/'))).toEqual([]);
});
