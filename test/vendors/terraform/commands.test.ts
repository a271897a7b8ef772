import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCommands } from '../../../src/vendors/terraform/commands.ts';
import { moduleNames } from '../../../src/vendors/terraform/configuration.ts';
import { baseEnvironment, refusesVariable } from '../../../src/vendors/terraform/environment.ts';
import { opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import { settingsSchema } from '../../../src/vendors/terraform/settings.ts';
import { inspectTool } from '../../../src/vendors/terraform/tool.ts';
import { createTerraformVendor } from '../../../src/vendors/terraform/vendor.ts';
import type { VendorContext } from '../../../src/worker/vendor.ts';

const contextOf = (settings: object, cache: string | null = null): VendorContext => ({
  settings: { opentofu: settings },
  paths: { checkout: '/w', projectRoot: '/w', home: '/h', login: '/l', output: '/output', cache },
  localStateDirectory: null,
});
const commands = createCommands(opentofu, '/opt/opentofu', 60);
const initialize = (settings: object, cache?: string) =>
  commands.initialize(contextOf(settings, cache)).map(({ command }) => command.argv.join(' '));

describe('the commands', () => {
  test('of a program with a backend of its own look whether it has one', () => {
    expect(initialize({ backendConfigFile: 'prod.hcl', workspace: 'prod' })).toEqual([
      'tofu init -input=false -no-color -backend-config=prod.hcl',
      'sh /opt/opentofu/check-backend.sh',
      'tofu workspace select -or-create -no-color prod',
    ]);
  });

  test('keep the state at Slipway, and fill the cache one at a time', () => {
    expect(initialize({ stateUrl: 'file:///state/net' }, '/cache')).toEqual([
      'mkdir -p /cache/opentofu',
      'cp /opt/opentofu/local-backend.tf zz_slipway_override.tf',
      'flock /cache/opentofu tofu init -input=false -no-color -backend-config=path=/state/net/root/terraform.tfstate -backend-config=workspace_dir=/state/net/root/workspaces',
      'sh /opt/opentofu/check-backend.sh /state/net/root/terraform.tfstate',
    ]);
    expect(baseEnvironment(opentofu, contextOf({}, '/cache'))).toMatchObject({
      TF_PLUGIN_CACHE_DIR: '/cache/opentofu',
      TF_DATA_DIR: '/h/.terraform-data',
    });
  });

  test('plan into a file, of which the rest is read and applied', () => {
    const context = contextOf({ variableFile: 'prod.tfvars', workspace: 'prod' });
    const [plan, show] = commands.plan(context, 'destroy');
    expect(plan.argv.join(' ')).toBe(
      'tofu plan -input=false -no-color -detailed-exitcode -lock-timeout=60s -out=/output/plan.tfplan -var-file=prod.tfvars -destroy',
    );
    expect(plan).toMatchObject({
      successCodes: [0, 2],
      environment: { TF_WORKSPACE: 'prod' },
      writesOutput: true,
    });
    expect(show).toMatchObject({
      capturesStdout: true,
      argv: ['tofu', 'show', '-json', '-no-color', '/output/plan.tfplan'],
    });
    const apply = (planPath: string | null) =>
      commands.apply(context, 'destroy', { planPath, followsPlan: true }).argv.join(' ');
    expect(apply('/plan')).toBe('tofu apply -input=false -no-color -lock-timeout=60s /plan');
    expect(apply(null)).toBe(
      'tofu apply -input=false -no-color -lock-timeout=60s -auto-approve -var-file=prod.tfvars -destroy',
    );
  });

  test('mean what they say, whatever people set', () => {
    for (const name of [
      'TF_CLI_ARGS',
      'TF_CLI_ARGS_plan',
      'TF_LOG',
      'TF_LOG_PATH',
      'TF_WORKSPACE',
      'TF_PLUGIN_CACHE_DIR',
    ]) {
      expect(refusesVariable(name), name).toBe(true);
    }
    for (const name of [
      'TF_VAR_size',
      'TF_TOKEN_app_terraform_io',
      'TF_HTTP_PASSWORD',
      'TF_ENCRYPTION',
      'TF_CLI_CONFIG_FILE',
    ]) {
      expect(refusesVariable(name), name).toBe(false);
    }
    for (const name of Object.keys(baseEnvironment(terraform, contextOf({}, '/cache')))) {
      expect(refusesVariable(name), name).toBe(true);
    }
  });
});

test.each([
  [{}, true],
  [{ stateUrl: 'file:///state/x', workspace: 'prod', variableFile: 'a/b.tfvars' }, true],
  [{ stateUrl: 'file:///etc' }, false],
  [{ stateUrl: 'file:///state', backendConfigFile: 'b.hcl' }, false],
  [{ workspace: '-or-create' }, false],
  [{ variableFile: '/etc/passwd' }, false],
  [{ backend: 'x' }, false],
])('settings %j are fit: %s', (settings, isFit) => {
  expect(settingsSchema.safeParse(settings).success).toBe(isFit);
});

test.each([
  ['', []],
  ['module.net', ['net']],
  ['module.net["a.b"].module.x[0]', ['net', 'x']],
  ['module.net["us\\"].module.q]"].module.x', ['net', 'x']],
])('%j is in the modules %j', (address, names) => {
  expect(moduleNames(address)).toEqual(names);
});

describe('the program', () => {
  function program(folder: string, path: string, label: string, version: string): string {
    const file = join(folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    // No script: those are taken for what a version manager puts there.
    writeFileSync(file, `\necho '${label} v${version}'\n`);
    chmodSync(file, 0o755);
    return file;
  }

  test('must be the right one, new enough, and itself', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-tool-'));
    try {
      const problem = async (path: string | null) => {
        const inspected = await inspectTool(terraform, path);
        return 'problem' in inspected ? inspected.problem : '';
      };
      expect(await problem(null)).toContain('TERRAFORM_PATH');
      expect(await problem(join(folder, 'missing'))).toContain('cannot be read');
      const shim = join(folder, 'shim');
      writeFileSync(shim, '#!/bin/sh\n', { mode: 0o755 });
      expect(await problem(shim)).toContain('is a script');
      expect(await problem(program(folder, 'a/terraform-1.11', 'Terraform', '1.11.4'))).toContain(
        'named terraform',
      );
      const elsewhere = program(folder, 'b/tofu', 'OpenTofu', '1.12.6');
      symlinkSync(elsewhere, join(folder, 'terraform'));
      expect(await problem(join(folder, 'terraform'))).toContain('named terraform');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('that is missing leaves a vendor that says so', async () => {
    const vendor = await createTerraformVendor({
      flavour: terraform,
      path: null,
      insideDirectory: '/opt/terraform',
    });
    expect(vendor).toMatchObject({ tool: null, toolProblem: expect.stringContaining('was not found') });
    expect([vendor.toolMounts(), vendor.toolPath()]).toEqual([[], []]);
    expect(['main.tf', 'main.tf.json', 'a.tofu', 'x.tfvars'].filter(vendor.projectFile.matches)).toEqual([
      'main.tf',
      'main.tf.json',
    ]);
  });
});
