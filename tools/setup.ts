/**
 * Makes the programs available that the demo and the tests start; package.json runs it before them, so it is quick when all
 * is there. They are found afterwards by findTool of src/tools.ts, in the same places: nothing is passed on.
 */
import './node-version.js';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FoundTool, findTool, settingOf, toolCacheDir } from '../src/tools.ts';
import { UserError } from '../src/user-error.ts';
import { withLock } from './lock.ts';
import { say } from './progress.ts';
import { findSchemathesis } from './schemathesis.ts';
import { isSupplied, type SuppliedTool, supplyTool } from './supply.ts';

const help = `Usage: npm run setup -- [--with <tool>]... [--json]

Looks for pulumi and bubblewrap, and with --with for more: in the setting (PULUMI_PATH, OPA_PATH, TOFU_PATH), on PATH, in
the per-user cache. What is missing it builds with go into the cache, or installs with apt-get when root on Debian;
schemathesis it installs with pip into the cache, always.
The cache, $XDG_CACHE_HOME/slipway or ~/.cache/slipway, can be deleted at any time.

  --with <tool>   opa, tofu, terraform-provider-local, terraform-provider-random, chromium or schemathesis as
                  well; can be repeated
  --json          print what was found as one JSON value
  --help          this text`;

const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);

async function find(name: SuppliedTool): Promise<FoundTool | null> {
  if (name === 'schemathesis') return findSchemathesis(cacheDir);
  const settingName = settingOf(name);
  const setting = settingName === undefined ? undefined : process.env[settingName];
  return findTool(name, { setting, path: process.env['PATH'] ?? '', cacheDir });
}

async function findOrSupply(name: SuppliedTool, signal: AbortSignal): Promise<FoundTool> {
  const found = await find(name);
  if (found !== null) return found;
  const onWait = () => say('waiting for another set-up to finish');
  // One lock for all tools: a build uses every core anyway.
  await withLock(join(cacheDir, 'set-up.lock'), { signal, onWait }, async () => {
    if ((await find(name)) === null) await supplyTool(name, cacheDir, signal);
  });
  const supplied = await find(name);
  if (supplied !== null) return supplied;
  throw new UserError('tool-not-on-path', `${name} was installed, but not into a folder on PATH`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      with: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  // Who chose to run without a sandbox may be on a system that has no bubblewrap.
  const wanted: SuppliedTool[] = process.env['SANDBOX'] === 'none' ? ['pulumi'] : ['pulumi', 'bwrap'];
  for (const name of values.with) {
    if (!isSupplied(name))
      throw new UserError('unknown-tool', `--with ${name}: not a tool that the set-up can supply`);
    if (!wanted.includes(name)) wanted.push(name);
  }

  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Not `once`: execa's own listener ends the process at once when it finds itself alone.
    process.on(signal, () => stop.abort(new UserError('stopped', `stopped by ${signal}`)));
  }
  const found: Record<string, FoundTool> = {};
  for (const name of wanted) found[name] = await findOrSupply(name, stop.signal);

  if (values.json) console.log(JSON.stringify(found));
  else say(wanted.map((name) => `${name} ${found[name]?.path}`).join(', '));
}

try {
  await main();
} catch (error) {
  const isBadArgument =
    error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS');
  if (!(error instanceof UserError) && !isBadArgument) throw error;
  say(error.message);
  if (error instanceof UserError && error.hint !== undefined) say(error.hint);
  process.exitCode = 1;
}
