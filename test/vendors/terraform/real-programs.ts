import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { findTool, toolCacheDir } from '../../../src/tools.ts';
import { type Flavour, opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import { createTerraformVendor } from '../../../src/vendors/terraform/vendor.ts';
import type {
  ApplyOptions,
  CommandOutputs,
  Vendor,
  VendorCommand,
  VendorContext,
} from '../../../src/worker/vendor.ts';
import type { PlanResult } from '../../../src/worker/vendor-results.ts';
import { bytesOf } from '../pulumi/recordings.ts';

const { PATH = '', TERRAFORM_PATH, TOFU_PATH, XDG_CACHE_HOME } = process.env;
const cacheDir = toolCacheDir(homedir(), XDG_CACHE_HOME);

/** Those of the two that this machine has; each vendor as a server without a sandbox has it. */
export const installed: readonly { readonly flavour: Flavour; readonly vendor: Vendor }[] = (
  await Promise.all(
    [
      { flavour: terraform, found: findTool('terraform', { setting: TERRAFORM_PATH, path: PATH, cacheDir }) },
      { flavour: opentofu, found: findTool('tofu', { setting: TOFU_PATH, path: PATH, cacheDir }) },
    ].map(async ({ flavour, found }) => ({
      flavour,
      vendor: await createTerraformVendor({ flavour, path: found?.path ?? null }),
    })),
  )
).filter(({ vendor }) => vendor.tool !== null);

export interface Project extends AsyncDisposable {
  readonly context: VendorContext;
  write(name: string, text: string): void;
  /** As the worker does it, without a sandbox. */
  run(
    command: Pick<VendorCommand, 'argv' | 'environment'>,
    more?: Record<string, string>,
  ): Promise<CommandOutputs>;
  /** The commands of initialization; those that ran, in order. The last may have failed. */
  initialize(more?: Record<string, string>): Promise<readonly CommandOutputs[]>;
  /** The commands of planning, and what they mean. */
  plan(
    kind?: 'apply' | 'destroy',
    more?: Record<string, string>,
  ): Promise<{ readonly outputs: readonly CommandOutputs[]; readonly result: PlanResult }>;
  /** Of the plan made last, unless `options` say otherwise. */
  apply(kind?: 'apply' | 'destroy', options?: Partial<ApplyOptions>): Promise<CommandOutputs>;
}

/** A checkout with a home, and the state of `stateUrl` in a folder that a shell would have to quote. */
export function project(
  vendor: Vendor,
  settings: Record<string, unknown> = { stateUrl: 'file:///state' },
  cache: string | null = null,
): Project {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-real-'));
  const inside = (name: string) => join(folder, name);
  for (const name of ['workspace', 'home', 'output', 'my state #1']) mkdirSync(inside(name));
  const context: VendorContext = {
    settings: { [vendor.name]: settings },
    paths: {
      checkout: inside('workspace'),
      projectRoot: inside('workspace'),
      home: inside('home'),
      login: inside('login'),
      output: inside('output'),
      cache,
    },
    localStateDirectory: 'stateUrl' in settings ? inside('my state #1') : null,
  };
  const { output, home, projectRoot } = context.paths;

  const run: Project['run'] = async ({ argv: [file, ...args], environment }, more = {}) => {
    const { exitCode, stdout, stderr } = await execa(file, args, {
      cwd: projectRoot,
      env: {
        PATH: [...vendor.toolPath(), '/usr/bin', '/bin'].join(':'),
        HOME: home,
        ...more,
        ...vendor.baseEnvironment(context),
        ...environment,
      },
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
    });
    const read: CommandOutputs['read'] = async (name) => {
      const stat = statSync(join(output, name), { throwIfNoEntry: false });
      return stat === undefined ? null : bytesOf(readFileSync(join(output, name)));
    };
    const captured = Buffer.from(stdout);
    return { exitCode: exitCode ?? -1, stdoutTail: stdout, stderrTail: stderr, read, captured };
  };

  return {
    context,
    run,
    write: (name, text) => {
      mkdirSync(join(projectRoot, name, '..'), { recursive: true });
      writeFileSync(join(projectRoot, name), text);
    },
    async initialize(more) {
      const outputs: CommandOutputs[] = [];
      for (const { command } of vendor.initialize(context)) {
        outputs.push(await run(command, more));
        if (outputs.at(-1)?.exitCode !== 0) break;
      }
      return outputs;
    },
    async plan(kind = 'apply', more = {}) {
      const [first, ...others] = vendor.plan(context, kind);
      const outputs: [CommandOutputs, ...CommandOutputs[]] = [await run(first, more)];
      if (first.successCodes?.includes(outputs[0].exitCode)) {
        for (const command of others) outputs.push(await run(command, more));
      }
      return { outputs, result: await vendor.readPlan(outputs, kind) };
    },
    apply: (kind = 'apply', options = {}) => {
      const planPath = join(output, 'plan.tfplan');
      return run(vendor.apply(context, kind, { planPath, followsPlan: true, ...options }));
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}
