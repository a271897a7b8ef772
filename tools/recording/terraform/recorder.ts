import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTool, toolCacheDir } from '../../../src/tools.ts';
import { planFile } from '../../../src/vendors/terraform/commands.ts';
import type { Flavour } from '../../../src/vendors/terraform/flavour.ts';
import { createTerraformVendor } from '../../../src/vendors/terraform/vendor.ts';
import type { Vendor, VendorCommand, VendorContext } from '../../../src/worker/vendor.ts';
import { execute } from '../execution.ts';
import type { OpenRecorder, Recorder, Recording } from '../recorder.ts';
import { refuseEverything } from '../refusing-service.ts';
import { changeFiles } from '../workspace.ts';
import { backends, contention, halfDone, setUp } from './failures.ts';
import { addresses, life, modules } from './life.ts';
import { readings } from './readings.ts';
import { remote } from './remote.ts';
import { secrets } from './secrets.ts';
import { serveState } from './state-service.ts';
import type { Stage, TerraformStory } from './story.ts';

const stories = [life, addresses, modules, secrets, halfDone, contention, remote, readings, setUp, backends];

interface World {
  readonly flavour: Flavour;
  readonly vendor: Vendor;
}

export function openTerraform(flavour: Flavour): OpenRecorder {
  return async (): Promise<Recorder> => {
    const found = findTool(flavour.program === 'tofu' ? 'tofu' : 'terraform', {
      setting: process.env[flavour.setting],
      path: process.env['PATH'] ?? '',
      cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
    });
    const vendor = await createTerraformVendor({ flavour, path: found?.path ?? null });
    if (vendor.tool === null) throw new Error(vendor.toolProblem ?? `no ${flavour.program}`);
    return {
      tool: `${flavour.name} ${vendor.tool.version}`,
      stories: stories.map((story) => ({
        name: story.name,
        records: story.stages.flatMap(({ record }) => record ?? []),
        tell: (folder) => tell({ flavour, vendor }, story, folder),
      })),
    };
  };
}

async function* tell(world: World, story: TerraformStory, folder: string): AsyncGenerator<Recording> {
  const inside = (name: string) => join(folder, name);
  for (const name of ['workspace', 'home', 'state', 'output']) await mkdir(inside(name));
  await using state = await serveState();
  for (const stage of story.stages) {
    await changeFiles(inside('workspace'), stage.files ?? {});
    if (stage.service) {
      state.behave(stage.service);
      await writeFile(inside('workspace/service.tfbackend'), state.backendConfig);
    }
    const context = contextOf(world, stage, inside);
    const lastPlan = await readFile(inside(`output/${planFile}`)).catch(() => null);
    if (lastPlan) await writeFile(inside(planFile), lastPlan);
    await rm(inside('output'), { recursive: true });
    await mkdir(inside('output'));
    const planPath = stage.plan === 'none' ? null : inside(planFile);
    const commands = commandsOf(world, stage, { context, planPath });
    const letGo = stage.isLocked ? await holdLock(world, context) : null;
    const ran = await runAll(world, { stage, context, commands });
    await letGo?.();
    if (stage.record === undefined) {
      const [last] = ran.slice(-1);
      if (last && !hasSucceeded(last)) throw new Error(`${last.result.stdout}\n${last.result.stderr}`);
      continue;
    }
    const captured = ran.find(({ command }) => command.capturesStdout);
    yield {
      name: stage.record,
      commands: ran,
      files: captured ? { 'plan.json': captured.result.stdout } : {},
      hasPlan: (await readFile(inside(`output/${planFile}`)).catch(() => null)) !== null,
      places: {
        [folder]: '',
        [state.url]: 'http://127.0.0.1:50000',
        [fileURLToPath(new URL('../../../src/vendors/terraform/inside', import.meta.url))]:
          `/opt/${world.flavour.name}`,
        [dirname(world.vendor.tool?.path ?? '')]: `/opt/${world.flavour.name}`,
      },
    };
  }
}

function contextOf({ flavour }: World, stage: Stage, inside: (name: string) => string): VendorContext {
  return {
    settings: { [flavour.name]: { stateUrl: 'file:///state', ...stage.settings } },
    paths: {
      checkout: inside('workspace'),
      projectRoot: inside('workspace'),
      home: inside('home'),
      login: inside('login'),
      output: inside('output'),
      cache: null,
    },
    localStateDirectory: stage.settings?.stateUrl === null ? null : inside('state'),
  };
}

function commandsOf(
  { vendor }: World,
  stage: Stage,
  { context, planPath }: { context: VendorContext; planPath: string | null },
): readonly VendorCommand[] {
  switch (stage.run) {
    case 'initialize':
      return vendor.initialize(context).map(({ command }) => command);
    case 'plan':
      return vendor.plan(context, 'apply');
    case 'destroy-plan':
      return vendor.plan(context, 'destroy');
    case 'apply':
      return [vendor.apply(context, 'apply', { planPath, followsPlan: false })];
    case 'destroy':
      return [vendor.apply(context, 'destroy', { planPath, followsPlan: false })];
  }
}

type Ran = Recording['commands'][number];

/** As a phase does: the first command that does not succeed is the last. */
async function runAll(
  { vendor }: World,
  given: { stage: Stage; context: VendorContext; commands: readonly VendorCommand[] },
): Promise<Ran[]> {
  const { stage, context, commands } = given;
  await using service = await refuseEverything();
  const refused = stage.isEgressRefused && { HTTPS_PROXY: service.url, HTTP_PROXY: service.url };
  const ran: Ran[] = [];
  for (const command of commands) {
    const result = await execute({
      argv: command.argv.map(impatient),
      cwd: context.paths.projectRoot,
      environment: {
        ...environmentOf(vendor, context),
        ...command.environment,
        ...stage.environment,
        ...refused,
      },
      interruptAt: stage.interruptAt ?? [],
    });
    ran.push({ command, result });
    if (!hasSucceeded({ command, result })) break;
  }
  return ran;
}

function environmentOf(vendor: Vendor, context: VendorContext): Record<string, string> {
  return {
    PATH: [...vendor.toolPath(), '/usr/bin', '/bin'].join(':'),
    HOME: context.paths.home,
    TMPDIR: context.paths.home,
    USER: 'slipway',
    // One at a time, so that two recordings have their steps in the same order.
    TF_CLI_ARGS_apply: '-parallelism=1',
    ...vendor.baseEnvironment(context),
  };
}

const hasSucceeded = ({ command, result }: Ran) => (command.successCodes ?? [0]).includes(result.exitCode);

/** Nobody gives a lock up here: waiting for it tells nothing new. */
const impatient = (argument: string) => argument.replace(/^-lock-timeout=\d+s$/, '-lock-timeout=1s');

/** Another process applies the program, which waits for the file `go`; gives what lets it end. */
async function holdLock({ vendor, flavour }: World, context: VendorContext): Promise<() => Promise<void>> {
  const { projectRoot } = context.paths;
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const done = execute({
    argv: [flavour.program, 'apply', '-input=false', '-no-color', '-auto-approve'],
    cwd: projectRoot,
    environment: environmentOf(vendor, context),
    onOutput: (text) => {
      if (text.includes('(local-exec): waiting')) resolve();
    },
  });
  const ended = done.then(({ stdout, stderr }) => {
    throw new Error(`the other process did not wait:\n${stdout}\n${stderr}`);
  });
  await Promise.race([isWaiting, ended]);
  ended.catch(() => {});
  return async () => {
    await writeFile(join(projectRoot, 'go'), '');
    await done;
    await rm(join(projectRoot, 'go'));
  };
}
