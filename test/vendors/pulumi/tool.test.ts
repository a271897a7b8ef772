import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectTool } from '../../../src/vendors/pulumi/tool.ts';
import { createPulumiVendor } from '../../../src/vendors/pulumi/vendor.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-tool-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o755 });
  return file;
}

/** A shell script in the place of pulumi; what it does besides telling its version does not matter here. */
const pulumi = (path: string, version = 'v3.259.0') => program(path, `#!/bin/sh\necho ${version}\n`);

async function problemWith(path: string | null): Promise<string> {
  const inspected = await inspectTool(path);
  return 'problem' in inspected ? inspected.problem : '';
}

describe('the pulumi program', () => {
  test('is mounted with its hosts and plugins, and with nothing else that lies beside it', async () => {
    const path = pulumi('home/bin/pulumi');
    program('home/bin/pulumi-language-nodejs', '');
    program('home/bin/pulumi-resource-pulumi-nodejs', '');
    program('home/bin/pulumictl', '');
    program('home/bin/deploy-to-production', '');
    const target = (name: string) => join(folder, 'home/bin', name);
    expect(await inspectTool(path)).toEqual({
      tool: {
        path,
        version: '3.259.0',
        mounts: ['pulumi', 'pulumi-language-nodejs', 'pulumi-resource-pulumi-nodejs'].map((name) => ({
          source: target(name),
          target: target(name),
        })),
      },
    });
  });

  test('is found behind symbolic links, where its plugins are', async () => {
    const real = pulumi('opt/pulumi-3.259/bin/pulumi');
    const host = program('elsewhere/host', '');
    symlinkSync(host, join(folder, 'opt/pulumi-3.259/bin/pulumi-language-go'));
    mkdirSync(join(folder, 'bin'));
    symlinkSync(real, join(folder, 'bin/pulumi'));
    expect(await inspectTool(join(folder, 'bin/pulumi'))).toMatchObject({
      tool: {
        path: real,
        mounts: [
          { source: real, target: real },
          { source: host, target: join(dirname(real), 'pulumi-language-go') },
        ],
      },
    });
  });

  test.each([
    ['3.207.0', false],
    ['2.99.9', false],
    ['3.208.0', true],
    ['v3.300.1-alpha.12', true],
    ['v4.0.0', true],
  ])('of version %s is new enough: %s', async (version, isFit) => {
    const problem = await problemWith(pulumi('pulumi', version));
    if (isFit) expect(problem).toBe('');
    else expect(problem).toContain(`is pulumi ${version}; 3.208.0 or newer is needed`);
  });

  test('that is none is told from one, and why', async () => {
    expect(await problemWith(null)).toContain('PULUMI_PATH');
    expect(await problemWith(join(folder, 'missing'))).toContain('cannot be read');
    expect(await problemWith(folder)).toContain('cannot be read');
    expect(await problemWith(pulumi('my-pulumi'))).toContain('must be a file named pulumi');
    expect(await problemWith(program('pulumi', '#!/bin/sh\nexit 1\n'))).toContain('did not answer');
    const wrapper = program('lib/node_modules/pulumi/run.js', '#!/usr/bin/env node\n');
    mkdirSync(join(folder, 'bin'));
    symlinkSync(wrapper, join(folder, 'bin/pulumi'));
    expect(await problemWith(join(folder, 'bin/pulumi'))).toContain('npm wrapper');
  });
});

describe('the vendor', () => {
  const node = { source: '/srv/node', target: '/opt/node', pathEntry: '/opt/node/bin' };
  const go = { source: '/usr/local/go', target: '/usr/local/go', pathEntry: '/usr/local/go/bin' };

  test('offers other tools behind its own', async () => {
    const path = pulumi('bin/pulumi');
    const vendor = await createPulumiVendor({ pulumiPath: path, extraTools: [node, go] });
    expect(vendor.tool).toEqual({ path, version: '3.259.0' });
    expect(vendor.toolProblem).toBeNull();
    expect(vendor.toolMounts()).toEqual([
      { source: path, target: path },
      { source: '/srv/node', target: '/opt/node' },
    ]);
    expect(vendor.toolPath()).toEqual([join(folder, 'bin'), '/opt/node/bin', '/usr/local/go/bin']);
  });

  test('puts its files where no directory of a run can lie over them', async () => {
    const path = pulumi('moved/pulumi');
    const vendor = await createPulumiVendor({ pulumiPath: path, insideDirectory: '/opt/pulumi' });
    expect(vendor.toolMounts()).toEqual([{ source: path, target: '/opt/pulumi/pulumi' }]);
    expect(vendor.toolPath()).toEqual(['/opt/pulumi']);
  });

  test('is there without a tool, and says what is wrong', async () => {
    const vendor = await createPulumiVendor({ pulumiPath: null });
    expect(vendor.tool).toBeNull();
    expect(vendor.toolProblem).toContain('not found');
    expect(vendor.toolMounts()).toEqual([]);
    expect(vendor.toolPath()).toEqual([]);
  });

  test('remembers for one binary that it refuses the specified select, and forgets when that is replaced', async () => {
    const path = pulumi('bin/pulumi');
    const vendor = await createPulumiVendor({ pulumiPath: path });
    const context = {
      settings: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
      paths: { checkout: '/w', projectRoot: '/w', home: '/h', login: '/l', output: '/o', cache: null },
      localStateDirectory: null,
    };
    const select = () => vendor.initialize(context)[1];
    expect(select()?.command.argv).toContain('--select');
    select()?.fallback?.remember();
    expect(select()?.command.argv).toContain('--stack');
    expect((await createPulumiVendor({ pulumiPath: path })).initialize(context)[1]?.fallback).toBeDefined();

    pulumi('bin/pulumi', 'v3.260.0-that-is-longer');
    expect(select()?.command.argv).toContain('--select');
  });
});
