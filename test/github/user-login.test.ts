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
