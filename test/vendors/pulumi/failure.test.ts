import { describe, expect, test } from 'vitest';
import { explainFailure } from '../../../src/vendors/pulumi/failure.ts';
import { readApply, readPlan } from '../../../src/vendors/pulumi/readings.ts';
import type { VendorFailure } from '../../../src/worker/vendor-results.ts';
import { outputsOf, recording, recordingNames } from './recordings.ts';

const failed = recordingNames.filter((name) => recording(name).exitCode !== 0);

async function failureOf(name: string): Promise<VendorFailure> {
  const one = recording(name);
  const [, command, option] = one.argv;
  if (command === 'login' || command === 'stack') return explainFailure(outputsOf(one), null);
  const isApply = command === 'up' || (command === 'destroy' && option !== '--preview-only');
  const result = await (isApply ? readApply(outputsOf(one)) : readPlan(outputsOf(one)));
  if (result.kind === 'planned' || result.kind === 'applied') throw new Error(`${name} did not fail`);
  return result;
}

const seeLog = 'The log of the run has everything that pulumi said';
const untouched = 'The plan you confirmed no longer holds. Nothing was changed.\n';
/** Name of the recording, what the message says, what the hint says. */
const cases: readonly [name: string, message: string, hint: string][] = [
  ['locked', 'by somebody@elsewhere, process 4242. Nothing was changed.', 'pulumi cancel'],
  ['passphrase-missing', 'No passphrase is set', "Set PULUMI_CONFIG_PASSPHRASE in the stack's environment"],
  [
    'select-passphrase-missing',
    'No passphrase is set',
    "Set PULUMI_CONFIG_PASSPHRASE in the stack's environment",
  ],
  ['passphrase-wrong', 'Wrong passphrase', "Set PULUMI_CONFIG_PASSPHRASE in the stack's environment"],
  ['login-token-missing', 'No access token is set', 'PULUMI_ACCESS_TOKEN'],
  ['login-token-refused', 'http://127.0.0.1:50000 does not accept the access token', 'PULUMI_ACCESS_TOKEN'],
  [
    'login-egress-refused',
    'https://pulumi.example.com cannot be reached from a run',
    'SANDBOX_ALLOWED_HOSTS',
  ],
  ['login-bucket-credentials', 'There are no credentials for s3://bucket', 'AWS_ACCESS_KEY_ID'],
  [
    'login-directory-missing',
    'Could not log in to file:///state/gone: no such file or directory',
    'Check loginUrl',
  ],
  ['login-unreachable', 'https://127.0.0.1:1 cannot be reached from a run', 'SANDBOX_ALLOWED_HOSTS'],
  ['login-bucket-region', 's3://bucket does not say in which region', 'AWS_REGION'],
  ['login-azure-account', 'There is no storage account for azblob://bucket', 'AZURE_STORAGE_ACCOUNT'],
  ['stack-name-organization', 'knows no organizations', 'stackName'],
  ['stack-file-invalid', 'Pulumi.<stack>.yaml is not valid: invalid YAML file: yaml: line 1', 'push'],
  ['stack-salt-invalid', 'The encryptionsalt in Pulumi.<stack>.yaml is not valid', 'take it out'],
  ['config-secret-invalid', 'cannot be decrypted', 'pulumi config set --secret'],
  ['config-secret-foreign', 'cannot be decrypted', 'pulumi config set --secret'],
  ['pulumi-too-old', 'asks for pulumi >=99.0.0; this server has', 'requiredPulumiVersion'],
  ['main-missing', '`main` in Pulumi.yaml leads to a place that is not there', 'Correct `main`'],
  ['host-crashed', 'The language host crashed', 'Check `main`'],
  ['provider-version-refused', 'The provider plugin random could not be downloaded', 'SANDBOX_ALLOWED_HOSTS'],
  ['program-exits', 'The program ended with exit code 3.', seeLog],
  [
    'program-exits-early',
    'The program ended with exit code 1.\nThe Pulumi runtime detected that 4 promises were still active',
    seeLog,
  ],
  ['program-killed', 'The program was killed.', seeLog],
  ['project-missing', 'no Pulumi.yaml in the project root', 'project root'],
  ['select-project-missing', 'no Pulumi.yaml in the project root', 'project root'],
  [
    'project-file-invalid',
    "Pulumi.yaml is not valid: project is missing a 'name' attribute",
    'Correct the file',
  ],
  ['program-syntax', 'Pulumi.yaml is not valid: invalid YAML file: yaml: line 3', 'Correct the file'],
  ['stack-name-invalid', 'a stack name may not be empty', 'stackName'],
  ['stack-name-too-long', 'a stack name cannot exceed 100 characters', 'stackName'],
  ['stack-name-other-project', 'the project is "other"', 'stackName'],
  ['stack-missing', 'does not exist in this state backend', 'stackName'],
  ['select-as-specified', 'does not know the flag --select', 'newer pulumi'],
  ['config-missing', "no value for the configuration 'size'", 'pulumi config set'],
  ['provider-plugin-missing', 'The provider plugin random is not installed', 'before_init'],
  [
    'provider-download-refused',
    'The provider plugin random could not be downloaded',
    'SANDBOX_ALLOWED_HOSTS',
  ],
  ['runtime-unknown', 'no language host for dotnet', 'beside the pulumi program'],
  ['node-missing', 'Node.js is not on the PATH', '/usr'],
  ['python-missing', 'Python is not on the PATH', '/usr'],
  ['go-missing', 'Go is not on the PATH', '/usr'],
  [
    'go-uncompiled',
    'The program does not compile.\n./main.go:4:2: declared and not used: unused\n./main.go:5:2: undefined: missing',
    seeLog,
  ],
  ['node-modules-missing', 'The Pulumi SDK is not installed', 'npm ci'],
  ['python-module-missing', 'The Pulumi SDK is not installed', 'pip install'],
  ['destroy-preview-protected', 'one is protected and cannot be deleted', 'Take `protect` off'],
  ['plan-unreadable', 'saved plan cannot be read', 'new run'],
  ['interrupted', 'It was interrupted', 'Retry'],
  [
    'program-reference',
    'resource or variable named "nothing" could not be found\n\n  on Pulumi.yaml line 7',
    seeLog,
  ],
  ['program-throws', 'Error: no such region\n    at Object.<anonymous> (/workspace/index.js:2:7)', seeLog],
  ['step-fails', 'the disk is full\n- failed: create of e (pulumi-nodejs:dynamic:Resource)', seeLog],
  [
    'planned-step-fails',
    'the disk is full\n- failed: create-replacement of b (pulumi-nodejs:dynamic:Resource)',
    seeLog,
  ],
  [
    'replacement-half-done',
    'it sticks\n- failed: delete-replaced of d (pulumi-nodejs:dynamic:Resource)',
    seeLog,
  ],
  ['violation-update', `${untouched}- one (pulumi:index:Stash): properties changed (input)`, 'new run'],
  ['violation-create', `${untouched}- four (pulumi:index:Stash): create was not planned`, 'plan binding'],
  ['violation-delete', `${untouched}- keys (pulumi:index:Stash): delete instead of same`, 'plan binding'],
  [
    'violation-missing-step',
    `${untouched}- three (pulumi:index:Stash): was planned and is not wanted any more`,
    'new run',
  ],
  ['violation-secret', `${untouched}- keys (pulumi:index:Stash): properties changed (input)`, 'new run'],
  [
    'violation-while-applying',
    'stays done.\n- one (pulumi:index:Stash): properties changed (input)',
    'new run',
  ],
];

describe('a failure', () => {
  test.each(cases)('of the kind %s is explained', async (name, message, hint) => {
    const failure = await failureOf(name);
    expect(failure.kind).toBe(name.startsWith('violation-') ? 'plan-changed' : 'failed');
    expect(failure.message).toContain(message);
    expect(failure.hint).toContain(hint);
  });

  test('of the language host is the same whichever way its connection ends', () => {
    const { stderr, stdout } = recording('host-crashed');
    const stderrTail = stderr.replace(
      /error reading from server: EOF/,
      'error reading from server: connection reset by peer',
    );
    expect(stderrTail).not.toBe(stderr);
    expect(explainFailure({ exitCode: 1, stdoutTail: stdout, stderrTail }, null).message).toContain(
      'The language host crashed',
    );
  });

  test('is expected of every recording that failed', () => {
    expect(cases.map(([name]) => name).sort()).toEqual(failed);
  });

  test('by another plan never quotes values, which pulumi prints even of secrets', async () => {
    expect(recording('violation-secret').stderr).toContain('wholly-new-secret');
    expect(JSON.stringify(await failureOf('violation-secret'))).not.toContain('wholly-new-secret');
  });

  test('in its own preview says that nothing was changed', async () => {
    const asUp = outputsOf(recording('program-throws'));
    expect((await readApply(asUp)) as VendorFailure).toMatchObject({
      message: expect.stringContaining('nothing was changed'),
    });
    expect(((await readPlan(asUp)) as VendorFailure).message).not.toContain('nothing was changed');
  });
});

describe('an unknown failure', () => {
  const explain = (stderrTail: string, exitCode = 1) =>
    explainFailure({ exitCode, stderrTail, stdoutTail: '' }, null);

  test('is told in the words of pulumi, without what it always says at the end', () => {
    expect(explain('noise\nerror: first\n  more\nerror: second\nerror: update failed\n').message).toBe(
      'first\n  more\nsecond',
    );
    expect(explain('error: update failed\n').message).toBe('update failed');
  });

  test('without an error message shows the end of what was said, without colours', () => {
    expect(explain('\u001b[31mError\u001b[0m: bad\n\n  here\n').message).toBe('Error: bad\n  here');
    expect(explain('', 2).message).toBe('pulumi ended with exit code 2 and gave no reason.');
  });

  test('of the program is told first, wherever what the program said stands', () => {
    const exit = 'error: an unhandled error occurred: Program exited with non-zero exit code: 1\n';
    const told = 'The program ended with exit code 1.\nSyntaxError: Unexpected token';

    expect(explain(`SyntaxError: Unexpected token\n${exit}error: preview failed\n`).message).toBe(told);
    expect(explain(`${exit}SyntaxError: Unexpected token\nerror: preview failed\n`).message).toBe(told);
  });

  test('by a signal says so, whatever was said last, and what that means for an apply', () => {
    const killed = { exitCode: 137, stderrTail: 'of no importance\n', stdoutTail: '' };
    expect(explainFailure(killed, null)).toMatchObject({
      message: expect.stringMatching(/^pulumi was killed by SIGKILL: /),
      hint: expect.stringContaining('retry the run'),
    });
    expect(explainFailure(killed, null, { isApply: true }).hint).toContain('check the real state');
    expect(explain('', 255).message).not.toContain('killed');
  });

  test('is cut to the size of a check run', () => {
    const { message } = explain(`error: ${'x\n'.repeat(10_000)}`);
    expect(message.split('\n')).toHaveLength(21);
    expect(explain(`error: ${'y'.repeat(100_000)}`).message.length).toBeLessThan(2100);
  });
});
