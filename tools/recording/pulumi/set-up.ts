import { javascript, type PulumiStory, preview, program, select, stash } from './story.ts';

const noSuchService = 'https://127.0.0.1:1';
const one = stash('one', '"1"');

const secret = (secure: string) => `config:\n  sample:key:\n    secure: ${secure}\n`;

/** Everything that keeps pulumi from getting to work. */
export const setUp: PulumiStory = {
  name: 'set-up',
  stages: [
    { run: 'login', record: 'login-directory-missing', loginUrl: 'file:///state/gone' },
    { run: 'login', record: 'login-unreachable', loginUrl: noSuchService },
    {
      run: 'login',
      record: 'login-token-missing',
      loginUrl: noSuchService,
      environment: { PULUMI_ACCESS_TOKEN: null },
    },
    { run: 'login', record: 'login-token-refused', isTokenRefused: true },
    {
      run: 'login',
      record: 'login-egress-refused',
      loginUrl: 'https://pulumi.example.com',
      isEgressRefused: true,
    },
    {
      run: 'login',
      record: 'login-bucket-credentials',
      loginUrl: 's3://bucket?region=eu-central-1',
      environment: { AWS_EC2_METADATA_DISABLED: 'true' },
    },
    { run: 'login', record: 'login-bucket-region', loginUrl: 's3://bucket' },
    { run: 'login', record: 'login-azure-account', loginUrl: 'azblob://bucket' },
    { run: 'select', record: 'select-project-missing' },
    preview('project-missing'),
    {
      run: 'select',
      record: 'select-passphrase-missing',
      files: program([one]),
      environment: { PULUMI_CONFIG_PASSPHRASE: null },
    },
    { run: 'select', record: 'stack-name-invalid', stackName: 'a/b/c/d' },
    { run: 'select', record: 'stack-name-too-long', stackName: 'a'.repeat(101) },
    { run: 'select', record: 'stack-name-organization', stackName: 'acme/dev' },
    { run: 'select', record: 'stack-file-invalid', files: { 'Pulumi.dev.yaml': 'config: [\n' } },
    {
      run: 'select',
      record: 'stack-salt-invalid',
      files: { 'Pulumi.dev.yaml': 'encryptionsalt: rubbish\n' },
    },
    {
      run: 'select',
      record: 'stack-name-other-project',
      stackName: 'organization/other/dev',
      files: { 'Pulumi.dev.yaml': null },
    },
    { ...preview('stack-missing'), stackName: 'nowhere' },
    select,
    preview('config-secret-invalid', { 'Pulumi.dev.yaml': secret('rubbish') }),
    preview('config-secret-foreign', {
      'Pulumi.dev.yaml': secret('v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
    }),
    preview('pulumi-too-old', {
      'Pulumi.dev.yaml': null,
      'Pulumi.yaml': 'name: sample\nruntime: yaml\nrequiredPulumiVersion: ">=99.0.0"\n',
    }),
    preview('main-missing', { 'Pulumi.yaml': 'name: sample\nruntime: yaml\nmain: gone\n' }),
    preview('host-crashed', { 'Pulumi.yaml': 'name: sample\nruntime: yaml\nmain: ../home\n' }),
    preview('runtime-missing', { 'Pulumi.yaml': 'name: sample\n' }),
    preview('runtime-unknown', { 'Pulumi.yaml': 'name: sample\nruntime: dotnet\n' }),
    preview('project-file-invalid', { 'Pulumi.yaml': 'runtime: yaml\n' }),
    preview('node-modules-missing', { ...javascript(''), node_modules: null }),
    { ...preview('node-missing'), hasBarePath: true },
    preview('python-module-missing', {
      'Pulumi.yaml': 'name: sample\nruntime: python\n',
      '__main__.py': 'import pulumi\n',
    }),
    { ...preview('python-missing'), hasBarePath: true },
    { ...preview('go-missing', { 'Pulumi.yaml': 'name: sample\nruntime: go\n' }), hasBarePath: true },
    {
      ...preview('provider-download-refused', program(['pet:\n  type: random:RandomPet'])),
      isEgressRefused: true,
    },
    {
      ...preview(
        'provider-version-refused',
        program(['pet:\n  type: random:RandomPet\n  options: {version: 4.16.0}']),
      ),
      isEgressRefused: true,
    },
  ],
};
