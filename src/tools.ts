/**
 * Finds the programs Slipway starts: where a setting points, then on PATH, then in the per-user cache that
 * `node tools/setup.ts` fills. It only looks; building and installing is the work of tools/. It does not know the
 * environment (the caller passes the values in) and does not judge what it finds: a `pulumi` of the user's
 * distribution is taken as it is, with or without language hosts beside it.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { UserError } from './user-error.ts';

export type ToolName = BuiltTool | 'terraform' | 'bwrap' | 'chromium';

/** What tools/recipe.json can build; each has a folder of its own in the cache. The providers are for tests alone. */
const builtTools = [
  'pulumi',
  'opa',
  'tofu',
  'terraform-provider-local',
  'terraform-provider-random',
] as const;
export type BuiltTool = (typeof builtTools)[number];

export interface FoundTool {
  /** Absolute; may be a symbolic link. */
  path: string;
  source: 'setting' | 'path' | 'cache';
}

interface ToolPlaces {
  /** Value of the tool's setting (see settingOf); empty counts as not set. */
  setting?: string | undefined;
  /** Value of PATH. */
  path: string;
  /** See toolCacheDir. */
  cacheDir: string;
  /** The folder with recipe.json and the Go modules; only tests need another than this checkout's. */
  recipeDir?: string;
}

const kinds: Record<ToolName, { files: readonly string[]; setting?: string }> = {
  pulumi: { files: ['pulumi'], setting: 'PULUMI_PATH' },
  opa: { files: ['opa'], setting: 'OPA_PATH' },
  tofu: { files: ['tofu'], setting: 'TOFU_PATH' },
  terraform: { files: ['terraform'], setting: 'TERRAFORM_PATH' },
  'terraform-provider-local': { files: ['terraform-provider-local'] },
  'terraform-provider-random': { files: ['terraform-provider-random'] },
  bwrap: { files: ['bwrap'] },
  chromium: { files: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] },
};

/** The setting that may hold the tool's path, if it has one. */
export function settingOf(name: ToolName): string | undefined {
  return kinds[name].setting;
}

/** Null when the tool is nowhere. A setting that names no executable file is a UserError: falling back would hide the mistake. */
export function findTool(name: ToolName, places: ToolPlaces): FoundTool | null {
  if (places.setting) return { path: checkedSetting(name, places.setting), source: 'setting' };
  for (const folder of places.path.split(delimiter)) {
    // An empty or relative entry means the working directory, where a stranger's checkout may lie.
    if (!isAbsolute(folder)) continue;
    const path = kinds[name].files.map((file) => join(folder, file)).find(isExecutable);
    if (path !== undefined) return { path, source: 'path' };
  }
  if (!isBuilt(name)) return null;
  const cached = cachedTool(name, places.cacheDir, places.recipeDir);
  return cached.complete ? { path: join(cached.binDir, name), source: 'cache' } : null;
}

function isBuilt(name: ToolName): name is BuiltTool {
  return (builtTools as readonly string[]).includes(name);
}

/** `<XDG_CACHE_HOME or HOME/.cache>/slipway`; a relative XDG_CACHE_HOME is ignored, as its specification asks. */
export function toolCacheDir(home: string, xdgCacheHome?: string): string {
  const base = xdgCacheHome && isAbsolute(xdgCacheHome) ? xdgCacheHome : join(home, '.cache');
  return join(base, 'slipway');
}

const moduleSchema = z.strictObject({
  folder: z.string(),
  flags: z.array(z.string()),
  packages: z.array(z.string()),
  copies: z.strictObject({ module: z.string(), files: z.array(z.string()) }).optional(),
});

const recipeSchema = z.strictObject({
  environment: z.record(z.string(), z.string()),
  flags: z.array(z.string()),
  groups: z.strictObject({
    pulumi: z.array(moduleSchema),
    opa: z.array(moduleSchema),
    tofu: z.array(moduleSchema),
    'terraform-provider-local': z.array(moduleSchema),
    'terraform-provider-random': z.array(moduleSchema),
  }),
});

export interface CachedTool {
  /** `<cacheDir>/tools/<key>`; another recipe is another key, so that nobody runs what an older recipe built. */
  dir: string;
  binDir: string;
  complete: boolean;
  recipeDir: string;
  environment: Record<string, string>;
  flags: string[];
  modules: z.infer<typeof moduleSchema>[];
}

/** Where this checkout's recipe puts the tool, how to build it, and whether every file of it is there. */
export function cachedTool(name: BuiltTool, cacheDir: string, recipeDir = checkoutRecipeDir): CachedTool {
  const { environment, flags, groups } = recipeSchema.parse(
    JSON.parse(readFileSync(join(recipeDir, 'recipe.json'), 'utf8')),
  );
  const modules = groups[name];
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.platform, process.arch, environment, flags, modules]));
  for (const { folder } of modules) {
    for (const file of readdirSync(join(recipeDir, folder)).filter(isGoSource).sort()) {
      hash.update(`\0${folder}/${file}\0`).update(readFileSync(join(recipeDir, folder, file)));
    }
  }
  const dir = join(cacheDir, 'tools', hash.digest('hex').slice(0, 16));
  const binDir = join(dir, 'bin');
  const files = modules.flatMap(({ packages, copies }) => [...packages, ...(copies?.files ?? [])]);
  const complete = files.every((file) => isExecutable(join(binDir, basename(file))));
  return { dir, binDir, complete, recipeDir, environment, flags, modules };
}

const checkoutRecipeDir = fileURLToPath(new URL('../tools', import.meta.url));

function isGoSource(file: string): boolean {
  return file === 'go.mod' || file === 'go.sum' || file.endsWith('.go');
}

function checkedSetting(name: ToolName, setting: string): string {
  const path = resolve(setting);
  if (isExecutable(path)) return path;
  throw new UserError(
    'tool-not-executable',
    `${kinds[name].setting ?? name}: ${path} is not an executable file`,
    {
      hint: `Give the path of the ${name} program, or leave the setting out to have it looked up.`,
    },
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
