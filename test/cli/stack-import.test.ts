import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRepositoryFile } from '../../src/without-server.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const project = 'name: network\nruntime: nodejs\nbackend: { url: "s3://acme-state" }\n';
const salted =
  'encryptionsalt: v1:abc\nconfig:\n  network:token: { secure: v1:hidden }\n  network:size: "12"\n';
const files = {
  'infra/network/Pulumi.yaml': project,
  'infra/network/Pulumi.prod.yaml': salted,
  'infra/network/Pulumi.dev.yaml': salted,
  'infra/network/package-lock.json': '{}',
};

/** A clone whose origin is on GitHub; nothing was ever fetched. */
function aClone(
  remote: string | null = 'git@github.com:acme/infra.git',
  content: Record<string, string> = files,
) {
  const directory = tempDirectory();
  const git = (...args: string[]) => execFileSync('git', ['-C', directory.path, ...args]);
  git('init', '--quiet');
  if (remote !== null) git('remote', 'add', 'origin', remote);
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  return directory;
}

async function slipway(directory: string, ...args: readonly string[]) {
  await using installation = anInstallation();
  const { run } = aCommandLine(installation);
  const environment = { PATH: process.env['PATH'] ?? '' };
  return run(['stack', 'import', directory, ...args], { environment });
}

const projectIn = ({ path }: { readonly path: string }) => join(path, 'infra/network');

describe('slipway stack import', () => {
  it('makes a stack of each stack of the project, and names what their runs will need', async () => {
    await using installation = anInstallation();
    using clone = aClone();
    const { run } = aCommandLine(installation);
    const environment = { PATH: process.env['PATH'] ?? '' };

    const made = await run(['stack', 'import', projectIn(clone)], { environment });
    const shown = (await run(['stack', 'show', 'acme/network-prod', '--json'], { environment })).json();
    const again = await run(['stack', 'import', projectIn(clone), '--json'], { environment });

    expect([made.exitCode, made.out]).toEqual([0, 'Created acme/network-dev.\nCreated acme/network-prod.\n']);
    for (const name of [
      'AWS_ACCESS_KEY_ID, for the state backend',
      'PULUMI_CONFIG_PASSPHRASE, for the encryption',
    ]) {
      expect(made.err).toContain(`slipway stack env set <stack> ${name}`);
    }
    expect(shown).toMatchObject({
      ...{ repository: 'acme/infra', projectRoot: 'infra/network', branch: 'main' },
      vendor: { pulumi: { loginUrl: 's3://acme-state', stackName: 'prod' } },
      hooks: { beforeInit: ['npm ci'] },
    });
    expect(again.exitCode).toBe(5);
    expect(again.json()).toMatchObject({ created: [], existing: ['network-dev', 'network-prod'] });
  });

  it('tells what it would make, without a server, and never a value of the configuration', async () => {
    using clone = aClone();

    const told = await slipway(projectIn(clone), '--dry-run');
    const json = await slipway(projectIn(clone), '--dry-run', '--json', '--stack-name', 'acme/network/prod');

    expect(told.out).toMatch(/repository +acme\/infra\nroot +infra\/network\n/);
    expect(told.out).toMatch(/^network-prod +pulumi +loginUrl=s3:\/\/acme-state stackName=prod$/m);
    expect(json.json().stacks).toEqual([
      {
        ...{ name: 'network-prod', repository: 'acme/infra', projectRoot: 'infra/network' },
        vendor: { pulumi: { loginUrl: 's3://acme-state', stackName: 'acme/network/prod' } },
        hooks: { beforeInit: ['npm ci'] },
      },
    ]);
    expect(json.json().variables.map(({ name }: { name: string }) => name)).toContain(
      'PULUMI_CONFIG_PASSPHRASE',
    );
    expect(told.out + told.err + json.out + json.err).not.toMatch(/hidden|v1:|"12"/);
  });

  it('prints a repository file that the server accepts', async () => {
    using clone = aClone();

    const { exitCode, out } = await slipway(projectIn(clone), '--yaml');

    expect(exitCode).toBe(0);
    expect(out).toContain('project_root: infra/network');
    expect(checkRepositoryFile(Buffer.from(out))).toEqual({
      stacks: ['network-dev', 'network-prod'],
      problems: [],
    });
  });

  it('finds a project in the root, its stack files in another folder, and takes what it is told', async () => {
    const yaml = 'name: dns\nruntime: { name: python }\nstackConfigDir: stacks\n';
    using clone = aClone(null, { 'Pulumi.yml': yaml, 'stacks/Pulumi.eu.west.yaml': '' });
    const flags = ['--repository', 'acme/dns', '--login-url', 'file:///state', '--dry-run', '--json'];

    const { stacks, variables } = (await slipway(clone.path, ...flags)).json();

    expect(stacks).toEqual([
      {
        ...{ name: 'dns-eu.west', repository: 'acme/dns', projectRoot: '' },
        vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'eu.west' } },
      },
    ]);
    expect(variables).toEqual([
      { name: 'PULUMI_CONFIG_PASSPHRASE', why: expect.stringContaining('encryption') },
    ]);
  });

  it('makes a stack of a folder with a program of Terraform, or one for each workspace', async () => {
    using clone = aClone(undefined, {
      'infra/network/main.tf': '# backend "gcs" {}\nterraform {\n  backend "s3" {}\n}\n',
    });

    const one = (await slipway(projectIn(clone), '--dry-run', '--json')).json();
    const workspaces = ['--workspace', 'test', '--workspace', 'prod'];
    const yaml = await slipway(projectIn(clone), '--yaml', ...workspaces);

    const place = { repository: 'acme/infra', projectRoot: 'infra/network' };
    expect(one.stacks).toEqual([{ name: 'network', ...place, vendor: { terraform: {} } }]);
    expect(one.variables.map(({ name }: { name: string }) => name)).toContain('AWS_ACCESS_KEY_ID');
    expect(yaml.out).toContain('      terraform:\n        workspace: test\n');
    expect(checkRepositoryFile(Buffer.from(yaml.out))).toEqual({
      stacks: ['network-test', 'network-prod'],
      problems: [],
    });
  });

  it.each([
    ['a cloud block', { 'main.tf': 'terraform {\n  cloud {\n  }\n}' }, 'terraform'],
    ['JSON', { 'a.tf.json': '{"terraform":[{"backend":{"pg":{}}}]}' }, 'terraform'],
    ['one line', { 'main.tofu': 'terraform { backend "http" {} }', 'other.tf': '' }, 'opentofu'],
  ])('sees where the state is: %s', async (_, content, tool) => {
    using clone = aClone(undefined, content as Record<string, string>);

    const { stacks } = (await slipway(clone.path, '--dry-run', '--json')).json();

    expect(stacks).toEqual([
      { name: 'infra', repository: 'acme/infra', projectRoot: '', vendor: { [tool]: {} } },
    ]);
  });

  it.each([
    ['none', 'resource "terraform_data" "a" {}'],
    ['that of a comment', '// terraform { backend "s3" {} }'],
    ['one beside the program', 'terraform { backend "local" {} }'],
  ])('asks where the state shall be when the program has no backend: %s', async (_, program) => {
    using clone = aClone(undefined, { 'infra/network/main.tf': program });

    const refused = await slipway(projectIn(clone), '--dry-run');
    const kept = await slipway(projectIn(clone), '--dry-run', '--json', '--state-url', 'file:///state');

    expect([refused.exitCode, refused.err]).toEqual([
      1,
      expect.stringContaining('--state-url file:///state/<name>'),
    ]);
    expect(kept.json()).toMatchObject({
      stacks: [{ vendor: { terraform: { stateUrl: 'file:///state' } } }],
      variables: [],
    });
    const pulumis = await slipway(projectIn(clone), '--dry-run', '--stack-name', 'dev');
    expect([pulumis.exitCode, pulumis.err]).toEqual([1, expect.stringContaining('--workspace')]);
  });

  it.each([
    'https://github.com/acme/infra',
    'https://github.com/acme/infra.git/',
    'https://ada:secret@github.com/acme/infra.git',
    'ssh://git@github.com/acme/infra.git',
    'ssh://git@ssh.github.com:443/acme/infra.git',
    'git@GitHub.com:acme/infra',
  ])('reads the remote %s', async (remote) => {
    using clone = aClone(remote);

    const { stacks } = (await slipway(projectIn(clone), '--dry-run', '--json')).json();

    expect(stacks[0].repository).toBe('acme/infra');
  });

  it.each<[string, Parameters<typeof aClone>, readonly string[], string, string]>([
    [
      'no project',
      ['git@github.com:acme/infra.git', { 'infra/network/README.md': '' }],
      [],
      'no Pulumi.yaml',
      'folder',
    ],
    ['no such folder', [null, {}], [], 'cannot be read (ENOENT)', ''],
    ['YAML that is none', [null, { 'infra/network/Pulumi.yaml': 'name: [' }], [], 'Pulumi.yaml: ', ''],
    ['a project without a runtime', [null, { 'infra/network/Pulumi.yaml': 'name: a' }], [], 'runtime: ', ''],
    [
      'a stack file that is none',
      [null, { ...files, 'infra/network/Pulumi.dev.yaml': '[1' }],
      [],
      'Pulumi.dev.yaml: ',
      '',
    ],
    ['no remote', [null], [], 'has no remote origin', '--repository'],
    ['a remote of that name', ['https://github.com/a/b'], ['--remote', 'up'], 'has no remote up', '--remote'],
    [
      'a remote elsewhere',
      ['https://ada:secret@gitlab.com/acme/infra.git'],
      [],
      'leads to gitlab.com, not',
      'GHE_HOST',
    ],
    ['a remote on the disk', ['/srv/git/infra.git'], [], 'leads to no host', 'GHE_HOST'],
    ['a remote that is no repository', ['https://github.com/acme'], [], 'not the address', '--repository'],
    [
      'no backend',
      [undefined, { 'infra/network/Pulumi.yaml': 'name: a\nruntime: go\n' }],
      [],
      'does not say where its state is',
      '--login-url',
    ],
    [
      'no stack',
      [undefined, { 'infra/network/Pulumi.yaml': project }],
      [],
      'no stack with a file',
      '--stack-name',
    ],
    [
      'state on the own disk',
      [undefined],
      ['--login-url', 'file:///home/ada'],
      'login URL is not allowed',
      'file:///state',
    ],
  ])('says what is wrong: %s', async (_, clone, flags, message, hint) => {
    using directory = aClone(...clone);

    const { exitCode, out, err } = await slipway(projectIn(directory), '--dry-run', ...flags);

    expect([exitCode, out]).toEqual([1, '']);
    expect(err.split('\n')[0]).toContain(message);
    expect(err).toContain(hint);
    expect(err).not.toContain('secret');
  });

  it('says that a folder is in no repository', async () => {
    using directory = tempDirectory();
    writeFileSync(join(directory.path, 'Pulumi.yaml'), project);

    const { exitCode, err } = await slipway(directory.path);

    expect([exitCode, err]).toEqual([1, expect.stringContaining('is not in a git repository')]);
  });
});
