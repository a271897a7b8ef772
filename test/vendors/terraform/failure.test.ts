import { describe, expect, test } from 'vitest';
import { explainFailure } from '../../../src/vendors/terraform/failure.ts';
import { opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import { outputsOf, recordingsOf } from './by-hand.ts';
import { recording } from './recordings.ts';

const failureOf = (exitCode: number, stderrTail: string, stdoutTail = '') =>
  explainFailure(terraform, { exitCode, stdoutTail, stderrTail });

describe('a failure that the real programs had', () => {
  test.each([
    [
      'version-too-old',
      /wants (Terraform|OpenTofu) >= 99\.0; this server has 1\.\d+\.\d+\.$/,
      /install a version/,
    ],
    [
      'registry-unreachable',
      /provider hashicorp\/random .* registry\.\w+\.\w+ cannot be reached/,
      /SANDBOX_NETWORK/,
    ],
    ['registry-unknown', /registry\.invalid\/acme\/random .* registry\.invalid cannot/, /SANDBOX_NETWORK/],
    ['module-registry-unreachable', /module "m" could not be looked up: registry\./, /SANDBOX_NETWORK/],
    [
      'module-git-unreachable',
      /module "m" could not be downloaded from git::https:\/\/git\.invalid/,
      /credentials/,
    ],
    ['backend-missing', /No backend keeps the state/, /file:\/\/\/state/],
    ['backend-local', /No backend keeps the state/, /file:\/\/\/state/],
    ['backend-setting-missing', /lacks settings: bucket, key, region\.$/, /backendConfigFile/],
    ['backend-file-missing', /nope\.hcl is not in/, /backendConfigFile/],
    ['backend-credentials-s3', /given no credentials/, /AWS_ACCESS_KEY_ID/],
    ['backend-http', /backend of the state cannot be reached/, /SANDBOX_NETWORK/],
    ['backend-token', /localhost\.invalid cannot be reached/, /SANDBOX_NETWORK/],
    ['backend-changed', /not those that init was given/, /Hooks/],
    ['workspaces-unsupported', /has no workspaces/, /Leave the workspace out/],
    ['state-in-repository', /terraform\.tfstate/, /-migrate-state/],
    ['state-unknown-format', /written by \w+ 99\.5\.0, and \w+ 1\.\d+\.\d+ cannot read it/, /install/],
    ['state-damaged', /damaged/, /terraform\.tfstate\.backup/],
    ['variable-missing', /^The program wants values for: size, zone\.$/, /TF_VAR_size, TF_VAR_zone/],
    ['variable-file-missing', /nope\.tfvars is not in/, /variableFile/],
    [
      'lock-file-inconsistent',
      /\.terraform\.lock\.hcl .* registry\.\w+\.\w+\/hashicorp\/random/,
      /init` on your own/,
    ],
    ['prevent-destroy', /^terraform_data\.a must not be destroyed/, /prevent_destroy/],
    ['apply-interrupted', /interrupted/, /Retry/],
  ])('%s is told, with what to do', (name, message, hint) => {
    for (const recording of recordingsOf(name)) {
      const failure = explainFailure(recording.flavour, outputsOf(recording)[0]);
      expect(failure).toEqual({
        kind: 'failed',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
    }
  });

  test.each([
    ['syntax', /^Error: Invalid expression\n\n {2}on main\.tf line 2/],
    ['module-missing', /^Error: Unreadable module directory/],
    ['reference-missing', /^Error: Reference to undeclared input variable/],
    ['variable-invalid', /The size must be above three\./],
    ['apply-fails', /^Error: local-exec provisioner error[\s\S]*exit status 3/],
  ])('%s is told in the words of the program, without what stands around them', (name, message) => {
    for (const recording of recordingsOf(name)) {
      const failure = explainFailure(recording.flavour, outputsOf(recording)[0]);
      expect(failure).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) });
      expect(failure.hint).toContain(`everything that ${recording.flavour.program} said`);
    }
  });

  test.each([
    ['of a file, which goes with its process', (stderr: string) => stderr, false],
    [
      'of a backend, released by its id',
      (stderr: string) => stderr.replace(/Path: +\S+/, 'Path: states/net'),
      true,
    ],
  ])('is the lock of the state %s: who has it, and since when', (_, change, isReleasable) => {
    for (const original of [...recordingsOf('locked'), ...recordingsOf('plan-interrupted')]) {
      const recording = { ...original, stderr: change(original.stderr) };
      const failure = explainFailure(recording.flavour, outputsOf(recording)[0]);
      const [, id = ''] = /ID: +(\S+)/.exec(recording.stderr) ?? [];
      expect(failure).toEqual({
        kind: 'failed',
        message: expect.stringMatching(
          /^The state is locked, for .+, by somebody@elsewhere\. Nothing was changed\.$/,
        ),
        hint: isReleasable
          ? expect.stringContaining(`${recording.flavour.program} force-unlock -force ${id}`)
          : 'Wait until it is done, then retry.',
        trouble: {
          kind: 'state-locked',
          lockId: isReleasable ? id : null,
          holder: 'somebody@elsewhere',
          sinceMs: expect.any(Number),
        },
      });
      const sinceMs = failure.trouble?.kind === 'state-locked' ? failure.trouble.sinceMs : null;
      expect(new Date(sinceMs ?? 0).toISOString().slice(0, 19)).toBe(
        /Created: +(\S+ [\d:]+)/.exec(recording.stderr)?.[1]?.replace(' ', 'T'),
      );
    }
  });

  test('is a lock over HTTP, of which the tool knows the id and nothing else', () => {
    for (const flavour of [terraform, opentofu]) {
      const { stderr, stdout } = recording(flavour, 'remote-locked-plan');
      const result = { exitCode: 1, stderrTail: stderr, stdoutTail: stdout };
      expect(explainFailure(flavour, result)).toMatchObject({
        message: 'The state is locked. Nothing was changed.',
        trouble: {
          kind: 'state-locked',
          lockId: '00000000-0000-4000-8000-000000000001',
          holder: null,
          sinceMs: null,
        },
      });
    }
  });

  test('is a plan that does not fit the state any more', () => {
    for (const recording of recordingsOf('stale')) {
      expect(explainFailure(recording.flavour, outputsOf(recording)[0], { isApply: true })).toMatchObject({
        kind: 'plan-changed',
        message: expect.stringContaining('Nothing was changed'),
      });
    }
  });
});

describe('a failure', () => {
  test.each(['a', '7', '\u001b]', '\u001b]8;', '\u001b\u001b]a', '\n', '╷\n'])(
    'is read in no time, though a hostile program said %j and nothing else',
    (said) => {
      const text = said.repeat(65_536 / said.length);
      const startedAtMs = performance.now();
      failureOf(1, text, text);
      expect(performance.now() - startedAtMs).toBeLessThan(200);
    },
  );

  const locked = (fields: { id: string; who?: string; created?: string }) =>
    failureOf(
      1,
      `Error: Error acquiring the state lock\n\nLock Info:\n  ID:        ${fields.id}\n  Path:      p\n  Operation: OperationTypePlan\n  Who:       ${fields.who ?? 'a@b'}\n  Version:   1.9.0\n  Created:   ${fields.created ?? '2026-01-02 03:04:05.678 +0200 CEST'}\n  Info:      \n`,
    );

  test.each(['1717171717171717', '0f8fad5b-d9cb-469f-a165-70867728950e'])(
    'names the lock %s, which can stand in a command',
    (id) => {
      expect(locked({ id }).trouble).toMatchObject({ lockId: id, sinceMs: Date.UTC(2026, 0, 2, 1, 4, 5) });
    },
  );

  test.each(['', '; rm -rf /', '$(id)', '0f8fad5b-d9cb-469f-a165-70867728950e x', '-force', '123\u202e'])(
    'names no lock that a program made up: %j',
    (id) => {
      const failure = locked({ id });
      expect(failure.trouble).toMatchObject({ kind: 'state-locked', lockId: null });
      expect(failure.hint).not.toContain('force-unlock');
    },
  );

  test('survives a lock whose moment is none', () => {
    for (const created of ['', 'yesterday', '2026-99-99 99:99:99 +0000 UTC']) {
      expect(locked({ id: '1', created }).trouble).toMatchObject({ lockId: '1', sinceMs: null });
    }
    expect(locked({ id: '1', who: 'x'.repeat(5000) }).message.length).toBeLessThan(500);
  });

  test('without colours and frames is the same', () => {
    const framed =
      '\u001b[31m╷\u001b[0m\n\u001b[31m│\u001b[0m \u001b[1mError: Saved plan is stale\u001b[0m\n╵\n';
    expect(failureOf(1, framed)).toMatchObject({ kind: 'plan-changed' });
  });

  test('that nobody knows is told in the words of the program, of which not more than fit', () => {
    expect(failureOf(1, 'Warning: old\n\nError: Something new\n\nIt broke.\n').message).toBe(
      'Error: Something new\n\nIt broke.',
    );
    expect(failureOf(3, '').message).toBe('terraform ended with exit code 3 and gave no reason.');
    const long = failureOf(1, `Error: ${'line\n'.repeat(1000)}`);
    expect(long.message.split('\n').length).toBeLessThanOrEqual(21);
  });

  test('by a signal is no failure of the program', () => {
    const killed = explainFailure(
      opentofu,
      { exitCode: 137, stdoutTail: '', stderrTail: '' },
      { isApply: true },
    );
    expect(killed.message).toContain('tofu was killed by SIGKILL');
    expect(killed.hint).toContain('check the real resources');
  });
});
