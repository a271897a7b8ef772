import { expect, test } from 'vitest';
import { openBrowser } from './browser.ts';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('a path that nothing is at shows a page with a way on, logged in or not', async () => {
  await using all = openBrowser();

  const before = await all.visit('/no/such/page', { headers: html });
  await all.logIn();
  const after = await all.visit('/no/such/<b>page', { headers: html });

  for (const { answer, text } of [before, after]) {
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('text/html');
    expect(answer.headers.get('content-security-policy')).toContain("style-src 'self'");
    expect(text).toContain('<h1>Nothing here</h1>');
    expect(text).toContain('<a href="/">To the stacks</a>');
    expect(text).not.toContain('<b>page');
  }
  expect(before.text).not.toContain('Log out');
  expect(after.text).toContain('Log out');
});

test.each([
  ['GET', '/logout', 'POST'],
  ['POST', '/runs', 'GET'],
  ['GET', '/stacks/acme/infra/lock', 'POST'],
])('%s %s says what is possible there', async (method, path, possible) => {
  await using all = openBrowser();

  const { answer, text } = await all.visit(path, { method, headers: html });

  expect([answer.status, answer.headers.get('allow')]).toEqual([405, possible]);
  expect(text).toContain(`<p>Possible here: ${possible}.</p>`);
});

test('what went wrong inside is told by its id, and is in the log under it', async () => {
  await using all = openBrowser({ runList: { page: () => Promise.reject(new Error('the disk of db7')) } });
  await all.logIn();

  const failed = await all.visit('/runs', { headers: html });

  expect(failed.answer.status).toBe(500);
  expect(failed.text).toContain('Log out');
  expect(failed.text).not.toContain('db7');
  const { errorId } = all.installation.logged.at(-1) as { errorId: string };
  expect(failed.text).toContain(`The log of the server has more under ${errorId}.`);
});

test('a session that cannot be read does not hide what went wrong', async () => {
  await using all = openBrowser();
  await all.logIn();
  await all.installation.database[Symbol.asyncDispose]();

  const { answer, text } = await all.visit('/', { headers: html });

  expect(answer.status).toBe(500);
  expect(text).toContain('The log of the server has more under');
});

test('programs get problems, whatever they accept', async () => {
  await using all = openBrowser();

  for (const path of ['/api/v1/nothing', '/api', '/assets/none.css', '/healthz/x', '/metrics/x']) {
    const { answer, text } = await all.visit(path, { headers: html });
    expect([path, answer.headers.get('content-type')]).toEqual([path, 'application/problem+json']);
    expect(JSON.parse(text)).toHaveProperty('code');
  }
  const script = await all.visit('/no/such/page', { headers: { accept: '*/*' } });
  const other = await all.visit('/no/such/page', { method: 'DELETE', headers: html });
  expect(JSON.parse(script.text).code).toBe('not-found');
  expect(JSON.parse(other.text).code).toBe('not-found');
});

test('a form that is too large is refused on a page, also the one that logs out', async () => {
  await using all = openBrowser();
  await all.logIn();

  for (const path of ['/stacks/new', '/logout']) {
    const { answer, text } = await all.post(path, { name: 'x'.repeat(1_100_000) }, html);
    expect([path, answer.status]).toEqual([path, 413]);
    expect(text).toContain('The form is too large.');
  }
});

test.each([
  ['/runs/1/confirm', '/runs/1'],
  ['/stacks/acme/infra/settings/integrations/7/test', '/stacks/acme/infra/settings/integrations/7'],
  ['/stacks/acme/infra/settings/environment', '/stacks/acme/infra/settings/environment'],
  ['/stacks/acme/infra/lock', '/stacks/acme/infra'],
])('what is sent to %s without a session is said to be lost, and leads to %s', async (path, page) => {
  await using all = openBrowser();

  const { answer, location } = await all.post(path, { name: 'typed' });
  const login = await all.visit(location ?? '');

  expect(answer.status).toBe(303);
  expect(login.text).toContain('nothing of what you sent was saved or done');
  expect(login.text).toContain(`href="/login/github?return_to=${encodeURIComponent(page)}"`);
  expect((await all.visit('/login')).text).not.toContain('was saved or done');
});
