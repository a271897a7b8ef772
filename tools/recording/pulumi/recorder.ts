import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { findTool, toolCacheDir } from '../../../src/tools.ts';
import * as commands from '../../../src/vendors/pulumi/commands.ts';
import { createPulumiVendor } from '../../../src/vendors/pulumi/vendor.ts';
import type { Vendor, VendorCommand, VendorContext } from '../../../src/worker/vendor.ts';
import { execute } from '../execution.ts';
import type { Recorder, Recording, Result } from '../recorder.ts';
import { refuseEverything } from '../refusing-service.ts';
import { changeFiles } from '../workspace.ts';
import { life, violations } from './life.ts';
import { brokenOff, dynamic, programs, providers, reads, uncompiled, wandering } from './programs.ts';
import { quiet, quietComponent } from './quiet.ts';
import { sampleStories } from './samples.ts';
import { setUp } from './set-up.ts';
import type { PulumiStory, Stage } from './story.ts';

const sdkVersion = '3.259.0';

interface World {
  readonly vendor: Vendor;
  readonly toolDir: string;
  /** The `node_modules` of every program. */
  readonly sdk: string;
}

export async function openPulumi(folder: string): Promise<Recorder> {
  const found = findTool('pulumi', {
    setting: process.env['PULUMI_PATH'],
    path: process.env['PATH'] ?? '',
    cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
  });
  const vendor = await createPulumiVendor({ pulumiPath: found?.path ?? null });
  if (vendor.tool === null) throw new Error(vendor.toolProblem ?? 'no pulumi');
  const sdk = await installSdk(folder);
  const world = { vendor, toolDir: dirname(vendor.tool.path), sdk };
  const stories = [
    ...[life, violations, setUp, dynamic, brokenOff, wandering, programs, uncompiled, reads, providers],
    ...[quiet, quietComponent],
    ...(await sampleStories()),
  ];
  return {
    tool: `pulumi ${vendor.tool.version}`,
    stories: stories.map((story) => ({
      name: story.name,
      records: story.stages.flatMap(({ record }) => record ?? []),
      tell: (own) => tell(world, story, own),
    })),
  };
}

async function installSdk(folder: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@pulumi/pulumi@${sdkVersion}`];
  await execa('npm', args, { cwd: folder });
  return join(folder, 'node_modules');
}

async function* tell(world: World, story: PulumiStory, folder: string): AsyncGenerator<Recording> {
  const inside = (name: string) => join(folder, name);
  for (const name of ['workspace', 'home', 'state']) await mkdir(inside(name));
  if (story.prepare === undefined) await symlink(world.sdk, inside('workspace/node_modules'));
  let steps = story.prepare ?? [];
  for (const stage of story.stages) {
    await changeFiles(inside('workspace'), stage.files ?? {});
    for (const step of steps) await execa('sh', ['-ec', step], { cwd: inside('workspace') });
    steps = [];
    const lastPlan = await readFile(inside(`output/${commands.planFile}`)).catch(() => null);
    if (lastPlan) await writeFile(inside('plan.json'), lastPlan);
    if (stage.plan === 'garbage') await writeFile(inside('plan.json'), '{"resourcePlans": 1}');
    await rm(inside('output'), { recursive: true, force: true });
    await mkdir(inside('output'));
    const context = contextOf(stage, inside);
    const command = commandOf(stage, context, inside('plan.json'));
    const removeLock = stage.isLocked ? await lock(inside('state')) : null;
    const machine = story.prepare === undefined ? null : machineEnvironment(inside('workspace'));
    const result = await run(world, { stage, context, command, machine });
    await removeLock?.();
    if (stage.record) yield await recordingOf(world, { name: stage.record, stage, command, result, folder });
    else if (result.exitCode !== 0) throw new Error(`${result.stdout}\n${result.stderr}`);
  }
}

function contextOf(stage: Stage, inside: (name: string) => string): VendorContext {
  return {
    settings: {
      pulumi: { loginUrl: stage.loginUrl ?? 'file:///state', stackName: stage.stackName ?? 'dev' },
    },
    paths: {
      checkout: inside('workspace'),
      projectRoot: inside('workspace'),
      home: inside('home'),
      login: inside('login'),
      output: inside('output'),
      cache: null,
    },
    localStateDirectory: stage.loginUrl === undefined ? inside('state') : null,
  };
}

function commandOf(stage: Stage, context: VendorContext, planPath: string): VendorCommand {
  const applyOptions = { planPath: stage.plan ? planPath : null, followsPlan: stage.plan === 'followed' };
  switch (stage.run) {
    case 'login':
      return commands.login(context);
    case 'select-as-specified':
      return commands.selectAsSpecified(context);
    case 'select':
      return commands.selectAsReleased(context);
    case 'preview':
      return commands.plan(context, 'apply');
    case 'destroy-preview':
      return commands.plan(context, 'destroy');
    case 'up':
      return commands.apply(context, 'apply', applyOptions);
    case 'destroy':
      return commands.apply(context, 'destroy', applyOptions);
  }
}

/** Programs in Go are built by the Go of this machine. */
const withGo = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => existsSync(join(folder, 'go')));

async function run(
  { vendor }: World,
  given: {
    stage: Stage;
    context: VendorContext;
    command: VendorCommand;
    /** Null: only Pulumi, Node and the system are there. */
    machine: Record<string, string | undefined> | null;
  },
): Promise<Result> {
  const { stage, context, command, machine } = given;
  await using service = await refuseEverything();
  const system = machine?.['PATH'] ?? '/usr/bin:/bin';
  const programs = stage.hasBarePath ? [] : [dirname(process.execPath), ...withGo, system];
  return await execute({
    argv: stage.isTokenRefused ? ['pulumi', 'login', service.url] : command.argv,
    cwd: context.paths.projectRoot,
    environment: {
      ...machine,
      PATH: [...vendor.toolPath(), ...programs].join(':'),
      HOME: context.paths.home,
      // The Node SDK leaves its pipes there.
      TMPDIR: context.paths.home,
      USER: 'slipway',
      PULUMI_CONFIG_PASSPHRASE: 'a passphrase',
      PULUMI_ACCESS_TOKEN: 'pul-0000000000000000000000000000000000000000',
      // One at a time, so that two recordings have their steps in the same order.
      PULUMI_PARALLEL: '1',
      ...vendor.baseEnvironment(context),
      ...command.environment,
      ...stage.environment,
      ...(stage.isEgressRefused && { HTTPS_PROXY: service.url }),
      ...(stage.isTokenRefused && { PULUMI_BACKEND_URL: service.url }),
    },
    interruptAt: stage.interruptAt === undefined ? [] : [stage.interruptAt],
  });
}

/** Of this process, with what a program in Python was given, and Go's caches where they are although HOME is another. */
function machineEnvironment(projectRoot: string): Record<string, string | undefined> {
  const [GOPATH, GOCACHE] = [join(homedir(), 'go'), join(homedir(), '.cache/go-build')];
  return { GOPATH, GOCACHE, ...process.env, PATH: `${projectRoot}/venv/bin:${process.env['PATH']}` };
}

/** As another pulumi would leave it: pkg/backend/diy/lock.go. */
async function lock(stateDir: string): Promise<() => Promise<void>> {
  const folder = join(stateDir, '.pulumi/locks/organization/sample/dev');
  await mkdir(folder, { recursive: true });
  const content = {
    pid: 4242,
    username: 'somebody',
    hostname: 'elsewhere',
    timestamp: '2026-01-01T00:00:00Z',
  };
  await writeFile(join(folder, '11111111-1111-4111-8111-111111111111.json'), JSON.stringify(content));
  return () => rm(folder, { recursive: true });
}

async function recordingOf(
  { toolDir, sdk }: World,
  given: { name: string; stage: Stage; command: VendorCommand; result: Result; folder: string },
): Promise<Recording> {
  const { name, stage, command, result, folder } = given;
  const output = (file: string) => readFile(join(folder, 'output', file), 'utf8').catch(() => null);
  const events = await output(commands.eventLogFile);
  const plan = await output(commands.planFile);
  return {
    name,
    commands: [{ command, result }],
    files: {
      ...(events !== null && { [commands.eventLogFile]: events }),
      ...(stage.keepsPlan && plan !== null && { [commands.planFile]: plan }),
    },
    hasPlan: plan !== null,
    places: {
      [folder]: '',
      [dirname(sdk)]: '/sdk',
      [toolDir]: '/opt/pulumi/bin',
      [dirname(process.execPath)]: '/opt/node/bin',
    },
  };
}
