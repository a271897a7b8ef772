/**
 * Runs the real pulumi through the stories of fixture-cases/ and records what it left into test/fixtures/pulumi: one folder
 * for each recorded command with its streams, exit code and event log. The commands and variables are those of
 * src/vendors/pulumi, so that a fixture is what the product sees. Run it again after an update of pulumi and read the diff.
 *
 *   node tools/record-fixtures.ts [case]...
 */
import './node-version.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findTool, toolCacheDir } from '../src/tools.ts';
import * as commands from '../src/vendors/pulumi/commands.ts';
import { createPulumiVendor } from '../src/vendors/pulumi/vendor.ts';
import type { VendorCommand, VendorContext } from '../src/worker/vendor.ts';
import type { Case, Stage } from './fixture-cases/case.ts';
import { life, violations } from './fixture-cases/life.ts';
import { neutraliser } from './fixture-cases/neutral.ts';
import { brokenOff, dynamic, programs, providers, reads, wandering } from './fixture-cases/programs.ts';
import { quiet, quietComponent } from './fixture-cases/quiet.ts';
import { setUp } from './fixture-cases/set-up.ts';

const fixturesDir = fileURLToPath(new URL('../test/fixtures/pulumi', import.meta.url));
const cases = [
  ...[life, violations, setUp, dynamic, brokenOff, wandering, programs, reads, providers],
  ...[quiet, quietComponent],
];
const sdkVersion = '3.259.0';

const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);
const found = findTool('pulumi', {
  setting: process.env['PULUMI_PATH'],
  path: process.env['PATH'] ?? '',
  cacheDir,
});
const vendor = await createPulumiVendor({ pulumiPath: found?.path ?? null });
if (vendor.tool === null) throw new Error(vendor.toolProblem ?? 'no pulumi');

const root = await mkdtemp(join(tmpdir(), 'slipway-fixtures-'));
try {
  const wanted = process.argv.slice(2);
  const sdk = await installSdk(join(root, 'sdk'));
  for (const story of cases) {
    if (wanted.length === 0 || wanted.includes(story.name)) await tell(story, sdk);
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
// Events are in another order each time where the program's process and the engine race: read for content.
for (const args of [
  ['diff', '--stat'],
  ['ls-files', '--others', '--exclude-standard'],
]) {
  await execa('git', [...args, '--', '.'], { cwd: fixturesDir, stdio: 'inherit' });
}

async function installSdk(folder: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  console.log(`installing @pulumi/pulumi ${sdkVersion}`);
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@pulumi/pulumi@${sdkVersion}`];
  await execa('npm', args, { cwd: folder });
  return join(folder, 'node_modules');
}

async function tell(story: Case, sdk: string): Promise<void> {
  const folder = join(root, story.name);
  const inside = (name: string) => join(folder, name);
  for (const name of ['workspace', 'home', 'state']) await mkdir(inside(name), { recursive: true });
  await symlink(sdk, inside('workspace/node_modules'));
  for (const stage of story.stages) {
    for (const [name, text] of Object.entries(stage.files ?? {})) {
      if (text === null) await rm(inside(`workspace/${name}`), { recursive: true });
      else await writeFile(inside(`workspace/${name}`), text);
    }
    const lastPlan = await readFile(inside(`output/${commands.planFile}`)).catch(() => null);
    if (lastPlan) await writeFile(inside('plan.json'), lastPlan);
    if (stage.plan === 'garbage') await writeFile(inside('plan.json'), '{"resourcePlans": 1}');
    await rm(inside('output'), { recursive: true, force: true });
    await mkdir(inside('output'));
    const context: VendorContext = {
      settings: {
        pulumi: { loginUrl: stage.loginUrl ?? 'file:///state', stackName: stage.stackName ?? 'dev' },
      },
      paths: {
        projectRoot: inside('workspace'),
        home: inside('home'),
        login: inside('login'),
        output: inside('output'),
        cache: null,
      },
      localStateDirectory: stage.loginUrl === undefined ? inside('state') : null,
    };
    const command = commandOf(stage, context, inside('plan.json'));
    await using server = await refuseEverything();
    const removeLock = stage.isLocked ? await lock(inside('state')) : async () => {};
    const result = await execute(command, stage, context, server.url);
    await removeLock();
    console.log(`${story.name}: ${stage.record ?? stage.run} ended with ${result.exitCode}`);
    if (stage.record)
      await record(stage.record, { command, result, folder, keepsPlan: stage.keepsPlan ?? false });
    else if (result.exitCode !== 0) throw new Error(`${result.stdout}\n${result.stderr}`);
  }
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

interface Result {
  exitCode: number;
  stdout: string;
  stderr: string;
}

async function execute(
  command: VendorCommand,
  stage: Stage,
  context: VendorContext,
  refusingUrl: string,
): Promise<Result> {
  const programs = stage.hasBarePath ? [] : [dirname(process.execPath), '/usr/bin', '/bin'];
  const environment: Record<string, string | null> = {
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
    ...(stage.isEgressRefused && { HTTPS_PROXY: refusingUrl }),
    ...(stage.isTokenRefused && { PULUMI_BACKEND_URL: refusingUrl }),
  };
  const [program, ...args] = stage.isTokenRefused ? ['pulumi', 'login', refusingUrl] : command.argv;
  const child = spawn(program, args, {
    cwd: context.paths.projectRoot,
    env: Object.fromEntries(
      Object.entries(environment).filter(([, value]) => value !== null),
    ) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const result: Result = { exitCode: -1, stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      result[stream] += text;
      if (stage.interruptAt && text.includes(stage.interruptAt)) child.kill('SIGINT');
    });
  }
  const [exitCode] = await once(child, 'close');
  return { ...result, exitCode: Number(exitCode) };
}

/** A service that knows no token, and a proxy that lets nobody through. */
async function refuseEverything(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((_, response) => {
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end('{"code":401,"message":"Unauthorized"}');
  });
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
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

async function record(
  name: string,
  given: { command: VendorCommand; result: Result; folder: string; keepsPlan: boolean },
): Promise<void> {
  const { command, result, folder } = given;
  const neutral = neutraliser({
    [folder]: '',
    [join(root, 'sdk')]: '/sdk',
    [dirname(vendor.tool?.path ?? '')]: '/opt/pulumi/bin',
    [dirname(process.execPath)]: '/opt/node/bin',
  });
  const target = join(fixturesDir, name);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const events = await readFile(join(folder, 'output', commands.eventLogFile), 'utf8').catch(() => null);
  const plan = await readFile(join(folder, 'output', commands.planFile), 'utf8').catch(() => null);
  const about = {
    tool: `pulumi ${vendor.tool?.version}`,
    argv: command.argv,
    environment: command.environment,
    exitCode: result.exitCode,
    hasPlan: plan !== null,
  };
  await writeFile(join(target, 'command.json'), neutral(`${JSON.stringify(about, null, 2)}\n`));
  await writeFile(join(target, 'stdout.txt'), neutral(result.stdout));
  await writeFile(join(target, 'stderr.txt'), neutral(result.stderr));
  if (events !== null) await writeFile(join(target, commands.eventLogFile), neutral(events));
  if (given.keepsPlan && plan !== null) await writeFile(join(target, commands.planFile), neutral(plan));
}
