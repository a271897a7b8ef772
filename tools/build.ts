import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { CachedTool } from '../src/tools.ts';
import { UserError } from '../src/user-error.ts';
import { say, withElapsedTime } from './progress.ts';

type Module = CachedTool['modules'][number];

export interface Build {
  label: string;
  /** Expected time of a first build. */
  minutes: number;
  /** Where people get the tool who do not want to build it. */
  site: string;
}

/** Names of unfinished builds begin with this. */
const unfinished = 'building-';

/**
 * Builds every file of a tool with `go` and moves them into the cache in one step, so that nobody ever sees half of them.
 * The caller holds the set-up lock: what an earlier, killed build left behind can be removed without asking whose it is.
 */
export async function buildTool(what: Build, tool: CachedTool, signal: AbortSignal): Promise<void> {
  for (const module of tool.modules) await checkGo(what, tool, module);
  const parent = dirname(tool.dir);
  await mkdir(parent, { recursive: true });
  await removeLeftovers(parent);
  say(`building ${what.label} with go, about ${what.minutes} min the first time`);
  const building = await mkdtemp(join(parent, unfinished));
  const binDir = join(building, 'bin');
  const tmpDir = join(building, 'tmp');
  try {
    await mkdir(binDir);
    // go leaves its temporary files behind when it is stopped; here they go with the rest.
    await mkdir(tmpDir);
    const environment = { ...tool.environment, GOTMPDIR: tmpDir };
    await withElapsedTime(`building ${what.label}`, async () => {
      for (const module of tool.modules) await buildModule({ ...tool, environment }, module, binDir, signal);
    });
    await rm(tmpDir, { recursive: true });
    // mkdtemp makes it 0700; programs in it are for every user a sandbox may run as.
    await chmod(building, 0o755);
    // Only an incomplete folder can be in the way here: a complete one would have been used.
    await rm(tool.dir, { recursive: true, force: true });
    await rename(building, tool.dir);
  } finally {
    // With retries, because the compilers of a stopped go end a little later than go itself.
    await rm(building, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function buildModule(
  tool: CachedTool,
  module: Module,
  binDir: string,
  signal: AbortSignal,
): Promise<void> {
  // The trailing slash tells go to write one file for each package, named after the package's last part.
  const build = ['build', ...tool.flags, ...module.flags, '-o', `${binDir}/`, ...module.packages];
  await go(tool, module, build, signal);
  if (module.copies === undefined) return;
  const list = ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module.copies.module];
  const source = await go(tool, module, list, signal);
  for (const file of module.copies.files) {
    const target = join(binDir, basename(file));
    await copyFile(join(source, file), target);
    await chmod(target, 0o755);
  }
}

async function go(
  tool: CachedTool,
  module: Module,
  args: string[],
  cancelSignal: AbortSignal,
): Promise<string> {
  const cwd = join(tool.recipeDir, module.folder);
  const result = await execa('go', args, { cwd, env: tool.environment, cancelSignal, reject: false });
  cancelSignal.throwIfAborted();
  if (!result.failed) return result.stdout;
  const lastLines = result.stderr.trimEnd().split('\n').slice(-20);
  for (const line of lastLines) say(`  ${line}`);
  const end = result.signal ?? `exit code ${result.exitCode}`;
  throw new UserError('build-failed', `go ${args[0]} in tools/${module.folder} ended with ${end}`);
}

async function checkGo(what: Build, tool: CachedTool, module: Module): Promise<void> {
  const folder = join(tool.recipeDir, module.folder);
  const needed = /^go (\S+)$/m.exec(await readFile(join(folder, 'go.mod'), 'utf8'))?.[1] ?? '';
  // Asked inside the module, where a go that may fetch a newer one (GOTOOLCHAIN=auto) does so.
  const { stdout, exitCode } = await execa('go', ['env', 'GOVERSION'], {
    cwd: folder,
    env: tool.environment,
    reject: false,
  });
  const present = stdout?.trim().replace(/^go/, '') ?? '';
  if (exitCode === 0 && isAtLeast(present, needed)) return;
  const trouble =
    exitCode === undefined ? 'there is no go to build it' : `the go on PATH is ${present || 'too old'}`;
  throw new UserError('tool-missing', `${what.label}: not found, and ${trouble}`, {
    hint: `Install it from ${what.site}, or Go ${needed} or newer (https://go.dev/dl/), and run this again.`,
  });
}

function isAtLeast(present: string, needed: string): boolean {
  // A version that does not begin with numbers is a development build, newer than any release.
  if (!/^\d/.test(present)) return true;
  const numbers = (version: string) => version.split(/[^\d]/, 3).map(Number);
  const [have, want] = [numbers(present), numbers(needed)];
  for (let i = 0; i < 3; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(unfinished)) await rm(join(parent, name), { recursive: true, force: true });
  }
}
