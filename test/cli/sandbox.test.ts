import { expect, test } from 'vitest';
import type { SelfTestResult } from '../../src/sandbox/self-test.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const well: SelfTestResult = {
  ...{ ok: true, tier: 'unprivileged', version: '0.12.0', warnings: [] },
  items: [
    { name: 'start', ok: true, detail: 'bubblewrap 0.12.0 (unprivileged)', fix: null },
    { name: 'loopback', ok: true, detail: 'out of reach', fix: null },
  ],
};
const ill: SelfTestResult = {
  ...{ ok: false, tier: 'unprivileged', version: '0.12.0', warnings: ['something could be better'] },
  items: [
    {
      name: 'start',
      ok: false,
      detail: 'No command starts: \u001b[2Jbwrap: no',
      fix: 'Write this:\n  userns,',
    },
    { name: 'disk watch', ok: true, detail: 'what runs write is measured', fix: null },
  ],
};

async function tested(result: SelfTestResult, line: string) {
  await using installation = anInstallation();
  const { run } = aCommandLine(installation);
  return await run(line, { testSandbox: async () => result });
}

test('slipway sandbox self-test lists each probe', async () => {
  const { exitCode, out, err } = await tested(well, 'sandbox self-test');

  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toMatch(
    /^ok {4}start {5}bubblewrap 0\.12\.0 \(unprivileged\)\nok {4}loopback {2}out of reach\n/,
  );
  expect(out).toMatch(/\nbubblewrap 0\.12\.0, unprivileged: 2 probes in [\d.]+ s, all passed\n$/);
});

test('slipway sandbox self-test says what to do below what failed, and ends with 1', async () => {
  const { exitCode, out, err } = await tested(ill, 'sandbox self-test');

  expect({ exitCode, err }).toEqual({ exitCode: 1, err: '' });
  expect(out.split('\n').slice(0, 5)).toEqual([
    'FAIL  start       No command starts:  [2Jbwrap: no',
    '                  Write this:',
    '                    userns,',
    'ok    disk watch  what runs write is measured',
    'WARN  something could be better',
  ]);
  expect(out).toContain('2 probes in');
  expect(out).toContain('1 failed: no run is executed');
});

test('slipway sandbox self-test --json is the result as one value', async () => {
  const answer = await tested(ill, 'sandbox self-test --json');

  expect(answer.exitCode).toBe(1);
  expect(answer.json()).toEqual({ ...ill, durationMs: expect.any(Number) });
});

test('slipway sandbox self-test explains itself', async () => {
  const { exitCode, out } = await tested(well, 'sandbox self-test --help');

  expect(exitCode).toBe(0);
  expect(out).toMatch(/Exit code 0: every probe passed/);
});
