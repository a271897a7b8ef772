import { type Case, javascript, preview, program, select, stash } from './case.ts';

const noSuchService = 'https://127.0.0.1:1';
const one = stash('one', '"1"');

/** Everything that keeps pulumi from getting to work. */
export const setUp: Case = {
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
    { run: 'select', record: 'stack-name-other-project', stackName: 'organization/other/dev' },
    { ...preview('stack-missing'), stackName: 'nowhere' },
    select,
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
  ],
};
