import { mkdtemp, open, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';

/**
 * Looks at the pulumi program on this host: which version it is, and which files a run needs of it. It does
 * not look for the program; that is src/tools.ts.
 */
export interface PulumiTool {
  /** The program itself, symbolic links resolved: bundled plugins are looked up beside that file. */
  readonly path: string;
  readonly version: string;
  readonly mounts: readonly { source: string; target: string }[];
}

export type InspectedTool = { readonly tool: PulumiTool } | { readonly problem: string };

/** Since 3.208.0 every flag has an environment form, and without those nothing here works. */
const oldestVersion = [3, 208, 0] as const;
const versionTimeoutMs = 30_000;

/** Null means that no program was found. Never rejects for what the program is or does. */
export async function inspectTool(pulumiPath: string | null): Promise<InspectedTool> {
  if (pulumiPath === null) {
    return {
      problem: 'pulumi was not found; install it (https://www.pulumi.com/docs/install/) or set PULUMI_PATH',
    };
  }
  let path: string;
  try {
    path = await realpath(pulumiPath);
    if (await isNodeScript(path)) {
      return {
        problem: `${pulumiPath} is the npm wrapper, which passes no signals on; set PULUMI_PATH to the program it downloads (~/.pulumi/versions/<version>/bin/pulumi)`,
      };
    }
  } catch (error) {
    return { problem: `${pulumiPath} cannot be read: ${messageOf(error)}` };
  }
  // The commands of a run say `pulumi` and find it on their PATH.
  if (basename(path) !== 'pulumi') return { problem: `${path} must be a file named pulumi` };
  const version = await versionOf(path);
  if (version === null) return { problem: `${path} did not answer to \`pulumi version\`` };
  if (isTooOld(version)) {
    return { problem: `${path} is pulumi ${version}; ${oldestVersion.join('.')} or newer is needed` };
  }
  return { tool: { path, version, mounts: await filesOf(path) } };
}

/**
 * The program and its language hosts and bundled plugins. File by file, not the folder: it may as well be
 * somebody's ~/bin. Below /usr nothing is needed, since every sandbox has that tree.
 */
async function filesOf(path: string): Promise<{ source: string; target: string }[]> {
  const folder = dirname(path);
  if (folder.startsWith('/usr/')) return [];
  const names = (await readdir(folder)).filter((name) => /^pulumi(-|$)/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({ source: await realpath(join(folder, name)), target: join(folder, name) })),
  );
}

async function isNodeScript(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(128), 0, 128, 0);
  return /^#!.*\bnode\b/.test(buffer.toString('latin1', 0, bytesRead));
}

async function versionOf(path: string): Promise<string | null> {
  // The CLI writes logs and caches into its home even for this.
  const home = await mkdtemp(join(tmpdir(), 'slipway-pulumi-'));
  try {
    const { stdout } = await execa(path, ['version'], {
      // Without USER and without an entry in /etc/passwd it panics.
      env: { HOME: home, PULUMI_HOME: home, PULUMI_SKIP_UPDATE_CHECK: 'true', USER: 'slipway' },
      extendEnv: false,
      stdin: 'ignore',
      timeout: versionTimeoutMs,
      maxBuffer: 10_000,
    });
    return /^v?(\d+\.\d+\.\d+\S*)$/m.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function isTooOld(version: string): boolean {
  const numbers = version.split(/[^\d]/, 3).map(Number);
  for (const [index, wanted] of oldestVersion.entries()) {
    const difference = (numbers[index] ?? 0) - wanted;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
