import { expect, test } from 'vitest';
import { formFields, formsOf, hostile, openSettings, settings } from './settings-world.ts';

const page = `${settings}/environment`;

async function opened(role: 'admin' | 'reader' = 'admin') {
  const all = await openSettings(role);
  const { database, stackStore } = all.installation;
  await database.write(async (tx) => {
    const put = (name: string, value: string, secret: boolean, managedBy?: 'file') =>
      stackStore.putVariable(tx, all.stack.key, {
        ...{ name, value, secret, access: 'tracked', ...(managedBy && { managedBy }) },
      });
    await put('PLAIN', hostile, false);
    await put('SECRET', 'do not show this', true);
    await put('OF_FILE', 'info', false, 'file');
  });
  const stored = async (name: string) =>
    (await stackStore.environment(all.stack.key)).find((variable) => variable.name === name);
  return { ...all, stored, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test.each(['admin', 'reader'] as const)('a %s sees plain values, and no secret one', async (role) => {
  await using all = await opened(role);

  for (const path of [page, `${page}?variable=SECRET`, `${page}?variable=PLAIN`]) {
    const { text } = await all.visit(path);
    for (const name of ['PLAIN', 'SECRET', 'OF_FILE']) expect(text).toContain(name);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('do not show this');
    if (role === 'reader') expect(formsOf(text)).toBe(0);
  }
});

test('a variable is added, secret unless said otherwise', async () => {
  await using all = await opened();
  const fields = formFields((await all.visit(page)).text, page);
  expect(fields).toMatchObject({ secret: ['yes'], access: ['all'] });

  const saved = await all.submit(page, { ...fields, name: ' KEY ', value: 'one\r\ntwo', access: 'apply' });

  expect([saved.answer.status, saved.location]).toEqual([303, `${page}#KEY`]);
  expect(await all.stored('KEY')).toEqual({ name: 'KEY', value: 'one\ntwo', secret: true, access: 'apply' });
});

test('a variable is changed and removed', async () => {
  await using all = await opened();
  const fields = formFields((await all.visit(`${page}?variable=PLAIN`)).text, page);
  expect(fields).toMatchObject({ name: ['PLAIN'], value: [hostile], access: ['tracked'] });
  expect(fields['secret']).toBeUndefined();

  await all.submit(page, { ...fields, value: 'other' });
  expect(await all.stored('PLAIN')).toMatchObject({ value: 'other', access: 'tracked', secret: false });
  const removed = await all.submit(`${page}/remove`, { name: 'PLAIN' });

  expect([removed.answer.status, removed.location]).toEqual([303, page]);
  expect(await all.stored('PLAIN')).toBeUndefined();
});

test('the form of a secret is empty, and refuses to make nothing of it', async () => {
  await using all = await opened();
  const fields = formFields((await all.visit(`${page}?variable=SECRET`)).text, page);
  expect(fields).toMatchObject({ name: ['SECRET'], value: [''], secret: ['yes'] });

  const { answer, text } = await all.submit(page, fields);

  expect(answer.status).toBe(422);
  expect(text).toContain('Change SECRET');
  expect(text).toContain('at least 4 characters for a secret');
  expect(await all.stored('SECRET')).toMatchObject({ value: 'do not show this' });
});

test.each([
  ['PATH', 'reserved: it steers Slipway, the shell, git or the tool itself'],
  ['PULUMI_STACK', 'reserved: it steers Slipway, the shell, git or the tool itself'],
  ['1ST', 'letters, digits and underscores only, and no digit in front'],
  ['..', 'letters, digits and underscores only, and no digit in front'],
  ['A/B', 'letters, digits and underscores only, and no digit in front'],
  ['', 'letters, digits and underscores only, and no digit in front'],
  [hostile, 'letters, digits and underscores only, and no digit in front'],
])('the name %j is refused with the reason', async (name, reason) => {
  await using all = await opened();

  const { answer, text } = await all.submit(page, { name, value: 'kept', access: 'apply' });

  expect(answer.status).toBe(422);
  expect(text).toContain(`<p class="wrong" id="name-wrong">${reason}</p>`);
  expect(text).not.toContain('<script>alert');
  expect(formFields(text, page)).toMatchObject({ name: [name.trim()], value: ['kept'], access: ['apply'] });
});

test('a secret that is refused is not sent back', async () => {
  await using all = await opened();

  const { answer, text } = await all.submit(page, { name: 'PATH', value: 'typed secret', secret: 'yes' });

  expect(answer.status).toBe(422);
  expect(text).not.toContain('typed secret');
});

test('what the file sets is not changed here', async () => {
  await using all = await opened();

  const shown = await all.visit(`${page}?variable=OF_FILE`);
  const refused = await all.submit(page, { name: 'OF_FILE', value: 'x' });

  expect(shown.text).toContain('set by the file');
  expect(shown.text).not.toContain('Change OF_FILE');
  expect([refused.answer.status, await all.stored('OF_FILE')]).toMatchObject([409, { value: 'info' }]);
});
