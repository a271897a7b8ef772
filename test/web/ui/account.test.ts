import { expect, test } from 'vitest';
import type { Grants } from '../../../src/access/actor.ts';
import { browserName } from '../../../src/web/ui/pages/account/browser-name.ts';
import { anAccount, aRepository } from '../../support/builders.ts';
import { otherAccount } from '../installation.ts';
import { openBrowser } from './browser.ts';
import { hostile } from './settings/settings-world.ts';

const origin = { via: 'ui', address: null, forwardedFor: null } as const;

/** Ada is logged in here and in a second browser. */
async function opened(...change: Parameters<typeof openBrowser>) {
  const all = openBrowser(...change);
  const { sessions } = all.installation;
  await all.logIn();
  const ada = { userId: 5, login: 'ada', email: 'ada@example.com' };
  const elsewhere = await all.installation.logIn(ada, { userAgent: hostile, before: null, origin });
  const session = await sessions.authenticate(elsewhere);
  const submit = async (path: string, fields: Record<string, string>) =>
    all.post(path, { form_token: await all.formToken(), ...fields });
  const [id = ''] = [session?.record.id];
  return { ...all, elsewhere, id, submit, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

async function addAccounts({ installation }: Awaited<ReturnType<typeof opened>>) {
  const { database, repositories } = installation;
  const own = anAccount({ id: 5, login: 'ada', installationId: 103, suspended: true });
  await database.write(async (tx) => {
    for (const account of [anAccount(), otherAccount, own]) await repositories.saveAccount(tx, account);
    await repositories.saveRepository(tx, aRepository());
    await repositories.saveRepository(tx, aRepository({ id: 23, fullName: 'acme/shop', isArchived: true }));
    await repositories.saveRepository(tx, aRepository({ id: 24, fullName: 'acme/secret' }));
  });
}

test('the name in the navigation leads to where the person is logged in', async () => {
  await using all = await opened();

  const front = await all.visit('/');
  const { text } = await all.visit('/account');

  expect(front.text).toContain('<a href="/account">ada</a>');
  expect(text).toContain('<a href="/account" aria-current="page">ada</a>');
  expect(text.match(/this browser<\/strong>/g)).toHaveLength(1);
  expect(text.match(/>Log it out</g)).toHaveLength(1);
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script>alert');
  expect(text).toContain('href="/audit"');
  expect(text).not.toContain('href="/tokens"');
});

test('another browser is logged out, and only by who is logged in there', async () => {
  await using all = await opened();
  const { sessions } = all.installation;
  const other = { userId: 6, login: 'grace', email: '' };
  const ofGrace = await all.installation.logIn(other, { userAgent: '', before: null, origin });
  const { record } = (await sessions.authenticate(ofGrace)) ?? {};

  const foreign = await all.submit('/account/sessions/end', { session: record?.id ?? '' });
  const ended = await all.submit('/account/sessions/end', { session: all.id });

  expect(foreign.answer.status).toBe(404);
  expect(await sessions.authenticate(ofGrace)).not.toBeNull();
  expect([ended.answer.status, ended.location]).toEqual([303, '/account']);
  expect(await sessions.authenticate(all.elsewhere)).toBeNull();
  expect((await all.visit('/account')).answer.status).toBe(200);
});

test('the form that logs out everywhere ends all of them', async () => {
  await using all = await opened();
  const { text } = await all.visit('/account');
  expect(text).toMatch(/action="\/logout">.*\n?.*name="everywhere" value="yes"/);

  await all.submit('/logout', { everywhere: 'yes' });

  expect(await all.installation.sessions.authenticate(all.elsewhere)).toBeNull();
  expect((await all.visit('/account')).location).toBe('/login?return_to=%2Faccount');
});

test('accounts are shown with how it is with the App there, and lead to its settings', async () => {
  await using all = await opened();
  await addAccounts(all);
  all.installation.roles.set('ada acme/infra', 'reader');

  const { text } = await all.visit('/account');

  expect(text).toMatch(/href="\/accounts\/acme">acme<[\s\S]*✓">installed</);
  expect(text).toContain('href="https://github.example/organizations/acme/settings/installations/101"');
  expect(text).toMatch(/href="\/accounts\/ada">ada<[\s\S]*✗">suspended</);
  expect(text).toContain('href="https://github.example/settings/installations/103"');
  expect(text).not.toContain('globex');
  expect(text).toContain('href="https://github.example/apps/slipway-acme/installations/new"');
});

test.each([
  ['https://github.example/apps/x', 'href="https://github.example/apps/x/installations/new"'],
  [null, 'Install it on the page of the App on GitHub'],
])('who sees nothing is told how to begin, with the App at %s', async (url, words) => {
  await using all = await opened({ appPage: async () => url });

  const { text } = await all.visit('/account');

  expect(text).toContain('installed in no account in which you may see a repository');
  expect(text).toContain(words);
});

test('while GitHub cannot be asked, the sessions are there', async () => {
  await using all = await opened({ appPage: () => Promise.reject(new Error('away')) });

  const { answer, text } = await all.visit('/account');

  expect(answer.status).toBe(200);
  expect(text).toContain('this browser');
  expect(text).toContain('Something went wrong inside.');
});

test('an account shows the repositories that the person has a role in', async () => {
  await using all = await opened();
  await addAccounts(all);
  all.installation.roles.set('ada acme/infra', 'admin').set('ada acme/shop', 'reader');

  const { text } = await all.visit('/accounts/acme');
  const none = await all.visit(`/accounts/${encodeURIComponent(hostile)}`);

  expect(text).toContain('href="https://github.example/acme/infra">acme/infra</a>');
  expect(text).toContain('href="/stacks/new?repository=acme%2Finfra"');
  expect(text).toContain('archived: nothing of it runs');
  expect(text).not.toContain('repository=acme%2Fshop">New stack');
  expect(text).not.toContain('acme/secret');
  expect(none.text).toContain('sees no repository of this account');
  expect(none.text).not.toContain('<script>alert');
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1', 'Safari on iPhone'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0 Safari/537.36',
    'Chrome on Linux',
  ],
  ['curl/8.1', 'curl/8.1'],
  ['', 'a browser without a name'],
])('%s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});

test.each<[string, Grants, string[]]>([
  [
    'administration',
    { admin: true, roles: [], policies: ['ops'] },
    ['The login policy ops gave this session', 'administration of this server. It is gone'],
  ],
  [
    'roles',
    {
      admin: false,
      roles: [
        { account: 'acme', stack: null, role: 'reader' },
        { account: 'acme', stack: 'network', role: 'admin' },
      ],
      policies: ['one', '<b>two'],
    },
    ['The login policies one, &lt;b&gt;two gave', 'reader in acme; admin of acme/network.'],
  ],
])('an account says what login policies gave the session: %s', async (_, grants, expected) => {
  const verdict = { kind: 'allowed', grants, settle: async () => true } as const;
  await using all = openBrowser({ judge: { judge: async () => verdict } });
  await all.logIn();

  const { text } = await all.visit('/account');

  for (const words of expected) expect(text).toContain(words);
  expect((await all.visit('/system')).answer.status).toBe(grants.admin ? 200 : 404);
});

test('an account says nothing of login policies that gave nothing', async () => {
  await using all = await opened();
  expect((await all.visit('/account')).text).not.toContain('login polic');
});
