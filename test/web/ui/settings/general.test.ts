import { expect, test } from 'vitest';
import { stackSettings } from '../../../support/builders.ts';
import { untilUnconfirmed } from '../../installation.ts';
import { formFields, formsOf, hostile, openSettings, settings } from './settings-world.ts';

/** As the form would send it, with another name. */
const renamed = {
  ...{ name: 'Other', branch: 'main', planBinding: 'yes', checks: 'each' },
  ...{ 'deploymentEnvironment.kind': 'default', deploymentEnvironment: '' },
  ...{ vendorName: 'pulumi', 'vendor.pulumi.loginUrl': 'file:///state', 'vendor.pulumi.stackName': 'dev' },
};

test('the form shows what is stored, and saves what is changed', async () => {
  await using all = await openSettings('admin');
  const { text } = await all.visit(settings);
  const fields = formFields(text, settings);
  expect(fields).toMatchObject({
    ...{ name: ['Network Prod'], branch: ['main'], planBinding: ['yes'], checks: ['each'] },
    ...{ 'deploymentEnvironment.kind': ['default'], 'vendor.pulumi.loginUrl': ['file:///state'] },
    vendorName: ['pulumi'],
  });
  const before = await all.storedStack();

  const saved = await all.submit(settings, {
    ...fields,
    ...{ name: 'Network', description: 'one\r\ntwo', labels: 'prod\r\n\r\n network ', branch: 'trunk' },
    ...{ projectRoot: 'network/', additionalProjectGlobs: 'modules/**', trustedBots: 'renovate[bot]' },
    ...{ autodeploy: 'yes', planBinding: [], promotion: 'yes', allowForks: 'yes', publicDetails: 'yes' },
    ...{ checks: 'aggregate', unaffectedChecks: 'yes', 'deploymentEnvironment.kind': 'named' },
    ...{ deploymentEnvironment: 'production', 'vendor.pulumi.stackName': 'acme/network/prod' },
  });

  expect([saved.answer.status, saved.location]).toEqual([303, settings]);
  expect(await all.storedStack()).toEqual({
    ...before,
    ...{ name: 'Network', description: 'one\ntwo', labels: ['prod', 'network'], branch: 'trunk' },
    ...{ projectRoot: 'network', additionalProjectGlobs: ['modules/**'], trustedBots: ['renovate[bot]'] },
    ...{ autodeploy: true, planBinding: false, promotion: true, allowForks: true, publicDetails: true },
    ...{ checks: 'aggregate', unaffectedChecks: true, deploymentEnvironment: 'production' },
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'acme/network/prod' } },
  });
});

test('a form that is sent as it was shown changes nothing, whatever is stored', async () => {
  await using all = await openSettings('admin');
  const odd = stackSettings({
    ...{ name: hostile, description: '\n\n  indented\n', labels: [hostile, 'b'] },
    ...{ deploymentEnvironment: '', hooks: { ...stackSettings().hooks, beforeInit: ['a\r\nb'] } },
  });
  await all.installation.database.write((tx) =>
    all.installation.stackStore.updateSettings(tx, all.stack.key, odd),
  );

  const { text } = await all.visit(settings);
  const saved = await all.submit(settings, formFields(text, settings));

  expect(saved.answer.status).toBe(303);
  expect(await all.storedStack()).toEqual(odd);
});

test.each([
  ['none', '', ''],
  ['default', 'typed', null],
  ['named', ' production ', 'production'],
])('the environment of deployments can be %s', async (kind, typed, stored) => {
  await using all = await openSettings('admin');
  const fields = formFields((await all.visit(settings)).text, settings);

  await all.submit(settings, {
    ...fields,
    ...{ 'deploymentEnvironment.kind': kind, deploymentEnvironment: typed },
  });

  expect(await all.storedStack()).toMatchObject({ deploymentEnvironment: stored });
});

test('what is wrong stands beside its field, with what was typed', async () => {
  await using all = await openSettings('admin');
  const before = await all.storedStack();
  const fields = formFields((await all.visit(settings)).text, settings);

  const { answer, text } = await all.submit(settings, {
    ...fields,
    ...{ branch: 'no branch', labels: `fine\n${'x'.repeat(101)}`, description: hostile, autodeploy: 'yes' },
  });

  expect(answer.status).toBe(422);
  expect(text).toContain('role="alert"');
  expect(text).toMatch(/id="branch"[^>]* aria-invalid="true" aria-describedby="branch-wrong branch-help"/);
  expect(text).toContain('<p class="wrong" id="branch-wrong">not a branch name</p>');
  expect(text).toMatch(/id="labels-wrong">entry 2: /);
  expect(text).not.toContain('<script>alert');
  expect(formFields(text, settings)).toMatchObject({
    ...{ branch: ['no branch'], description: [hostile], autodeploy: ['yes'] },
  });
  expect(await all.storedStack()).toEqual(before);
});

test('a stack gets another tool, and is saved as it is afterwards', async () => {
  await using all = await openSettings('admin');
  const fields = formFields((await all.visit(settings)).text, settings);
  await all.submit(settings, {
    ...{ ...fields, vendorName: 'terraform' },
    ...{ 'vendor.terraform.variableFile': 'prod.tfvars', 'vendor.terraform.workspace': ' ' },
  });
  const changed = await all.storedStack();

  const { text } = await all.visit(settings);
  const again = await all.submit(settings, formFields(text, settings));

  expect(changed?.vendor).toEqual({ terraform: { variableFile: 'prod.tfvars' } });
  expect(formFields(text, settings)).toMatchObject({
    ...{ vendorName: ['terraform'], 'vendor.terraform.variableFile': ['prod.tfvars'] },
    ...{ 'vendor.terraform.workspace': [''], 'vendor.pulumi.loginUrl': [''] },
  });
  expect(again.answer.status).toBe(303);
  expect(await all.storedStack()).toEqual(changed);
});

test('another tool is refused while a variable stands against it', async () => {
  await using all = await openSettings('admin');
  const { database, stackStore } = all.installation;
  const variable = { name: 'TF_WORKSPACE', value: 'x', secret: false, access: 'all' } as const;
  await database.write((tx) => stackStore.putVariable(tx, all.stack.key, variable));
  const fields = formFields((await all.visit(settings)).text, settings);

  const { answer, text } = await all.submit(settings, { ...fields, vendorName: 'terraform' });

  expect(answer.status).toBe(422);
  expect(text).toContain('the variable TF_WORKSPACE of the stack stands against it');
  expect((await all.storedStack())?.vendor).toEqual({
    pulumi: { loginUrl: 'file:///state', stackName: 'dev' },
  });
});

test('the vendor judges its own fields', async () => {
  await using all = await openSettings('admin');
  const fields = formFields((await all.visit(settings)).text, settings);

  const { answer, text } = await all.submit(settings, {
    ...fields,
    'vendor.pulumi.loginUrl': 'file:///etc',
  });

  expect(answer.status).toBe(422);
  expect(text).toContain('id="vendor.pulumi.loginUrl-wrong"');
  expect(text).toContain('value="file:///etc"');
});

test('a stack of the repository file is shown, and leads to the file', async () => {
  await using all = await openSettings('admin');
  const { database, stackStore } = all.installation;
  await database.write((tx) => stackStore.setManagedBy(tx, all.stack.key, 'file'));

  for (const path of [settings, `${settings}/hooks`]) {
    const { text } = await all.visit(path);
    expect(text).toContain('href="https://github.example/acme/infra/blob/HEAD/.github/slipway.yml"');
    expect(text).toContain('managed-by-file');
    expect(formsOf(text)).toBe(0);
  }
  const refused = await all.submit(settings, renamed);
  expect(refused.answer.status).toBe(409);
});

test.each(['reader', 'writer'] as const)('a %s sees the settings, without a form', async (role) => {
  await using all = await openSettings(role);
  await all.installation.stacks.update(all.stack, {
    ...{ description: hostile, hooks: { beforeInit: [hostile] }, labels: [hostile] },
  });

  for (const path of ['', '/hooks', '/environment', '/integrations']) {
    const { answer, text } = await all.visit(`${settings}${path}`);
    expect([path, answer.status, formsOf(text)]).toEqual([path, 200, 0]);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img src=x');
    if (path === '' || path === '/hooks') expect(text).toContain('&lt;script&gt;');
  }
});

test.each(['reader', 'writer'] as const)('a %s changes none of them', async (role) => {
  await using all = await openSettings(role);
  const before = await all.storedStack();

  for (const [path, fields] of [
    [settings, renamed],
    [`${settings}/hooks`, { 'hooks.beforeInit': 'curl evil' }],
    [`${settings}/environment`, { name: 'A', value: 'b' }],
    [`${settings}/environment/remove`, { name: 'A' }],
    [`${settings}/delete`, { confirmation: 'Network Prod' }],
  ] as const) {
    expect([path, (await all.submit(path, fields)).answer.status]).toEqual([path, 403]);
  }

  expect(await all.storedStack()).toEqual(before);
});

test('outsiders find nothing', async () => {
  await using all = await openSettings(null);

  for (const path of ['', '/hooks', '/environment', '/integrations', '/integrations/new']) {
    expect([path, (await all.visit(`${settings}${path}`)).answer.status]).toEqual([path, 404]);
    const posted = await all.submit(`${settings}${path.replace('/new', '')}`, { name: 'A', value: 'bbbb' });
    expect([path, posted.answer.status]).toEqual([path, 404]);
  }
});

test('a stack is deleted by who types its name', async () => {
  await using all = await openSettings('admin');

  const wrong = await all.submit(`${settings}/delete`, { confirmation: hostile });
  expect([wrong.answer.status, await all.storedStack()]).toEqual([422, expect.anything()]);
  expect(wrong.text).toContain('<details open>');
  expect(wrong.text).toContain('not the name of the stack');
  expect(wrong.text).not.toContain('<script>alert');
  const right = await all.submit(`${settings}/delete`, { confirmation: 'Network Prod' });

  expect([right.answer.status, right.location]).toEqual([303, '/']);
  expect(await all.storedStack()).toBeUndefined();
});

test('a stack with a run under way is not deleted, and the page says why', async () => {
  await using all = await openSettings('admin');
  const run = await all.installation.addRun(all.stack);
  await all.installation.move(run, ...untilUnconfirmed);

  const { answer, text } = await all.submit(`${settings}/delete`, { confirmation: 'Network Prod' });

  expect(answer.status).toBe(409);
  expect(text).toContain(run.id);
  expect(await all.storedStack()).toBeDefined();
});
