import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import type { Flavour } from './flavour.ts';

/** Looks at the program on this host: that it is the right one, and new enough. Where it lies, src/tools.ts finds out. */
export interface TerraformTool {
  /** Symbolic links resolved. */
  readonly path: string;
  readonly version: string;
}

export type InspectedTool = { readonly tool: TerraformTool } | { readonly problem: string };

const versionTimeoutMs = 30_000;

/** `path` null means that no program was found. Never rejects for what the program is or does. */
export async function inspectTool(flavour: Flavour, path: string | null): Promise<InspectedTool> {
  const { program, setting, label } = flavour;
  if (path === null) {
    return {
      problem: `${program} was not found; install it (${flavour.installationPage}) or set ${setting}`,
    };
  }
  let real: string;
  try {
    real = await realpath(path);
    if (await isScript(real)) {
      return {
        problem: `${path} is a script, such as version managers put on PATH, and no run could start what it starts; set ${setting} to the program itself`,
      };
    }
  } catch (error) {
    return {
      problem: `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  // The commands of a run say this name and find it on their PATH.
  if (basename(real) !== program) return { problem: `${real} must be a file named ${program}` };
  const said = await versionOf(real);
  if (said === null) return { problem: `${real} did not answer to \`${program} version\`` };
  if (said.label !== label) return { problem: `${real} is ${said.label} ${said.version}, not ${label}` };
  if (isOlder(said.version, flavour.oldestVersion)) {
    const wanted = flavour.oldestVersion.join('.');
    return { problem: `${real} is ${label} ${said.version}; ${wanted} or newer is needed` };
  }
  return { tool: { path: real, version: said.version } };
}

async function isScript(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return buffer.toString('latin1', 0, bytesRead) === '#!';
}

/** The form for people: the JSON form of OpenTofu calls itself Terraform. */
async function versionOf(path: string): Promise<{ label: string; version: string } | null> {
  const home = await mkdtemp(join(tmpdir(), 'slipway-terraform-'));
  try {
    const { stdout } = await execa(path, ['version'], {
      cwd: home,
      env: { HOME: home, CHECKPOINT_DISABLE: 'true' },
      extendEnv: false,
      stdin: 'ignore',
      timeout: versionTimeoutMs,
      maxBuffer: 10_000,
    });
    const [, label, version] = /^(Terraform|OpenTofu) v(\d+\.\d+\.\d+\S*)$/m.exec(stdout) ?? [];
    return label === undefined || version === undefined ? null : { label, version };
  } catch {
    return null;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** A pre-release counts as the release it leads to. */
function isOlder(version: string, than: readonly number[]): boolean {
  const numbers = version.split(/[^\d]/, 3).map(Number);
  for (const [index, wanted] of than.entries()) {
    const difference = (numbers[index] ?? 0) - wanted;
    if (difference !== 0) return difference < 0;
  }
  return false;
}
