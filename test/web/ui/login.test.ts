import { expect, test } from 'vitest';
import { openBrowser as open } from './browser.ts';

test('a login ends where the person wanted to go, with a cookie that only this server gets', async () => {
  await using all = open();

  const back = await all.logIn('/runs/1');

  expect([back.answer.status, back.location]).toEqual([303, '/runs/1']);
  const [session = ''] = back.answer.headers
    .getSetCookie()
    .filter((line) => line.startsWith('__Host-slipway='));
  for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/'])
    expect(session).toContain(attribute);
  expect([...all.jar.keys()]).toEqual(['__Host-slipway']);
});

test('who is logged in asks the API as that person', async () => {
  await using all = open();
  await all.installation.addStack('Network Prod');
  expect((await all.visit('/api/v1/stacks')).answer.status).toBe(401);
  await all.logIn();

  const nothing = await all.visit('/api/v1/stacks/acme/network-prod');
  all.installation.roles.set('ada', 'reader');
  const stack = await all.visit('/api/v1/stacks/acme/network-prod');

  expect([nothing.answer.status, stack.answer.status]).toEqual([404, 200]);
});

test.each<[string, (token: string) => Record<string, string>, number]>([
  ['without the token of a form', () => ({}), 403],
  ['with another token', () => ({ 'x-form-token': 'x'.repeat(43) }), 403],
  ['from another site', (token) => ({ 'x-form-token': token, 'sec-fetch-site': 'cross-site' }), 403],
  ['from a sibling host', (token) => ({ 'x-form-token': token, 'sec-fetch-site': 'same-site' }), 403],
  ['from a page of ours', (token) => ({ 'x-form-token': token, 'sec-fetch-site': 'same-origin' }), 204],
])('a session changes something %s: %i', async (_, headersFor, status) => {
  await using all = open();
  await all.installation.addStack('Network Prod');
  all.installation.roles.set('ada', 'writer');
  await all.logIn();
  const headers = { 'content-type': 'application/json', ...headersFor(await all.formToken()) };

  const { answer } = await all.visit('/api/v1/stacks/acme/network-prod/lock', {
    ...{ method: 'PUT', headers, body: '{}' },
  });

  expect(answer.status).toBe(status);
});

test('a way back that was not begun in this browser logs nobody in', async () => {
  await using all = open();

  const { answer, text } = await all.visit('/login/callback?code=good&state=guessed');

  expect(answer.status).toBe(403);
  expect(text).toContain('belongs to no login that was begun in this browser');
  expect([...all.jar.keys()]).toEqual([]);
});

test('a logout wants the token of its form, and ends the session', async () => {
  await using all = open();
  await all.logIn();
  const before = all.jar.get('__Host-slipway') ?? '';
  expect((await all.post('/logout', {})).answer.status).toBe(403);
  expect(all.jar.size).toBe(1);

  const out = await all.post('/logout', { form_token: await all.formToken() });

  expect([out.answer.status, out.location, all.jar.size]).toEqual([303, '/login', 0]);
  expect(await all.installation.sessions.authenticate(before)).toBeNull();
});

test('a logout everywhere ends the sessions of other browsers', async () => {
  await using all = open();
  await all.logIn();
  const other = all.jar.get('__Host-slipway') ?? '';
  all.jar.clear();
  await all.logIn();

  await all.post('/logout', { form_token: await all.formToken(), everywhere: 'yes' });

  expect(await all.installation.sessions.authenticate(other)).toBeNull();
});

test('pages load nothing from elsewhere and run nothing that is written into them', async () => {
  await using all = open();

  const { answer, text } = await all.visit('/login?return_to=/runs/%22%3E%3Cscript%3Ealert(1)%3C/script%3E');

  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(text).not.toContain('<script>alert');
  expect(text).not.toMatch(/ style="| on\w+="/);
  const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
  const sheet = await all.visit(style);
  expect(sheet.answer.headers.get('cache-control')).toContain('immutable');
});

test.each([
  ['HTTPS://slipway.example.com', '__Host-slipway', true],
  ['http://localhost:3000', 'slipway', false],
])('with the address %s the cookie is %s', async (url, name, isSecure) => {
  await using all = open({ publicUrl: () => url });

  const { answer } = await all.logIn();

  const session = answer.headers.getSetCookie().find((line) => line.startsWith(`${name}=`));
  expect(session?.includes('; Secure')).toBe(isSecure);
});
