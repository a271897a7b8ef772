import { expect, test } from 'vitest';
import { anAccount, aRepository } from '../../support/builders.ts';
import { openBrowser } from './browser.ts';
import { formFields, hostile } from './settings/settings-world.ts';

/** The App is installed on a repository, where ada has that role. */
async function opened(role: 'admin' | 'writer' | null) {
  const all = openBrowser();
  const { database, repositories, roles } = all.installation;
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveRepository(tx, aRepository());
    await repositories.saveRepository(tx, aRepository({ id: 23, fullName: 'acme/old', isArchived: true }));
  });
  if (role) roles.set('ada', role);
  await all.logIn();
  const submit = async (fields: Record<string, string>) =>
    all.post('/stacks/new', { form_token: await all.formToken(), ...fields });
  return { ...all, submit, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const typed = {
  ...{ repository: 'acme/infra', name: 'Network Prod', projectRoot: 'network', branch: '' },
  ...{ vendorName: 'pulumi', 'vendor.pulumi.loginUrl': 's3://acme-state', 'vendor.pulumi.stackName': 'prod' },
};

test('the front page leads to it, and it offers the repositories that somebody administers', async () => {
  await using all = await opened('admin');

  const front = await all.visit('/');
  const { text } = await all.visit('/stacks/new?repository=acme/infra');

  expect(front.text).toContain('href="/stacks/new"');
  expect(text).toContain('<option value="acme/infra">');
  expect(text).not.toContain('acme/old');
  expect(formFields(text, '/stacks/new')).toMatchObject({ repository: ['acme/infra'] });
  for (const words of ['Pulumi', 'Login URL', 'Stack name', 's3://acme-state']) expect(text).toContain(words);
});

test('a stack is made, with defaults for the rest', async () => {
  await using all = await opened('admin');

  const made = await all.submit(typed);

  expect([made.answer.status, made.location]).toEqual([303, '/stacks/acme/network-prod']);
  expect((await all.installation.stackStore.find('acme', 'network-prod'))?.settings).toMatchObject({
    ...{ name: 'Network Prod', projectRoot: 'network', branch: 'main' },
    vendor: { pulumi: { loginUrl: 's3://acme-state', stackName: 'prod' } },
  });
});

test('each tool is asked for its own, what may be left out is left out, and a missing one is said', async () => {
  await using all = await opened('admin');

  const { text } = await all.visit('/stacks/new');
  const made = await all.submit({
    ...{ ...typed, vendorName: 'terraform' },
    ...{ 'vendor.terraform.workspace': ' prod ', 'vendor.terraform.stateUrl': '' },
  });

  expect(formFields(text, '/stacks/new')).toMatchObject({ vendorName: ['pulumi'] });
  expect(text.match(/not installed on this server/g)).toHaveLength(1);
  expect(text).toMatch(/value="opentofu"> <span>OpenTofu <span class="help">not installed/);
  expect(text).toContain('>Workspace (optional)<');
  expect(text).toContain('>Login URL<');
  expect(made.answer.status).toBe(303);
  expect((await all.installation.stackStore.find('acme', 'network-prod'))?.settings.vendor).toEqual({
    terraform: { workspace: 'prod' },
  });
});

test.each([
  ['no tool', { vendorName: '' }, 'exactly one of pulumi, terraform, opentofu'],
  ['a tool of nobody', { vendorName: hostile }, 'exactly one of pulumi, terraform, opentofu'],
  ['a state outside', { vendorName: 'opentofu', 'vendor.opentofu.stateUrl': 'file:///etc' }, 'file:///state'],
])('%s is refused beside the tools', async (_, change, words) => {
  await using all = await opened('admin');

  const { answer, text } = await all.submit({ ...typed, ...change });

  expect(answer.status).toBe(422);
  expect(text).toContain(`role="alert"`);
  expect(/<p class="wrong"[^>]*>(.*?)<\/p>/.exec(text)?.[1]).toContain(words);
  expect(text).not.toContain('<script>alert');
});

test.each([
  ['a name that is taken', {}, 409, null],
  ['no name', { name: ' ' }, 422, 'name'],
  ['a repository without the App', { repository: 'acme/none' }, 422, 'repository'],
  ['a repository of nobody', { repository: hostile }, 422, 'repository'],
  ['a project root outside', { projectRoot: '../..' }, 422, 'projectRoot'],
  ['a branch that is none', { branch: hostile }, 422, 'branch'],
  ['no login URL', { 'vendor.pulumi.loginUrl': '' }, 422, 'vendor.pulumi.loginUrl'],
  ['a login URL on this host', { 'vendor.pulumi.loginUrl': 'file:///etc' }, 422, 'vendor.pulumi.loginUrl'],
  ['no stack name', { 'vendor.pulumi.stackName': '' }, 422, 'vendor.pulumi.stackName'],
] as const)('%s is refused in the form, with what was typed', async (_, change, status, field) => {
  await using all = await opened('admin');
  await all.installation.addStack('Network Prod');
  const given = { ...typed, ...(field === null ? {} : { name: 'Another' }), ...change };

  const { answer, text } = await all.submit(given);

  expect(answer.status).toBe(status);
  expect(text).toContain('role="alert"');
  if (field !== null) expect(text).toContain(`id="${field}-wrong"`);
  expect(text).not.toContain('<script>alert');
  const shown = formFields(text, '/stacks/new');
  for (const [name, value] of Object.entries(given)) expect(shown[name]).toEqual([value]);
});

test.each(['writer', null] as const)('who does not administer (%s) makes none, and is told', async (role) => {
  await using all = await opened(role);

  const shown = await all.visit('/stacks/new');
  const refused = await all.submit(typed);

  expect(shown.text).toContain('no repository that you administer');
  expect(shown.text).not.toContain('<option value="acme/infra">');
  expect(refused.answer.status).toBe(422);
  expect(refused.text).toContain('you do not administer it');
  expect(await all.installation.stackStore.find('acme', 'network-prod')).toBeNull();
});
