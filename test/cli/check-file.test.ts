import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const entry = '  - name: net\n    vendor: { pulumi: { login_url: "file:///state", stack_name: dev } }\n';

describe('slipway stack check-file', () => {
  it('prints each problem with its place, and fails', async () => {
    await using installation = anInstallation();
    const { run, opened } = aCommandLine(installation);
    using directory = tempDirectory();
    const path = join(directory.path, 'slipway.yml');
    writeFileSync(path, `version: 1\nstacks:\n${entry}    lables: [a]\n    "\\e[31m": 1\n`);

    const told = await run(['stack', 'check-file', path]);
    const json = await run(['stack', 'check-file', path, '--json']);

    expect(told.exitCode).toBe(1);
    expect(told.err).toBe('');
    const [first, second] = told.out.split('\n');
    expect(first).toBe(`${path}:5:5: unknown key lables; did you mean labels?`);
    expect(second).toMatch(/:6:5: unknown key {2}\[31m; known here are name, /);
    expect(json.exitCode).toBe(1);
    expect(json.json()).toMatchObject({
      ...{ ok: false, path, stacks: [] },
      problems: [{ line: 5, column: 5, message: 'unknown key lables; did you mean labels?' }, { line: 6 }],
    });
    expect(opened).toEqual([]);
  });

  it('names the stacks of a good file', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    using directory = tempDirectory();
    mkdirSync(join(directory.path, '.github'));
    const path = join(directory.path, '.github/slipway.yml');
    writeFileSync(path, `version: 1\nstacks:\n${entry}${entry.replace('net', 'dns')}`);

    expect(await run(['stack', 'check-file', path])).toMatchObject({
      exitCode: 0,
      out: `${path}: net, dns\n`,
    });
    const json = await run(['stack', 'check-file', path, '--json']);
    expect(json.json()).toEqual({ ok: true, path, stacks: ['net', 'dns'], problems: [] });
  });

  it('looks at the usual place, and says when nothing is there', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    using directory = tempDirectory();

    expect(await run('stack check-file')).toMatchObject({
      ...{ exitCode: 1, err: 'slipway: .github/slipway.yml: there is no such file\n' },
    });
    expect(await run(['stack', 'check-file', directory.path])).toMatchObject({
      ...{ exitCode: 1, err: expect.stringContaining('it cannot be read (EISDIR)') },
    });
  });
});

it('slipway stack show tells that a file manages the stack, and env list what it sets', async () => {
  await using installation = anInstallation();
  const { run } = aCommandLine(installation);
  const { key } = await installation.addStack('net');
  const variable = {
    name: 'LOG_LEVEL',
    value: 'info',
    secret: false,
    access: 'all',
    managedBy: 'file',
  } as const;
  await installation.database.write(async (tx) => {
    await installation.stackStore.setManagedBy(tx, key, 'file');
    await installation.stackStore.putVariable(tx, key, variable);
  });

  expect((await run('stack show net')).out).toMatch(
    /^managed by +\.github\/slipway\.yml of the repository$/m,
  );
  expect((await run('stack env list net')).out).toBe(
    'NAME       ACCESS  SET BY  VALUE\nLOG_LEVEL  all     file    info\n',
  );
  expect(await run('stack update net --autodeploy')).toMatchObject({
    ...{ exitCode: 5, err: expect.stringContaining('is managed by .github/slipway.yml of acme/infra') },
  });
});
