import { expect, test } from 'vitest';
import type { Role } from '../../../../src/access/actor.ts';
import { fieldValues } from '../../../../src/web/ui/draft.ts';
import { rangeIn } from '../../../../src/web/ui/pages/settings/replay-range.ts';
import { endpoint, formFields, formsOf, openSettings, settings } from './settings-world.ts';

const since = '2020-01-01T00:00';

/** A webhook of a stack with a run: QUEUED, READY. */
async function opened(role: Role) {
  const all = await openSettings(role);
  const webhook = await all.installation.webhooks.create(all.stack.key, { endpoint });
  await all.installation.addRun(all.stack);
  const page = `${settings}/integrations/${webhook.id}/replay`;
  const replays = () => all.installation.replays.list(webhook.id, { before: null, limit: 9 });
  return { ...all, webhook, page, replays, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test('what is sent again is counted, confirmed, shown and canceled', async () => {
  await using all = await opened('writer');
  expect(formFields((await all.visit(all.page)).text, all.page)).toMatchObject({ failedOnly: ['yes'] });

  const counted = await all.submit(all.page, { since, until: '', state: '', failedOnly: '' });
  expect(counted.answer.status).toBe(200);
  expect(counted.text).toContain('2 deliveries will be sent');
  expect(counted.text).toContain('QUEUED: 1, READY: 1');
  expect(await all.replays()).toEqual([]);

  const begun = await all.submit(all.page, formFields(counted.text, all.page));
  expect([begun.answer.status, begun.location]).toEqual([303, all.page]);
  expect(await all.replays()).toMatchObject([{ status: 'running', total: 2, createdBy: 'ada' }]);
  const { text } = await all.visit(all.page);
  expect(text).toContain('running: 0 of 2 queued');
  const cancel = all.page.replace('/replay', '/cancel-replay');
  const canceled = await all.submit(cancel, formFields(text, cancel));

  expect([canceled.location, await all.replays()]).toMatchObject([all.page, [{ status: 'canceled' }]]);
});

test('a state and a time limit it; nothing to send is said', async () => {
  await using all = await opened('writer');

  const one = await all.submit(all.page, { since, state: 'READY' });
  const none = await all.submit(all.page, { since, until: '2020-01-02T00:00:00' });

  expect(one.text).toContain('1 delivery will be sent');
  expect(none.text).toContain('There is nothing to send in that time.');
  expect(none.text).not.toContain('name="confirmed"');
});

test.each([
  ['no beginning', { since: '' }, 422, 'since'],
  ['a beginning that is no time', { since: '<script>alert(1)</script>' }, 422, 'since'],
  ['a day that there is not', { since: '2026-13-45T00:00' }, 422, 'since'],
  ['an end before the beginning', { since, until: '2019-01-01T00:00' }, 422, 'until'],
])('%s is refused in the form', async (_, fields, status, field) => {
  await using all = await opened('writer');

  const { answer, text } = await all.submit(all.page, { ...fields, failedOnly: 'yes' });

  expect(answer.status).toBe(status);
  expect(text).toContain(`id="${field}-wrong"`);
  expect(text).not.toContain('<script>alert');
  expect(formFields(text, all.page)).toMatchObject({ since: [fields.since], failedOnly: ['yes'] });
});

test('a second one beside a running one is refused', async () => {
  await using all = await opened('writer');
  await all.submit(all.page, { since, confirmed: 'yes' });

  const { answer, text } = await all.submit(all.page, { since, confirmed: 'yes' });

  expect([answer.status, text.includes('role="alert"')]).toEqual([409, true]);
});

test('readers see the replays; a disabled webhook takes none', async () => {
  await using all = await opened('writer');
  await all.submit(all.page, { since, confirmed: 'yes' });
  all.installation.roles.set('ada', 'reader');
  const { text } = await all.visit(all.page);
  expect([text.includes('running: 0 of 2'), formsOf(text)]).toEqual([true, 0]);
  expect((await all.submit(all.page, { since, confirmed: 'yes' })).answer.status).toBe(403);

  all.installation.roles.set('ada', 'writer');
  await all.installation.webhooks.update(all.webhook.id, { enabled: false });
  expect((await all.visit(all.page)).text).toContain('The webhook is disabled');
});

test('a time without an end is the time until now', () => {
  const range = rangeIn(fieldValues({ since: '2026-11-22T04:50' }), 1_800_000_000_999);

  expect(range).toEqual({ since: 1_795_323_000, until: 1_800_000_000, failedOnly: false });
});
