import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { aCommandLine } from '../cli/command-line.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { opaPath } from './opa-world.ts';

function inFolder(files: Readonly<Record<string, string | Uint8Array>>) {
  const directory = tempDirectory();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, name)), { recursive: true });
    writeFileSync(join(directory.path, name), content);
  }
  return directory;
}

async function policy(...words: readonly string[]) {
  await using installation = anInstallation();
  const { run, opened } = aCommandLine(installation);
  const answer = await run(['policy', ...words], { environment: { OPA_PATH: opaPath() } });
  expect(opened).toEqual([]);
  return answer;
}

const plan = 'package slipway\n\ndeny contains "no" if input.bad\n';

it('policy check prints the rules of a good file', async () => {
  using folder = inFolder({ 'plan.rego': `${plan}warm contains "x"\n` });
  const path = join(folder.path, 'plan.rego');

  expect(await policy('check', path, '--kind', 'PLAN')).toMatchObject({
    exitCode: 0,
    out: `${path}: deny\nline 4: warm is not a rule of PLAN policies; did you mean warn?\n`,
  });
});

it('policy check prints errors as compilers do', async () => {
  using folder = inFolder({
    'plan.rego': `${plan}warn contains time.now_ns()\n`,
    'bytes.rego': Buffer.of(0xff),
  });
  const path = join(folder.path, 'plan.rego');
  const json = await policy('check', path, '--kind', 'PLAN', '--json');

  expect(await policy('check', path, '--kind', 'PLAN')).toMatchObject({
    ...{ exitCode: 1, out: `${path}:4:15: undefined function time.now_ns\n`, err: '' },
  });
  expect(json.exitCode).toBe(1);
  expect(json.json()).toEqual({
    ...{ ok: false, path, rules: [], hints: [] },
    errors: [{ message: 'undefined function time.now_ns', line: 4, column: 15 }],
  });
  expect(await policy('check', join(folder.path, 'bytes.rego'), '--kind', 'PLAN')).toMatchObject({
    ...{ exitCode: 1, err: expect.stringContaining('it is not UTF-8') },
  });
  expect(await policy('check', path, '--kind', 'PLANS')).toMatchObject({ exitCode: 2 });
});

const tests = `package slipway_test

import data.slipway

test_good if count(slipway.deny) == 0 with input as {}
test_bad if slipway.deny == {"no"} with input as {"bad": data.bad}
`;

it('policy test runs the tests of a folder, with its data', async () => {
  using folder = inFolder({
    ...{ 'plan.rego': plan, 'tests/plan_test.rego': tests, 'data.json': '{"bad": true}' },
    '.git/broken.rego': 'broken',
  });
  symlinkSync('/etc/passwd', join(folder.path, 'passwd.json'));
  const report = await policy('test', folder.path);

  expect(report).toMatchObject({ exitCode: 0, err: '' });
  expect(
    report.out.replace(/[\d.]+ ms/g, 'N ms'),
  ).toBe(`ok    tests/plan_test.rego:5  slipway_test.test_good (N ms)
ok    tests/plan_test.rego:6  slipway_test.test_bad (N ms)

2 passed, 0 failed, 0 skipped
`);
});

it('policy test fails when a test does, and tells the cases', async () => {
  const cases =
    'test_cases[name] if { some name, n in {"one": 1, "two": 2}; n == 1 }\ntodo_test_later if false\n';
  using folder = inFolder({ 'plan.rego': plan, 'plan_test.rego': `${tests}${cases}` });
  const report = await policy('test', folder.path);
  const json = await policy('test', folder.path, '--json');

  expect(report.exitCode).toBe(1);
  expect(report.out).toMatch(/^FAIL {2}plan_test\.rego:7 {2}slipway_test\.test_cases \([\d.]+ ms\): two$/m);
  expect(report.out).toMatch(/\n1 passed, 2 failed, 1 skipped\n$/);
  expect(json.json()).toMatchObject({
    ...{ ok: false, kind: 'tested', folder: folder.path },
    tests: [{ outcome: 'passed' }, { outcome: 'failed' }, { outcome: 'failed' }, { outcome: 'skipped' }],
  });
});

it('policy test fails where nothing is tested, or cannot be', async () => {
  using empty = inFolder({});
  using untested = inFolder({ 'plan.rego': plan });
  using clock = inFolder({ 'clock_test.rego': 'package a\ntest_now if time.now_ns() > 0\n' });

  for (const { path } of [empty, untested]) {
    const report = await policy('test', path, '--json');
    expect(report.exitCode).toBe(1);
    expect(report.json()).toMatchObject({ code: 'failed', detail: `${path}: no tests` });
  }
  expect(await policy('test', clock.path)).toMatchObject({
    ...{
      exitCode: 1,
      out: expect.stringContaining('clock_test.rego:2: rego_type_error: undefined function time.now_ns'),
    },
  });
  expect(await policy('test', join(clock.path, 'nowhere'))).toMatchObject({
    ...{ exitCode: 1, err: expect.stringContaining('there is no such folder') },
  });
});

it('says what is missing where there is no opa', async () => {
  await using installation = anInstallation();
  using folder = inFolder({ 'plan.rego': plan });
  const environment = { PATH: '/nowhere', HOME: folder.path };
  const { exitCode, err } = await aCommandLine(installation).run(['policy', 'test', folder.path], {
    environment,
  });

  expect({ exitCode, err }).toEqual({
    ...{ exitCode: 1, err: expect.stringMatching(/^slipway: policy engine not installed: /) },
  });
});
