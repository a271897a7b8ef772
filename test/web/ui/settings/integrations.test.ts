import { expect, test } from 'vitest';
import type { Role } from '../../../../src/access/actor.ts';
import { someHealth } from '../../../support/builders.ts';
import { attempted } from '../../attempted.ts';
import { endpoint, formFields, formsOf, openSettings, settings } from './settings-world.ts';

const integrations = `${settings}/integrations`;

/** Somebody with that role is logged in, and there is a stack with a webhook. */
async function opened(role: Role) {
  const all = await openSettings(role);
  const { webhooks } = all.installation;
  const webhook = await webhooks.create(all.stack.key, { endpoint, secret: 'the secret of a test' });
  const page = `${integrations}/${webhook.id}`;
  const now = () => webhooks.find(webhook.id);
  return { ...all, webhook, page, now, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const headers = 'Authorization: Bearer 5f1d\r\nX-Team: infra';

test('an administrator adds a webhook with all that it can have', async () => {
  await using all = await opened('admin');
  const fields = formFields((await all.visit(`${integrations}/new`)).text, integrations);
  expect(fields).toMatchObject({ enabled: ['yes'] });

  const added = await all.submit(integrations, {
    ...{ endpoint: 'https://other.example.com/x', secret: 'correct horse', headers },
    ...{ 'filter.states': ['FINISHED', 'FAILED'], 'filter.runTypes': 'TRACKED' },
  });

  expect(added.answer.status).toBe(303);
  const id = added.location?.split('/').at(-1) ?? '';
  expect(await all.installation.webhooks.find(id)).toMatchObject({
    ...{ endpoint: 'https://other.example.com/x', secret: 'correct horse', enabled: false },
    headers: { authorization: 'Bearer 5f1d', 'x-team': 'infra' },
    filter: { states: ['FINISHED', 'FAILED'], runTypes: ['TRACKED'] },
  });
  const { text } = await all.visit(added.location ?? '');
  expect(text).toContain('changes to FINISHED, FAILED of TRACKED runs');
  expect(text).toContain('authorization: ***');
  expect(text).not.toContain('5f1d');
});

test('the secret of a webhook is made when none is given', async () => {
  await using all = await opened('admin');

  const fields = { endpoint: 'https://other.example.com/x', secret: '', enabled: 'yes' };
  const { location } = await all.submit(integrations, fields);

  const { secret, enabled, filter } =
    (await all.installation.webhooks.find(location?.split('/').at(-1) ?? '')) ?? {};
  expect([secret, enabled, filter]).toMatchObject([/^.{30,}$/, true, { states: null, runTypes: null }]);
  expect((await all.visit(location ?? '')).text).toContain(`>${secret}</pre>`);
});

test.each([
  ['an endpoint that is there already', { endpoint }, 409, 'endpoint'],
  ['an endpoint that is no URL', { endpoint: 'not a url' }, 422, 'endpoint'],
  ['an address of the server', { endpoint: 'http://127.0.0.1/"><script>alert(1)</script>' }, 422, 'endpoint'],
  ['a header without a colon', { headers: 'hidden in the dark' }, 422, 'headers'],
  ['a header twice', { headers: 'A: hidden in the dark\nb: 2\na: 3' }, 422, 'headers'],
  ['a header of ours', { headers: 'X-Signature: hidden in the dark' }, 422, 'headers'],
  ['a secret that is too long', { secret: 'hidden in the dark'.repeat(60) }, 422, 'secret'],
])('%s is refused in the form, with what was typed', async (_, change, status, field) => {
  await using all = await opened('admin');
  const given = { endpoint: 'https://new.example.com/', secret: 'hidden in the dark', ...change };

  const { answer, text } = await all.submit(integrations, { ...given, 'filter.states': ['FAILED'] });

  expect(answer.status).toBe(status);
  expect(text).toContain('role="alert"');
  expect(text).toContain(`id="${field}-wrong"`);
  expect(formFields(text, integrations)).toMatchObject({
    ...{ endpoint: [given.endpoint], secret: [''], headers: [''], 'filter.states': ['FAILED'] },
  });
  expect(text).not.toContain('hidden in the dark');
  expect(text).not.toContain('<script>alert');
  expect(await all.installation.webhooks.list(all.stack.key, { after: null, limit: 9 })).toHaveLength(1);
});

test('a reader sees webhooks and their secrets, and no form', async () => {
  await using all = await opened('reader');

  const list = await all.visit(integrations);
  const one = await all.visit(all.page);

  expect(list.text).toContain(endpoint);
  expect(one.text).toContain('the secret of a test');
  for (const { text } of [list, one, await all.visit(`${all.page}/replay`)]) expect(formsOf(text)).toBe(0);
  expect((await all.visit(`${integrations}/new`)).answer.status).toBe(403);
  expect((await all.visit(`${all.page}/edit`)).location).toBe(all.page);
});

test.each<[Role]>([['reader'], ['writer']])('a %s changes nothing', async (role) => {
  await using all = await opened(role);
  const before = await all.now();

  for (const path of [
    integrations,
    ...['edit', 'enabled', 'regenerate', 'end-overlap', 'delete', 'test'].map(
      (verb) => `${all.page}/${verb}`,
    ),
  ]) {
    const { answer } = await all.submit(path, { endpoint: 'https://evil.example.com/', enabled: 'no' });
    expect([path, answer.status]).toEqual([path, 403]);
  }

  expect(await all.now()).toEqual(before);
});

test('an administrator disables, enables, tests and deletes it', async () => {
  await using all = await opened('admin');

  const off = await all.submit(`${all.page}/enabled`, { enabled: 'no', from: 'webhook' });
  expect([off.location, await all.now()]).toMatchObject([all.page, { enabled: false }]);
  expect((await all.visit(all.page)).text).toMatch(/>Enable<span/);
  const on = await all.submit(`${all.page}/enabled`, { enabled: 'yes' });
  expect([on.location, await all.now()]).toMatchObject([integrations, { enabled: true }]);

  const tested = await all.submit(`${all.page}/test`);
  expect([tested.answer.status, tested.text.includes('The receiver took it: 204.')]).toEqual([200, true]);
  expect(tested.text).toContain('x-slipway-test: true');

  const deleted = await all.submit(`${all.page}/delete`);
  expect([deleted.answer.status, deleted.location, await all.now()]).toEqual([303, integrations, null]);
});

test('what can be changed at once is shown, changed and kept', async () => {
  await using all = await opened('admin');
  const { webhooks } = all.installation;
  await webhooks.update(all.webhook.id, { headers: { 'x-a': '1', 'x-b': '2', 'x-c': '3' } });
  const edit = `${all.page}/edit`;
  const fields = formFields((await all.visit(edit)).text, edit);
  expect(fields).toMatchObject({ endpoint: [endpoint], enabled: ['yes'], headers: [''] });

  const saved = await all.submit(edit, {
    ...{ ...fields, removedHeaders: ['x-a'], headers: 'x-b: new', 'filter.states': ['FAILED'] },
    ...{ endpoint: 'https://moved.example.com/', enabled: [] },
  });

  expect(saved.location).toBe(all.page);
  expect(await all.now()).toMatchObject({
    ...{ endpoint: 'https://moved.example.com/', enabled: false, secret: 'the secret of a test' },
    ...{ headers: { 'x-b': 'new', 'x-c': '3' }, filter: { states: ['FAILED'], runTypes: null } },
  });
  const again = formFields((await all.visit(edit)).text, edit);
  expect([again['filter.states'], again['enabled']]).toEqual([['FAILED'], undefined]);
  await all.submit(edit, { ...again, 'filter.states': [] });
  expect(await all.now()).toMatchObject({ filter: { states: null, runTypes: null } });
});

test('a change that is refused is shown again', async () => {
  await using all = await opened('admin');
  const edit = `${all.page}/edit`;

  const { answer, text } = await all.submit(edit, {
    ...{ endpoint: 'http://169.254.169.254/', headers: 'a: hidden in the dark', 'filter.runTypes': 'TASK' },
  });

  expect(answer.status).toBe(422);
  expect(text).toContain('id="endpoint-wrong"');
  expect(text).not.toContain('hidden in the dark');
  expect(formFields(text, edit)).toMatchObject({
    ...{ endpoint: ['http://169.254.169.254/'], 'filter.runTypes': ['TASK'] },
  });
});

test('a secret is replaced, by one of three kinds, and the old one ends when it should', async () => {
  await using all = await opened('admin');
  const regenerate = `${all.page}/regenerate`;
  const fields = formFields((await all.visit(all.page)).text, regenerate);
  expect(fields).toMatchObject({ kind: ['random'], overlapHours: ['24'] });

  await all.submit(regenerate, fields);
  const random = await all.now();
  expect(random?.secret).not.toBe('the secret of a test');
  expect(random?.oldSecrets).toMatchObject([{ secret: 'the secret of a test' }]);
  const shown = (await all.visit(all.page)).text;
  expect(shown).toContain('Stop using old secrets now');
  expect(shown).not.toContain('the secret of a test');

  await all.submit(`${all.page}/end-overlap`);
  expect((await all.now())?.oldSecrets).toEqual([]);
  await all.submit(regenerate, { kind: 'given', secret: 'correct horse', overlapHours: '0' });
  expect(await all.now()).toMatchObject({ secret: 'correct horse', oldSecrets: [] });
  await all.submit(regenerate, { kind: 'none', overlapHours: '1' });
  expect(await all.now()).toMatchObject({ secret: null, oldSecrets: [{ secret: 'correct horse' }] });
});

test.each([
  [
    'an overlap that is too long',
    { kind: 'given', secret: 'typed in the dark', overlapHours: '169' },
    'overlapHours',
  ],
  ['an overlap that is no number', { kind: 'random', overlapHours: 'soon' }, 'overlapHours'],
  ['no text', { kind: 'given', secret: '', overlapHours: '1' }, 'secret'],
])('a new secret with %s is refused in the form', async (_, fields, field) => {
  await using all = await opened('admin');

  const { answer, text } = await all.submit(`${all.page}/regenerate`, fields);

  expect(answer.status).toBe(422);
  expect(text).toContain(`id="${field}-wrong"`);
  expect(text).not.toContain('typed in the dark');
  const shown = formFields(text, `${all.page}/regenerate`);
  expect(shown).toMatchObject({ kind: [fields.kind], overlapHours: [fields.overlapHours], secret: [''] });
  expect(await all.now()).toMatchObject({ secret: 'the secret of a test' });
});

test('how it fares is said in words: the last result, what fails, the pause, what was missed', async () => {
  await using all = await opened('admin');
  const { database, deliveryStore } = all.installation;
  await all.installation.addRun(all.stack);
  expect((await all.visit(integrations)).text).toContain('nothing was sent yet');
  await attempted(all.installation, all.webhook.id);
  await database.write((tx) =>
    deliveryStore.saveHealth(tx, all.webhook.id, someHealth({ pausedUntilMs: 1_999_000_000_000 })),
  );

  const list = await all.visit(integrations);
  const one = await all.visit(all.page);

  expect(list.text).toContain('401 in 12 ms, <time');
  expect(list.text).toContain('failing</span>: status 500');
  expect(one.text).toMatch(
    /12 attempts in a row failed, 1 delivery given up, the first <time[^>]*>[^<]*<\/time>. The last error was status 500\./,
  );
  expect(one.text).toMatch(
    /It is paused, as the receiver asked for by <code>Retry-After<\/code>, and goes on <time[^>]*>in [\d,]+ days/,
  );
  expect(one.text).toMatch(/2 state changes did not get there meanwhile\. <a href="[^"]*\/replay">/);
});

test('under the address of another stack it leads to its own', async () => {
  await using all = await opened('reader');
  await all.installation.addStack('Other');
  const elsewhere = all.page.replace('network-prod', 'other');

  for (const path of ['', '/edit', '/replay', '/deliveries/01JD4Z0P6V3Q8N5T2W7X9Y1B4C']) {
    expect((await all.visit(`${elsewhere}${path}`)).location).toBe(`${all.page}${path}`);
  }
  all.installation.roles.clear();
  expect((await all.visit(elsewhere)).answer.status).toBe(404);
});
