import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Commit,
  expectFailure,
  expectServerUnharmed,
  type Failure,
  good,
  push,
} from '../support/bad-input.ts';
import { passphrase, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

/** Settings that do not fit what is in the repository or in the world, and repositories that lead astray. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({ settings: { SANDBOX_NETWORK: 'none' } });
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

interface Case {
  readonly settings?: Record<string, unknown>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly commit?: Commit;
  readonly failure: Failure;
}

const rootAt = (projectRoot: string) => ({ projectRoot, additionalProjectGlobs: ['**'] });
const stackNamed = (stackName: string) => ({ vendor: { pulumi: { loginUrl: 'file:///state', stackName } } });
const stateAt = (loginUrl: string) => ({ vendor: { pulumi: { loginUrl, stackName: 'dev' } } });
const linked = (symlinks: Record<string, string>): Commit => ({ files: { 'a/README.md': 'x\n' }, symlinks });
const stackFile = (text: string): Commit => ({ files: { ...good.files, 'Pulumi.dev.yaml': text } });
const withSecret = (secure: string) => stackFile(`config:\n  scenario:secret:\n    secure: ${secure}\n`);

const preparing = { outcome: 'project_unusable', while: 'PREPARING' } as const;
const initializing = { outcome: 'tool_failed', while: 'INITIALIZING' } as const;
const planning = { outcome: 'tool_failed', while: 'PLANNING' } as const;
const correctRoot = 'Correct projectRoot in the settings of the stack';
const stayInside = 'Commit a link to a place in the same repository';

const cases: Readonly<Record<string, Case>> = {
  'a project root that is not there': {
    settings: rootAt('nowhere'),
    failure: {
      ...preparing,
      says: 'The project root nowhere does not exist in this commit',
      hint: correctRoot,
    },
  },
  'a project root without a project': {
    settings: rootAt('a'),
    commit: linked({}),
    failure: { ...preparing, says: 'The project root a has no Pulumi.yaml', hint: correctRoot },
  },
  'a file for a project root': {
    settings: rootAt('Pulumi.yaml'),
    failure: { ...preparing, says: 'is not a directory', hint: correctRoot },
  },
  'a link out of the repository': {
    settings: rootAt('link'),
    commit: linked({ link: '/etc' }),
    failure: { ...preparing, says: 'a symbolic link that leads out of the repository', hint: stayInside },
  },
  'a link up and out of the repository': {
    settings: rootAt('link'),
    commit: linked({ link: '../..' }),
    failure: { ...preparing, says: 'a symbolic link that leads out of the repository', hint: stayInside },
  },
  'a link out of the repository on the way': {
    settings: rootAt('link/passwd'),
    commit: linked({ link: '/etc' }),
    failure: { ...preparing, says: 'a symbolic link that leads out of the repository', hint: stayInside },
  },
  'a link to itself': {
    settings: rootAt('link'),
    commit: linked({ link: 'link' }),
    failure: { ...preparing, says: 'does not exist in this commit', hint: correctRoot },
  },
  'a project file that is a link to one of the server': {
    commit: linked({ 'Pulumi.yaml': '/etc/passwd' }),
    failure: { ...preparing, says: 'Pulumi.yaml is a symbolic link that leads out', hint: stayInside },
  },
  'a project file that is a directory': {
    commit: { files: { 'Pulumi.yaml/README.md': 'x\n' } },
    failure: { ...preparing, says: 'Pulumi.yaml is not a file', hint: 'Commit the project file itself' },
  },
  'a stack of another project': {
    settings: stackNamed('organization/other/dev'),
    failure: { ...initializing, says: 'The stack name says the project is "other"', hint: 'stackName' },
  },
  'an organization where there is none': {
    settings: stackNamed('acme/dev'),
    failure: { ...initializing, says: 'knows no organizations', hint: 'stackName' },
  },
  'a stack name of four parts': {
    settings: stackNamed('a/b/c/d'),
    failure: { ...initializing, says: 'The name of the Pulumi stack is not valid', hint: 'stackName' },
  },
  'a stack name that pulumi finds too long': {
    settings: stackNamed('a'.repeat(300)),
    failure: { ...initializing, says: 'cannot exceed 100 characters', hint: 'stackName' },
  },
  'a bucket without credentials': {
    settings: stateAt('s3://bucket?region=eu-central-1'),
    failure: { ...initializing, says: 'There are no credentials for s3://bucket', hint: 'AWS_ACCESS_KEY_ID' },
  },
  'a bucket in no region': {
    settings: stateAt('s3://bucket'),
    failure: { ...initializing, says: 'does not say in which region', hint: 'AWS_REGION' },
  },
  'a bucket of Google without credentials': {
    settings: stateAt('gs://bucket'),
    failure: {
      ...initializing,
      says: 'There are no credentials for gs://bucket',
      hint: 'GOOGLE_CREDENTIALS',
    },
  },
  'a container without an account': {
    settings: stateAt('azblob://container'),
    failure: { ...initializing, says: 'There is no storage account', hint: 'AZURE_STORAGE_ACCOUNT' },
  },
  'a service without a token': {
    settings: stateAt('https://pulumi.example.com'),
    failure: { ...initializing, says: 'No access token is set', hint: 'PULUMI_ACCESS_TOKEN' },
  },
  'a service that cannot be reached': {
    settings: stateAt('https://pulumi.example.com'),
    environment: { PULUMI_ACCESS_TOKEN: 'pul-0000000000000000000000000000000000000000' },
    failure: { ...initializing, says: 'cannot be reached from a run', hint: 'SANDBOX_ALLOWED_HOSTS' },
  },
  'a stack file that is no YAML': {
    commit: stackFile('config: [\n'),
    failure: {
      ...initializing,
      says: 'Pulumi.<stack>.yaml is not valid',
      hint: 'Correct the file and push.',
    },
  },
  'a salt that is none': {
    commit: stackFile('encryptionsalt: rubbish\n'),
    failure: { ...initializing, says: 'The encryptionsalt in Pulumi.<stack>.yaml', hint: 'take it out' },
  },
  'a secret that is none': {
    commit: withSecret('rubbish'),
    failure: { ...planning, says: 'cannot be decrypted', hint: 'pulumi config set --secret' },
  },
  'a secret of another stack': {
    commit: withSecret('v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
    failure: { ...planning, says: 'cannot be decrypted', hint: 'pulumi config set --secret' },
  },
  'configuration without a value': {
    commit: { files: { 'Pulumi.yaml': 'name: x\nruntime: yaml\nconfig:\n  size:\n    type: string\n' } },
    failure: { ...planning, says: "no value for the configuration 'size'", hint: 'pulumi config set' },
  },
};

test.each(Object.entries(cases))(
  '%s',
  async (name, { settings = {}, environment = {}, commit = good, failure }) => {
    const added = await scenario.addStack(name.replace(/\W+/g, '-'), settings);
    for (const [variable, value] of Object.entries(environment)) {
      await scenario.api.setVariable(added.stack, variable, { value });
    }
    await expectFailure(scenario, (await push(scenario, added, commit)).id, failure);
  },
);

const pulumi = (change: Record<string, string>) => ({
  vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev', ...change } },
});
const loginUrls = [
  'file:///etc',
  'https://user:hidden@host',
  'postgres://db/x',
  'http://host',
  'ftp://host',
  '',
  'x',
];
const stackNames = ['../dev', '..', 'a b', 'dev\n', '', '-x', 'a'.repeat(303), 'dev;rm', '$(id)'];

test.each<[code: string, path: string, change: Record<string, unknown>]>([
  ...loginUrls.map((loginUrl): [string, string, Record<string, unknown>] => [
    'login-url-not-allowed',
    'vendor.pulumi.loginUrl',
    pulumi({ loginUrl }),
  ]),
  ...stackNames.map((stackName): [string, string, Record<string, unknown>] => [
    'invalid-input',
    'vendor.pulumi.stackName',
    pulumi({ stackName }),
  ]),
  ['invalid-input', 'vendor', { vendor: { ansible: {} } }],
  ['invalid-input', 'projectRoot', { projectRoot: '../other' }],
  ['invalid-input', 'projectRoot', { projectRoot: '/etc' }],
  ['invalid-input', 'name', { name: '' }],
  ['invalid-input', 'branch', { branch: 'a..b' }],
  ['repository-not-installed', '', { repository: 'acme/no-such-repository' }],
])('a stack is refused: %s at %s, %j', async (code, path, change) => {
  const body = { name: 'refused', repository: 'acme/unharmed', ...pulumi({}), ...change };
  const answer = await scenario.api.request('POST', '/api/v1/stacks', body);
  expect(answer).toMatchObject({ status: 422, json: { code, detail: expect.stringMatching(/^.+$/) } });
  if (path !== '')
    expect(answer.json).toMatchObject({
      errors: expect.arrayContaining([expect.objectContaining({ path })]),
    });
  expect(answer.text).not.toMatch(/hidden|\.ts:\d/);
});

test('a link to another place in the repository is followed', async () => {
  const added = await scenario.addStack('link-inside', rootAt('current'));
  const files = { 'infra/prod/Pulumi.yaml': program(stash('one', '1')) };
  const { id } = await push(scenario, added, { files, symlinks: { current: 'infra/prod' } });
  await scenario.api.waitForState(id, 'UNCONFIRMED');
});

/** As `pulumi stack init` writes it, for another passphrase. */
const otherSalt = 'encryptionsalt: v1:ZYzaCNLnuTE=:v1:RXAf0XJtiFBPQ7S1:Bzv4TuS8L0mIsFd9kZSkbqvzqGg2AQ==\n';

test('a wrong passphrase and none say what to set; nothing of the state is lost', async () => {
  const { api } = scenario;
  const added = await scenario.addStack('passphrases', { autodeploy: true });
  const path = `${api.stackPath(added.stack)}/environment/PULUMI_CONFIG_PASSPHRASE`;
  // Without a secret in the state nobody asks for the passphrase.
  const secretive = { files: { 'Pulumi.yaml': program(stash('one', '{fn::secret: hidden}')) } };
  await api.waitForState((await push(scenario, added, secretive)).id, 'FINISHED');

  await api.setVariable(added.stack, 'PULUMI_CONFIG_PASSPHRASE', { value: 'another one' });
  const wrong = { ...initializing, says: 'Wrong passphrase', hint: 'Set PULUMI_CONFIG_PASSPHRASE' };
  const retry = async () => (await api.startRun(added.stack, { type: 'TRACKED' })).id;
  const first = await expectFailure(scenario, await retry(), { ...wrong, while: 'PLANNING' });
  expect(first.note).not.toContain('another one');

  await api.expectSuccess('DELETE', path);
  const none = { ...wrong, says: 'No passphrase is set', while: 'PLANNING' } as const;
  await expectFailure(scenario, await retry(), none);

  await api.setVariable(added.stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase });
  const foreign = await push(scenario, added, { files: { 'Pulumi.dev.yaml': otherSalt } });
  await expectFailure(scenario, foreign.id, { ...wrong, while: 'PLANNING' });

  const repaired = await push(scenario, added, { files: { 'Pulumi.dev.yaml': 'config: {}\n' } });
  expect(await api.waitForState(repaired.id, 'FINISHED')).toMatchObject({ note: 'nothing to change' });
});

test('the server takes no harm', () => expectServerUnharmed(scenario, 'unharmed'));
