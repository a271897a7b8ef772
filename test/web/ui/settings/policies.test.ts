import { expect, test } from 'vitest';
import { hostile, openPolicies, plain } from '../policies/policies-world.ts';
import { formFields, formsOf } from './settings-world.ts';

const path = '/stacks/acme/network-prod/settings/policies';

/** Those that the stack is judged by, with why. */
const attached = async ({ installation, stack }: Awaited<ReturnType<typeof openPolicies>>) =>
  (await installation.policies.web.policies.ofStack(stack)).map(({ policy, by }) => `${policy.name} ${by}`);

test('an administrator of the stack attaches a policy of its account, and detaches it', async () => {
  await using all = await openPolicies('admin');
  const { id } = await all.addPolicy({ name: hostile });
  const empty = await all.visit(path);
  expect(plain(empty.text)).toContain('nothing is denied, and nobody has to approve anything');
  expect(empty.text).toContain(`<option value="${id}"`);

  const put = await all.submit(path, { policy: id });
  const shown = (await all.visit(path)).text;

  expect([put.answer.status, put.location]).toEqual([303, path]);
  expect(await attached(all)).toEqual([`${hostile} attachment`]);
  expect(shown).toContain(`href="/policies/${id}"`);
  expect(shown).not.toContain('<script>alert');
  expect(shown).not.toContain(`<option value="${id}"`);
  expect(formFields(shown, `${path}/detach`)).toMatchObject({ policy: [id] });

  const gone = await all.submit(`${path}/detach`, { policy: id });
  expect([gone.answer.status, gone.location]).toEqual([303, path]);
  expect(await attached(all)).toEqual([]);
});

test('one that judges by a label is shown with the label, and cannot be detached', async () => {
  await using all = await openPolicies('admin');
  const { id } = await all.addPolicy({ labels: ['autoattach:*', 'team:storage'] });

  const { text } = await all.visit(path);
  const refused = await all.submit(`${path}/detach`, { policy: id });

  expect(plain(text)).toContain('by its label autoattach:*');
  expect(text).not.toContain(`${path}/detach`);
  expect(refused.answer.status).toBe(409);
  expect(plain(refused.text)).toContain('judges the stack because of a label');
});

test.each(['reader', 'writer'] as const)('a %s sees what judges the stack, and no form', async (role) => {
  await using all = await openPolicies(role);
  const { id } = await all.addPolicy();
  await all.attach(id);

  const { answer, text } = await all.visit(path);

  expect(answer.status).toBe(200);
  expect(text).toContain('buckets stay');
  expect(formsOf(text)).toBe(0);
  expect((await all.submit(`${path}/detach`, { policy: id })).answer.status).toBe(403);
  expect((await all.submit(path, { policy: id })).answer.status).toBe(403);
  expect(await attached(all)).toEqual(['buckets stay attachment']);
});

test('a policy of another account is none', async () => {
  await using all = await openPolicies('admin');
  await all.installation.addStack('Elsewhere', 'globex/infra');
  const { id } = await all.addPolicy({ account: 'globex', name: 'theirs' });

  expect((await all.visit(path)).text).not.toContain('theirs');
  expect((await all.submit(path, { policy: id })).answer.status).toBe(404);
});
