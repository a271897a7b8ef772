import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installed, project } from './real-programs.ts';

if (installed.length === 0) {
  throw new Error('These tests need terraform or tofu. Run `npm run setup -- --with tofu`.');
}

const resource = (body: string) => `resource "terraform_data" "a" {\n  ${body}\n}\n`;
const variable = 'variable "pw" {\n  type      = string\n  sensitive = true\n}\n';

describe.each(installed)('the real $flavour.label', ({ flavour, vendor }) => {
  test('plans and applies what was planned, and then has nothing to change', async () => {
    await using work = project(vendor);
    work.write('main.tf', variable + resource('input = { pw = var.pw, open = "ü→" }'));
    const secret = { TF_VAR_pw: 'hunter22xyz' };
    for (const { exitCode, stderrTail } of await work.initialize()) expect(exitCode, stderrTail).toBe(0);
    const first = await work.plan('apply', secret);
    expect(first.result).toMatchObject({
      ...{ kind: 'planned', hasChanges: true, planFile: 'plan.tfplan', secrets: ['hunter22xyz'] },
      delta: { added: 1, changed: 0, deleted: 0, resources: 1 },
    });
    expect(await vendor.readApply(await work.apply(), async () => [])).toEqual({ kind: 'applied' });
    expect(readdirSync(join(work.context.localStateDirectory ?? '', 'root'))).toContain('terraform.tfstate');
    // Nothing of ours but the override, and no state.
    expect(readdirSync(work.context.paths.projectRoot)).toEqual(['main.tf', 'zz_slipway_override.tf']);

    const again = await work.plan('apply', secret);
    expect(again.result).toMatchObject({ hasChanges: false, secrets: ['hunter22xyz'] });
    if (again.result.kind !== 'planned') throw new Error('not planned');
    // The second time terraform_data gives the secret out as none.
    expect(again.outputs[1]?.stdoutTail).toContain('hunter22xyz');
    expect(JSON.stringify([again.result.steps, again.result.document])).not.toContain('hunter22xyz');
  });

  test('holds back all that may show a value that it forgets to hide', async () => {
    await using work = project(vendor);
    work.write('main.tf', variable + resource('input = var.pw'));
    const secret = { TF_VAR_pw: 'hunter22xyz' };
    await work.initialize();
    await work.plan('apply', secret);
    await work.apply();
    const { outputs } = await work.plan('apply', { TF_VAR_pw: 'other44xyz' });
    const stdout = outputs[0]?.stdoutTail ?? '';
    expect(stdout).toContain('hunter22xyz');
    const begins = (vendor.plan(work.context, 'apply')[0].holdsBackAfter ?? []).map((text) =>
      stdout.indexOf(text),
    );
    expect(Math.min(...begins.filter((at) => at !== -1))).toBeLessThan(stdout.indexOf('hunter22xyz'));
  });

  test('refuses the plan of a state that has moved on', async () => {
    await using work = project(vendor);
    work.write('main.tf', resource('input = 1'));
    await work.initialize();
    await work.plan();
    await work.apply();
    expect(await vendor.readApply(await work.apply(), async () => [])).toMatchObject({
      kind: 'plan-changed',
    });
  });

  test('tears down what was planned, and applies without a plan where binding is off', async () => {
    await using work = project(vendor, { stateUrl: 'file:///state', variableFile: 'env/prod.tfvars' });
    work.write('main.tf', `variable "size" {}\n${resource('input = var.size')}`);
    work.write('env/prod.tfvars', 'size = 3\n');
    await work.initialize();
    const unbound = { planPath: null, followsPlan: false };
    expect(await work.apply('apply', unbound)).toMatchObject({ exitCode: 0, stderrTail: '' });
    expect((await work.plan('destroy')).result).toMatchObject({
      hasChanges: true,
      delta: { deleted: 1, resources: 0 },
    });
    expect(await work.apply('destroy')).toMatchObject({ exitCode: 0 });
    expect(await work.apply('destroy', unbound)).toMatchObject({ exitCode: 0 });
    expect((await work.plan('destroy')).result).toMatchObject({ hasChanges: false });
  });

  test('keeps to the workspace of the stack, and makes it', async () => {
    await using work = project(vendor, { stateUrl: 'file:///state', workspace: 'prod' });
    work.write('main.tf', resource('input = terraform.workspace'));
    await work.initialize();
    const select = [flavour.program, 'workspace', 'select', 'default'] as const;
    expect(await work.run({ argv: select, environment: {} })).toMatchObject({ exitCode: 0 });
    const { result } = await work.plan();
    expect(result).toMatchObject({ steps: [{ new: { inputs: { input: 'prod' } } }] });
    expect(await work.apply()).toMatchObject({ exitCode: 0 });
    const state = join(
      work.context.localStateDirectory ?? '',
      'root',
      'workspaces',
      'prod',
      'terraform.tfstate',
    );
    expect(readFileSync(state, 'utf8')).toContain('"prod"');
  });

  test('works on a fresh checkout, with what it left of the state', async () => {
    await using work = project(vendor);
    work.write('main.tf', resource('input = 1'));
    await work.initialize();
    await work.plan();
    await work.apply();
    for (const path of [
      work.context.paths.home,
      join(work.context.paths.projectRoot, 'zz_slipway_override.tf'),
    ]) {
      rmSync(path, { recursive: true });
    }
    await work.initialize();
    expect((await work.plan()).result).toMatchObject({ hasChanges: false, delta: { resources: 1 } });
  });

  test('is not let loose on a state that would be gone with the workspace', async () => {
    await using work = project(vendor, {});
    work.write('main.tf', resource('input = 1'));
    const last = (await work.initialize()).at(-1);
    if (!last) throw new Error('nothing ran');
    expect(vendor.explain(last)).toMatchObject({
      message: expect.stringContaining('No backend keeps the state'),
    });
  });

  const override = 'zz_slipway_override';
  const inTheWay = [`${override}.tf/main.tf`, ...(flavour.program === 'tofu' ? [`${override}.tofu`] : [])];
  test.each(inTheWay)('does not lose a state kept by Slipway to %s in the repository', async (path) => {
    await using work = project(vendor);
    work.write('main.tf', resource('input = 1'));
    work.write(path, '');
    const last = (await work.initialize()).at(-1);
    if (!last) throw new Error('nothing ran');
    expect(vendor.explain(last)).toMatchObject({
      message: expect.stringContaining('overrules where its state is kept'),
    });
  });
});
