import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { openBrowser } from './browser.ts';

const integrations = '/stacks/acme/network-prod/settings/integrations';
const endpoint = 'https://hooks.example.com/slipway';

/** Somebody with that role is logged in, and there is a stack with a webhook. */
async function opened(role: Role) {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const webhook = await installation.webhooks.create(stack.key, { endpoint, secret: 'the secret of a test' });
  installation.roles.set('ada', role);
  await all.logIn();
  const submit = async (path: string, fields: Record<string, string> = {}) =>
    all.post(path, { form_token: await all.formToken(), ...fields });
  const page = `${integrations}/${webhook.id}`;
  return { ...all, stack, webhook, page, submit, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test('an administrator adds a webhook, whose secret is made when none is given', async () => {
  await using all = await opened('admin');

  const added = await all.submit(integrations, {
    ...{ endpoint: 'https://other.example.com/x', secret: '', enabled: 'yes' },
  });

  expect(added.answer.status).toBe(303);
  expect(added.location).toMatch(new RegExp(`^${integrations}/[0-9A-Z]{26}$`));
  const shown = await all.visit(added.location ?? '');
  expect(shown.text).toContain('https://other.example.com/x');
  const made = (await all.installation.webhooks.list(all.stack.key, { after: null, limit: 9 })).at(-1);
  const { secret } = (await all.installation.webhooks.find(made?.id ?? '')) ?? {};
  expect(secret).toMatch(/^.{30,}$/);
  expect(shown.text).toContain(`<code>${secret}</code>`);
});

test.each([
  ['an endpoint that is there already', endpoint, 409],
  ['an endpoint that is no URL', 'not a url', 422],
  ['an address in the network of the server', 'http://127.0.0.1/"><script>alert(1)</script>', 422],
])('%s is refused in the form, with what was typed', async (_, typed, status) => {
  await using all = await opened('admin');

  const { answer, text } = await all.submit(integrations, { endpoint: typed, secret: 'do not show this' });

  expect(answer.status).toBe(status);
  expect(text).toContain('role="alert"');
  expect(text).toContain(typed === endpoint ? `value="${typed}"` : 'value="');
  expect(text).not.toContain('do not show this');
  expect(text).not.toContain('<script>alert');
  expect(await all.installation.webhooks.list(all.stack.key, { after: null, limit: 9 })).toHaveLength(1);
});

test('a reader sees webhooks and their secrets, and no form', async () => {
  await using all = await opened('reader');

  const list = await all.visit(integrations);
  const one = await all.visit(all.page);

  expect(list.text).toContain(endpoint);
  expect(one.text).toContain('the secret of a test');
  // The only form is the one that logs out.
  for (const { text } of [list, one]) expect(text.match(/<form/g)).toHaveLength(1);
});

test.each<[Role]>([['reader'], ['writer']])('a %s changes nothing', async (role) => {
  await using all = await opened(role);
  const before = await all.installation.webhooks.find(all.webhook.id);

  for (const path of [
    integrations,
    ...['enabled', 'regenerate', 'delete', 'test'].map((verb) => `${all.page}/${verb}`),
  ]) {
    const { answer } = await all.submit(path, { endpoint: 'https://evil.example.com/', enabled: 'no' });
    expect([path, answer.status]).toEqual([path, 403]);
  }

  expect(await all.installation.webhooks.find(all.webhook.id)).toEqual(before);
});

test('an administrator disables, enables, regenerates, tests and deletes it', async () => {
  await using all = await opened('admin');
  const now = async () => all.installation.webhooks.find(all.webhook.id);

  await all.submit(`${all.page}/enabled`, { enabled: 'no' });
  expect(await now()).toMatchObject({ enabled: false });
  expect((await all.visit(all.page)).text).toContain('>Enable</button>');
  await all.submit(`${all.page}/enabled`, { enabled: 'yes' });
  expect(await now()).toMatchObject({ enabled: true });

  await all.submit(`${all.page}/regenerate`);
  expect((await now())?.secret).not.toBe('the secret of a test');
  expect((await now())?.oldSecrets).toHaveLength(1);

  const tested = await all.submit(`${all.page}/test`);
  expect([tested.answer.status, tested.text.includes('The receiver took it.')]).toEqual([200, true]);

  const deleted = await all.submit(`${all.page}/delete`);
  expect([deleted.answer.status, deleted.location, await now()]).toEqual([303, integrations, null]);
});

test('deliveries are listed with what came of them, and resent by administrators', async () => {
  await using all = await opened('admin');
  const run = await all.installation.addRun(all.stack);

  const { text } = await all.visit(all.page);

  expect(text).toContain(`<a href="/runs/${run.id}" class="mono">${run.id}</a>`);
  const [, delivery = ''] = /name="delivery" value="([0-9A-Z]{26})"/.exec(text) ?? [];
  const resent = await all.submit(`${all.page}/resend`, { delivery });
  expect([resent.answer.status, resent.location]).toEqual([303, all.page]);
});
