import { expect, test } from 'vitest';
import { formsOf } from '../settings/settings-world.ts';
import { hostile, openPolicies, plain } from './policies-world.ts';

test('without policies the page says what they are, and how to make one', async () => {
  await using all = await openPolicies();

  const { text } = await all.visit('/policies');

  expect(plain(text)).toContain('decides what runs');
  expect(plain(text)).toContain('Ready ones to begin with');
  expect(text).toContain('href="/policies/new"');
  expect(text).toMatch(/<a href="\/policies" aria-current="page">/);
});

test('who may not make one is told who does', async () => {
  await using all = await openPolicies('admin');
  await using reader = await openPolicies('reader');
  expect((await all.visit('/policies')).text).toContain('New policy');

  const { text } = await reader.visit('/policies');

  expect(text).not.toContain('/policies/new');
  expect(plain(text)).toContain('Administrators of this server make them');
});

test('policies are listed with what they judge and what they said last', async () => {
  await using all = await openPolicies();
  const attached = await all.addPolicy({ name: `stays ${hostile}`, description: hostile });
  await all.attach(attached.id);
  await all.addDecision(attached.id, { outcome: 'denied' });
  await all.addPolicy({ name: 'everywhere', labels: ['autoattach:*'] });
  await all.addPolicy({ name: 'told', kind: 'NOTIFICATION', body: 'inbox: []' });
  await all.addPolicy({ name: 'let in', kind: 'LOGIN', account: null, body: 'allow: true' });

  const { text } = await all.visit('/policies');
  const rows = text.split('<tr>').map(plain);

  expect(rows.find((row) => row.includes('stays'))).toMatch(/PLAN acme 1 stack 1 .*denied/);
  expect(rows.find((row) => row.includes('everywhere'))).toMatch(/PLAN acme 1 stack, by label 1 none yet/);
  expect(rows.find((row) => row.includes('told'))).toContain('everything that happens in acme');
  expect(rows.find((row) => row.includes('let in'))).toContain('the server every login to this server');
  expect(text).not.toContain('<script>alert');
});

test('they are filtered by kind and account', async () => {
  await using all = await openPolicies();
  await all.addPolicy({ name: 'of plans' });
  await all.addPolicy({ name: 'of pushes', kind: 'PUSH', body: 'track: true' });

  const pushes = plain((await all.visit('/policies?kind=PUSH')).text);
  const elsewhere = (await all.visit('/policies?account=globex')).text;

  expect(pushes).toContain('of pushes');
  expect(pushes).not.toContain('of plans');
  expect(plain(elsewhere)).toContain('No policy fits the filter');
  expect(elsewhere).toContain('href="/policies"');
});

test('a reader sees those that judge their stacks, and no form', async () => {
  await using all = await openPolicies('reader');
  const { id } = await all.addPolicy();
  await all.addPolicy({ name: 'of nobody' });
  await all.attach(id);

  const list = plain((await all.visit('/policies')).text);
  const { answer, text } = await all.visit(`/policies/${id}`);

  expect(list).toContain('buckets stay');
  expect(list).not.toContain('of nobody');
  expect(list).not.toContain('Last decision');
  expect(answer.status).toBe(200);
  expect(text).toContain('the bucket stays');
  expect(formsOf(text)).toBe(0);
  expect(text).not.toContain('/workbench');
  for (const page of ['edit', 'workbench']) {
    expect((await all.visit(`/policies/${id}/${page}`)).answer.status).toBe(403);
  }
  expect((await all.visit('/policies/new')).answer.status).toBe(403);
});

test('for who sees none of its stacks there is no such policy', async () => {
  await using all = await openPolicies('stranger');
  const { id } = await all.addPolicy();
  await all.attach(id);

  for (const page of ['', '/versions', '/edit', '/workbench']) {
    expect((await all.visit(`/policies/${id}${page}`)).answer.status).toBe(404);
  }
  expect((await all.submit(`/policies/${id}/delete`, { confirmation: 'buckets stay' })).answer.status).toBe(
    404,
  );
  expect((await all.submit(`/policies/${id}/edit`, { name: 'mine' })).answer.status).toBe(404);
  expect((await all.submit(`/policies/${id}/workbench`, { act: 'simulate' })).answer.status).toBe(404);
});
