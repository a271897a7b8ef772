import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTool, toolCacheDir } from '../../../src/tools.ts';
import { createPulumiVendor } from '../../../src/vendors/pulumi/vendor.ts';
import type { CommandOutputs, VendorCommand, VendorContext } from '../../../src/worker/vendor.ts';
import { bytesOf } from './recordings.ts';

const { PATH = '', PULUMI_PATH, XDG_CACHE_HOME } = process.env;
const cacheDir = toolCacheDir(homedir(), XDG_CACHE_HOME);
const found = findTool('pulumi', { setting: PULUMI_PATH, path: PATH, cacheDir });
const vendor = await createPulumiVendor({ pulumiPath: found?.path ?? null });
if (vendor.tool === null)
  throw new Error(`These tests need pulumi: ${vendor.toolProblem}. Run \`npm run setup\`.`);

let folder: string;
let context: VendorContext;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-real-'));
  const inside = (name: string) => join(folder, name);
  // A name that a URL has to encode.
  for (const name of ['workspace', 'home', 'output', 'my state 100% #1?']) mkdirSync(inside(name));
  context = {
    settings: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    paths: {
      checkout: inside('workspace'),
      projectRoot: inside('workspace'),
      home: inside('home'),
      login: inside('login'),
      output: inside('output'),
      cache: null,
    },
    localStateDirectory: inside('my state 100% #1?'),
  };
  program('{input: {open: a, hidden: {fn::secret: deep}}}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(properties: string, rest = ''): void {
  const text = `name: sample\nruntime: yaml\nresources:\n  one:\n    type: pulumi:Stash\n    properties: ${properties}\n${rest}`;
  writeFileSync(join(context.paths.projectRoot, 'Pulumi.yaml'), text);
}

/** As the worker does it, without a sandbox. */
async function run(
  { argv: [file, ...args], environment }: Pick<VendorCommand, 'argv' | 'environment'>,
  more: Record<string, string> = {},
): Promise<CommandOutputs> {
  const { output, home, projectRoot } = context.paths;
  const { exitCode, stdout, stderr } = await execa(file, args, {
    cwd: projectRoot,
    env: {
      PATH: [...vendor.toolPath(), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      USER: 'slipway',
      PULUMI_CONFIG_PASSPHRASE: 'a passphrase',
      ...vendor.baseEnvironment(context),
      ...environment,
      ...more,
    },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
  });
  const read: CommandOutputs['read'] = async (name) => {
    const stat = statSync(join(output, name), { throwIfNoEntry: false });
    return stat === undefined ? null : bytesOf(readFileSync(join(output, name)));
  };
  return { exitCode: exitCode ?? -1, stdoutTail: stdout, stderrTail: stderr, read, captured: null };
}

const readApply = (outputs: CommandOutputs) => vendor.readApply(outputs, async () => []);
const pulumi = (...args: string[]) => run({ argv: ['pulumi', ...args], environment: {} });

async function initialize(): Promise<void> {
  for (const { command, fallback } of vendor.initialize(context)) {
    let result = await run(command);
    if (fallback?.when({ exitCode: result.exitCode, stderr: result.stderrTail })) {
      fallback.remember();
      result = await run(fallback.command);
    }
    expect(result).toMatchObject({ exitCode: 0 });
  }
}

/** Previews, and keeps the plan where the next command finds it, as the worker does. */
async function plan() {
  const result = await vendor.readPlan([await run(vendor.plan(context, 'apply')[0])], 'apply');
  const planPath = join(folder, 'plan.json');
  if (result.kind === 'planned')
    writeFileSync(planPath, readFileSync(join(context.paths.output, 'plan.json')));
  return { result, planPath };
}

describe('the real pulumi', () => {
  test('refuses the specified `stack select`, is given the other form, and that is remembered', async () => {
    const fresh = await createPulumiVendor({ pulumiPath: found?.path ?? null });
    const [login, select] = fresh.initialize(context);
    if (!login || !select?.fallback) throw new Error('a fresh vendor knows no better');
    expect((await run(login.command)).stderrTail).toBe('');
    const { exitCode, stderrTail } = await run(select.command);
    expect({ exitCode, stderrTail }).toEqual({ exitCode: 1, stderrTail: 'error: unknown flag: --select' });
    expect(select.fallback.when({ exitCode, stderr: stderrTail })).toBe(true);
    for (let time = 1; time <= 2; time++) {
      expect(await run(select.fallback.command)).toMatchObject({ exitCode: 0 });
    }
    select.fallback.remember();
    expect(fresh.initialize(context)[1]).toEqual({ command: select.fallback.command });
  });

  test('plans and applies what was planned, and then has nothing to change', async () => {
    await initialize();
    const { result, planPath } = await plan();
    expect(result).toMatchObject({ kind: 'planned', hasChanges: true, planFile: 'plan.json' });
    expect(JSON.stringify(result)).toContain('"hidden":"[secret]"');
    expect(JSON.stringify(result)).not.toContain('deep');

    const up = await run(vendor.apply(context, 'apply', { planPath, followsPlan: true }));
    expect(await readApply(up)).toEqual({ kind: 'applied' });
    expect(up.stdoutTail).not.toContain('Previewing');
    expect((await plan()).result).toMatchObject({ hasChanges: false, delta: { resources: 2 } });

    program('{input: b}');
    const confirmed = await plan();
    const kept = await run(
      vendor.apply(context, 'apply', { planPath: confirmed.planPath, followsPlan: false }),
    );
    expect(await readApply(kept)).toEqual({ kind: 'applied' });
    expect(kept.stdoutTail).toContain('Previewing');
  });

  test('does not apply to a stack what differs from the confirmed plan', async () => {
    await initialize();
    const { planPath } = await plan();
    program('{input: something else}');
    const before = (await pulumi('stack', 'export')).stdoutTail;
    const result = await readApply(
      await run(vendor.apply(context, 'apply', { planPath, followsPlan: false })),
    );
    expect(result).toMatchObject({
      kind: 'plan-changed',
      message: expect.stringContaining('no longer holds'),
    });
    expect((await pulumi('stack', 'export')).stdoutTail).toBe(before);
  });

  test('tears down what was previewed', async () => {
    await initialize();
    await run(vendor.apply(context, 'apply', { planPath: null, followsPlan: true }));
    const preview = await vendor.readPlan([await run(vendor.plan(context, 'destroy')[0])], 'destroy');
    expect(preview).toMatchObject({ hasChanges: true, delta: { deleted: 2, resources: 0 }, planFile: null });
    const destroy = vendor.apply(context, 'destroy', { planPath: null, followsPlan: false });
    expect(await readApply(await run(destroy))).toEqual({ kind: 'applied' });
    expect(await vendor.readPlan([await run(vendor.plan(context, 'destroy')[0])], 'destroy')).toMatchObject({
      hasChanges: false,
    });
  });

  test('keeps to the run even when Pulumi.yaml and a hook ask for another backend and stack', async () => {
    program('{input: a}', 'backend: {url: "file:///nowhere"}\n');
    await initialize();
    expect(await pulumi('stack', 'select', '--create', '--stack', 'other')).toMatchObject({ exitCode: 0 });
    const { stdoutTail } = await pulumi('stack', '--show-name');
    expect(stdoutTail).toBe('dev');
  });

  test('works on a fresh checkout of a stack that has secrets', async () => {
    await initialize();
    await run(vendor.apply(context, 'apply', { planPath: null, followsPlan: true }));
    rmSync(context.paths.projectRoot, { recursive: true });
    rmSync(context.paths.home, { recursive: true });
    mkdirSync(context.paths.projectRoot);
    mkdirSync(context.paths.home);
    program('{input: {open: b, hidden: {fn::secret: deep}}}');
    await initialize();
    const { result, planPath } = await plan();
    expect(result).toMatchObject({ hasChanges: true, delta: { changed: 1 } });
    const up = await run(vendor.apply(context, 'apply', { planPath, followsPlan: false }));
    expect(await readApply(up)).toEqual({ kind: 'applied' });
  });

  test('lets tasks do what our hints advise, with the variables of every command', async () => {
    await initialize();
    for (const args of [['cancel'], ['config', 'set', 'size', '1'], ['plugin', 'ls'], ['stack', 'ls']]) {
      expect(await pulumi(...args), args.join(' ')).toMatchObject({ exitCode: 0 });
    }
  });

  test('needs no variable of ours to tell its version', async () => {
    expect(vendor.tool?.version).toMatch(/^3\.\d+\.\d+/);
    const hosts = vendor.toolMounts().map(({ target }) => target);
    if (!dirname(vendor.tool?.path ?? '').startsWith('/usr/')) expect(hosts).toContain(vendor.tool?.path);
  });
});
