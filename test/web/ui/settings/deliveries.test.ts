import { expect, test } from 'vitest';
import type { Role } from '../../../../src/access/actor.ts';
import { anExchange } from '../../../webhooks/exchanges.ts';
import { attempted } from '../../attempted.ts';
import { endpoint, formFields, formsOf, hostile, openSettings, settings } from './settings-world.ts';

/** A webhook with two deliveries of a run, QUEUED and READY; the first was tried once. */
async function opened(role: Role) {
  const all = await openSettings(role);
  const { installation } = all;
  const webhook = await installation.webhooks.create(all.stack.key, { endpoint, secret: 'correct horse' });
  const run = await installation.addRun(all.stack);
  const response = { headers: { 'x-answer': hostile }, body: hostile, bodyEncoding: 'utf8' } as const;
  const exchange = anExchange({ response: { ...response, bodyTruncated: true, location: null } });
  const claim = await attempted(installation, webhook.id, { exchange });
  const page = `${settings}/integrations/${webhook.id}`;
  const delivery = `${page}/deliveries/${claim.deliveryId}`;
  const close = () => all[Symbol.asyncDispose]();
  return { ...all, webhook, run, claim, page, delivery, [Symbol.asyncDispose]: close };
}

test('deliveries are listed with what came of them, and found by result and state', async () => {
  await using all = await opened('reader');

  const whole = (await all.visit(all.page)).text;
  expect(whole).toContain(`<a href="${all.delivery}">QUEUED@1</a>`);
  expect(whole).toContain('READY@2');
  expect(whole).toContain('failed, 401 in 12 ms');
  expect(whole).toContain(`<a href="/runs/${all.run.id}" class="mono">${all.run.id}</a>`);
  for (const query of ['?status=failed', '?state=QUEUED', '?status=failed&state=QUEUED']) {
    const { text } = await all.visit(`${all.page}${query}`);
    expect([query, text.includes('QUEUED@1'), text.includes('READY@2')]).toEqual([query, true, false]);
    expect(text).toContain('All deliveries');
  }
  expect((await all.visit(`${all.page}?status=skipped`)).text).toContain('There is no such delivery.');
  expect((await all.visit(`${all.page}?status=odd`)).answer.status).toBe(422);
});

test('a long list has pages, which keep the filter', async () => {
  await using all = await opened('reader');
  const { database, deliveryStore } = all.installation;
  await database.write(async (tx) => {
    for (let stateVersion = 3; stateVersion < 55; stateVersion += 1) {
      const id = `01M7Q5CTDR7SH98E1RZN3GV${String(stateVersion).padStart(3, '0')}`;
      const rest = { runId: all.run.id, stateVersion, createdAtMs: 1 };
      await deliveryStore.insert(tx, { id, webhookId: all.webhook.id, ...rest });
    }
  });

  const first = (await all.visit(`${all.page}?status=pending`)).text;
  const [, older = ''] = /<a href="([^"]+)">Older deliveries/.exec(first) ?? [];
  const second = (await all.visit(older.replaceAll('&amp;', '&'))).text;

  const links = (text: string) => text.match(/\/deliveries\/[0-9A-Z]{26}"/g) ?? [];
  expect(older).toContain('status=pending');
  expect([links(first).length, links(second).length]).toEqual([50, 3]);
  expect(new Set([...links(first), ...links(second)]).size).toBe(53);
});

test('an administrator sees what went over the wire, as text', async () => {
  await using all = await opened('admin');

  const { text } = await all.visit(all.delivery);

  for (const words of ['key:1f0c2b3a', '10.0.0.7:443', 'TLSv1.3', '9.4 ms', 'x-token: ***', 'not kept']) {
    expect(text).toContain(words);
  }
  expect(text).toContain('x-answer: &lt;script&gt;');
  expect(text).not.toContain('<script>alert');
  expect(text).not.toContain('<img src=x');
  expect(text).toContain('&quot;state&quot;:&quot;QUEUED&quot;');
  expect(text).toMatch(/aria-label="curl command" data-copy>[^<]*curl [^<]*hooks\.example\.com/);
  expect(formFields(text, `${all.page}/resend`)).toMatchObject({ delivery: [all.claim.deliveryId] });
});

test.each(['reader', 'writer'] as const)(
  'a %s sees what became of it, and nothing of the wire',
  async (role) => {
    await using all = await opened(role);

    const { text } = await all.visit(all.delivery);

    expect(text).toContain('401 in 12 ms');
    expect(text).toContain('&quot;state&quot;:&quot;QUEUED&quot;');
    expect(text).not.toMatch(/10\.0\.0\.7|x-answer|x-token|key:1f0c|curl/);
    // Who writes may resend.
    expect(formsOf(text)).toBe(role === 'writer' ? 1 : 0);
  },
);

test('a delivery is resent by who writes, and comes back to its page', async () => {
  await using all = await opened('writer');

  const resent = await all.submit(`${all.page}/resend`, { delivery: all.claim.deliveryId });

  expect([resent.answer.status, resent.location]).toEqual([303, all.delivery]);
  expect(await all.installation.deliveryStore.find(all.claim.deliveryId)).toMatchObject({
    status: 'pending',
  });
  all.installation.roles.set('ada', 'reader');
  const refused = await all.submit(`${all.page}/resend`, { delivery: all.claim.deliveryId });
  expect(refused.answer.status).toBe(403);
});

test('of a disabled webhook nothing is offered to be resent', async () => {
  await using all = await opened('writer');
  await all.installation.webhooks.update(all.webhook.id, { enabled: false });

  for (const path of [all.page, all.delivery]) expect(formsOf((await all.visit(path)).text)).toBe(0);
});

test('a delivery that was never tried, or of another webhook, is shown where it belongs', async () => {
  await using all = await opened('reader');
  const { webhooks } = all.installation;
  const other = await webhooks.create(all.stack.key, { endpoint: `${endpoint}/2` });
  const [pending] = await all.installation.deliveryStore.listOfWebhook(all.webhook.id, {
    ...{ before: null, limit: 1, status: 'pending' },
  });

  const moved = await all.visit(all.delivery.replace(all.webhook.id, other.id));
  const missing = await all.visit(`${all.page}/deliveries/01JD4Z0P6V3Q8N5T2W7X9Y1B4C`);

  expect([moved.location, missing.answer.status]).toEqual([all.delivery, 404]);
  expect((await all.visit(`${all.page}/deliveries/${pending?.id}`)).text).toContain('None yet.');
});
