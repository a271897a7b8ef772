import { expect, test } from 'vitest';
import { call } from '../installation.ts';
import { openBrowser } from './browser.ts';
import { formFields, hostile } from './settings/settings-world.ts';

/** An administrator of the instance is logged in. */
async function opened() {
  const all = openBrowser({}, { login: 'root-ada' });
  await all.logIn();
  const submit = async (path: string, fields: Record<string, string>) =>
    all.post(path, { form_token: await all.formToken(), ...fields });
  const stored = () => all.installation.tokens.list({ after: null, limit: 10 });
  return { ...all, submit, stored, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const shownToken = (text: string): string => /slipway_[\w-]{43}/.exec(text)?.[0] ?? '';

test('tokens are listed with who made them, when they are used and end', async () => {
  await using all = await opened();
  const { tokens } = all.installation;
  const operator = { kind: 'operator' } as const;
  const grace = { kind: 'person', login: hostile, email: '' } as const;
  await tokens.create(
    { name: 'old', role: 'writer', account: 'acme', expiresAtMs: 1_795_000_060_000 },
    grace,
  );
  const used = await tokens.create({ name: hostile, role: 'admin', account: null }, operator);
  await tokens.authenticate(used.token);
  for (let looks = 0; looks < 60; looks += 1) await all.installation.sessions.authenticate('none');

  const { text } = await all.visit('/tokens');

  expect(text).toMatch(/<td>old<\/td>\s*<td>writer<\/td>\s*<td>acme<\/td>/);
  expect(text).toContain('>expired</span>');
  expect(text).toContain('not yet');
  expect(text).toContain('>never<');
  expect(text).toContain('by operator');
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script>alert');
  expect(shownToken(text)).toBe('');
});

test('a token is made, shown once, and works', async () => {
  await using all = await opened();
  const fields = formFields((await all.visit('/tokens')).text, '/tokens');
  expect(fields).toMatchObject({ role: ['reader'], expiresAt: ['90'] });

  const made = await all.submit('/tokens', {
    ...{ name: ' deploy bot ', role: 'writer', account: ' acme ', expiresAt: '30' },
  });
  const token = shownToken(made.text);
  const [stored] = await all.stored();

  expect(made.answer.status).toBe(200);
  expect(made.text).toContain(`Authorization: Bearer ${token}`);
  expect(made.text).toContain('https://slipway.example.com/api/v1/stacks');
  expect((await call(all.installation, 'GET', '/api/v1/stacks', { token })).status).toBe(200);
  expect(stored).toMatchObject({
    name: 'deploy bot',
    role: 'writer',
    account: 'acme',
    createdBy: 'root-ada',
  });
  expect(((stored?.expiresAtMs ?? 0) - (stored?.createdAtMs ?? 0)) / 86_400_000).toBeCloseTo(30, 2);
  expect((await all.visit('/tokens')).text).not.toContain(token);
});

test('one without an end and without an account says so', async () => {
  await using all = await opened();

  await all.submit('/tokens', { name: 'forever', role: 'reader', account: '', expiresAt: 'never' });

  expect(await all.stored()).toMatchObject([{ account: null, expiresAtMs: null }]);
});

test.each([
  ['no name', { name: '  ', role: 'reader', expiresAt: '30' }, 'name'],
  ['a life that is not offered', { name: 'x', role: 'reader', expiresAt: '-1' }, 'expiresAt'],
  ['a role that there is not', { name: 'x', role: 'owner', expiresAt: '30' }, 'role'],
])('%s is refused beside its field, with what was typed', async (_, fields, wrong) => {
  await using all = await opened();

  const { answer, text } = await all.submit('/tokens', { ...fields, account: hostile });

  expect(answer.status).toBe(422);
  expect(text).toContain(`id="${wrong}-wrong"`);
  expect(formFields(text, '/tokens')).toMatchObject({ account: [hostile] });
  expect(text).not.toContain('<script>alert');
  expect(await all.stored()).toEqual([]);
});

test('a token is revoked, and refused from then on', async () => {
  await using all = await opened();
  const token = await all.installation.token('reader');
  const [stored] = await all.stored();
  expect((await all.visit('/tokens')).text).toContain('is refused from the next request on');

  const { answer, location } = await all.submit('/tokens/revoke', { token: stored?.id ?? '' });

  expect([answer.status, location]).toEqual([303, '/tokens']);
  expect((await call(all.installation, 'GET', '/api/v1/stacks', { token })).status).toBe(401);
});

test('for everybody else there is no such page', async () => {
  await using all = openBrowser();
  await all.logIn();
  const form_token = await all.formToken();

  expect((await all.visit('/tokens')).answer.status).toBe(404);
  expect((await all.post('/tokens', { form_token, name: 'x', role: 'admin' })).answer.status).toBe(404);
  expect((await all.post('/tokens/revoke', { form_token, token: 'x' })).answer.status).toBe(404);
});
