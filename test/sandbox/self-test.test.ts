import { linkSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { readMachine, systemOf } from '../../src/sandbox/diagnosis/machine.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import { probeFromOutside } from '../../src/sandbox/probes/from-outside.ts';
import type { SelfTestItem } from '../../src/sandbox/probes/item.ts';
import type { SandboxCommand } from '../../src/sandbox/sandbox.ts';
import { type SelfTestResult, selfTest } from '../../src/sandbox/self-test.ts';
import { createHarness, type Harness, identity, isRoot } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness[Symbol.dispose]());

const options = () => ({ stateDirectory: join(harness.root, 'state'), withNetwork: true });

/** Names and details of what did not pass. */
const failuresOf = ({ items }: SelfTestResult) => items.filter(({ ok }) => !ok);
const namesOf = (items: readonly SelfTestItem[]) => items.map(({ name }) => name);

describe('the self-test', () => {
  it('passes here, says what it looked at, and leaves nothing behind', async () => {
    const result = await selfTest(harness.sandbox, options());

    expect(failuresOf(result)).toEqual([]);
    expect(result).toMatchObject({ ok: true, tier: isRoot ? 'root' : 'unprivileged' });
    expect(result.warnings.filter((warning) => warning.includes('MEMORY'))).toEqual([]);
    expect(result.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(new Set(namesOf(result.items)).size).toBe(result.items.length);
    const user = result.items.find(({ name }) => name === 'user')?.detail;
    expect(user).toMatch(isRoot ? /one of its own \(\d{5,}\)/ : /that of the server/);
    expect(readdirSync(join(harness.root, 'state'))).toEqual([]);
  });

  it('finds every hole of a sandbox that has all of them', async () => {
    const none = createNoSandbox();
    const leaky = {
      ...harness.sandbox,
      run: (command: SandboxCommand) =>
        none.run({ ...command, environment: { ...command.environment, INHERITED: '1' } }),
    };
    const result = await selfTest(leaky, { ...options(), withNetwork: false });

    expect(result.ok).toBe(false);
    expect(namesOf(failuresOf(result))).toEqual([
      ...['files', ...(isRoot ? ['writing'] : []), 'loopback', 'system calls', 'privileges'],
      ...(isRoot ? ['capabilities'] : []),
      ...['processes', 'variables', 'limits', 'number of processes', 'temporary files'],
      ...(isRoot ? ['user'] : []),
    ]);
    for (const { name, detail } of failuresOf(result)) expect(detail, name).toMatch(/^[A-Z/].*\.$/);
  });

  it('finds a secret on a command line, and processes that go on without who started them', async () => {
    const telling = {
      ...harness.sandbox,
      run: ({ argv, ...command }: SandboxCommand) =>
        createNoSandbox().run({
          ...command,
          argv: ['bash', '-c', 'setsid "$@" & wait', '_', ...argv, ...Object.values(command.environment)],
        }),
    };
    const items = await probeFromOutside(telling);

    expect(items.find(({ name }) => name === 'command lines')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('show a secret'),
    });
    expect(items.find(({ name }) => name === 'end')).toMatchObject({ ok: false });
  });

  it('finds holes that only commands with a network have', async () => {
    const none = createNoSandbox();
    const leaky = {
      ...harness.sandbox,
      run: (command: SandboxCommand) => (command.network === null ? harness.sandbox : none).run(command),
    };
    const failures = failuresOf(await selfTest(leaky, options()));

    expect(namesOf(failures)).toEqual(
      expect.arrayContaining(['files, with network', 'loopback, with network', 'system calls, with network']),
    );
    expect(namesOf(failures).filter((name) => !/with network$|^proxy$/.test(name))).toEqual([]);
    expect(failures.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(/^With network: /));
  });

  it('warns where the memory of commands cannot be seen', async () => {
    const blind = {
      ...harness.sandbox,
      run: (command: SandboxCommand) =>
        harness.sandbox.run({ ...command, limits: { ...command.limits, memoryBytes: 2 ** 40 } }),
    };
    const { ok, warnings } = await selfTest(blind, { ...options(), withNetwork: false });

    expect(ok).toBe(true);
    expect(warnings).toContainEqual(expect.stringContaining('SANDBOX_MEMORY_MB'));
  });

  it('says what to install where find is not that of GNU, without a sandbox too', async () => {
    const bin = join(harness.root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'find'), '#!/bin/sh\necho "find: unrecognized: -printf" >&2\nexit 1\n', {
      mode: 0o755,
    });
    for (const sandbox of [harness.sandbox, createNoSandbox()]) {
      const result = await selfTest(sandbox, { ...options(), programs: { PATH: bin } });

      expect(result.ok).toBe(false);
      expect(failuresOf(result)).toEqual([
        expect.objectContaining({ fix: expect.stringContaining('apt-get install findutils') }),
      ]);
    }
  });

  it('says what to install where bwrap is missing', async () => {
    const missing = createBubblewrap({ directory: join(harness.root, 'missing'), bwrap: '/no/such/bwrap' });
    const machine = () => ({ ...readMachine(systemOf('/usr/bin')), bwrap: null });
    const result = await selfTest(missing, { ...options(), machine });

    expect(result).toMatchObject({ ok: false, version: null });
    expect(failuresOf(result)).toEqual([
      {
        ...{ name: 'start', ok: false, detail: expect.stringMatching(/^No command starts: .*bwrap/) },
        fix: expect.stringContaining('Not installed: bwrap. Debian, Ubuntu: apt-get install bubblewrap'),
      },
    ]);
  });

  it('lets SANDBOX=none pass, with a warning', async () => {
    const result = await selfTest(createNoSandbox(), options());

    expect(result).toMatchObject({
      ok: true,
      tier: 'none',
      version: null,
      warnings: [expect.stringContaining('every run')],
    });
  });
});

describe.runIf(isRoot)('handing a directory over', () => {
  const directory = () => join(harness.root, 'handed');
  const user = () => statSync(directory()).uid;

  it('reaches everything in it, and follows no symlink', async () => {
    const outside = join(harness.root, 'outside');
    writeFileSync(outside, '');
    mkdirSync(join(directory(), 'deep', 'deeper'), { recursive: true });
    writeFileSync(join(directory(), 'deep', 'deeper', 'file'), '');
    symlinkSync(outside, join(directory(), 'link'));
    await harness.sandbox.own(directory(), identity);

    expect(user()).toBeGreaterThan(0);
    expect(statSync(join(directory(), 'deep', 'deeper', 'file')).uid).toBe(user());
    expect(statSync(outside).uid).toBe(0);
  });

  it('is refused when a file has another name elsewhere', async () => {
    const original = join(harness.root, 'object');
    writeFileSync(original, 'of the mirror');
    linkSync(original, join(directory(), 'object'));

    await expect(harness.sandbox.own(directory(), identity)).rejects.toThrow('is a hard link');
    expect(statSync(original).uid).toBe(0);
    rmSync(join(directory(), 'object'));
  });

  it('may be repeated after the run has made links of its own', async () => {
    linkSync(join(directory(), 'deep', 'deeper', 'file'), join(directory(), 'second'));

    await harness.sandbox.own(directory(), identity);
    expect(statSync(join(directory(), 'second')).uid).toBe(user());
  });
});

it.skipIf(isRoot)('needs root to prove that directories are handed over', () => {});
