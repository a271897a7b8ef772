import { copyFile, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findTool, toolCacheDir } from '../../src/tools.ts';

/** By what its go.mod in tools/ requires; mirrors go by a version. */
const versions = { local: '2.9.0', random: '3.6.0' } as const;
const platform = `linux_${process.arch === 'x64' ? 'amd64' : process.arch}`;

/**
 * Puts a real provider of hashicorp into a new filesystem mirror at `directory`, of the registries of Terraform and
 * OpenTofu, and gives the CLI configuration (the content of a .terraformrc) that installs from `inside`, its path there.
 */
export async function providerMirror(
  name: keyof typeof versions,
  directory: string,
  inside = directory,
): Promise<string> {
  const { XDG_CACHE_HOME, PATH = '' } = process.env;
  const program = `terraform-provider-${name}` as const;
  const found = findTool(program, { path: PATH, cacheDir: toolCacheDir(homedir(), XDG_CACHE_HOME) });
  if (found === null) throw new Error(`run \`npm run setup -- --with ${program}\` first`);
  const version = versions[name];
  for (const registry of ['registry.terraform.io', 'registry.opentofu.org']) {
    const folder = join(directory, registry, 'hashicorp', name, version, platform);
    await mkdir(folder, { recursive: true });
    await copyFile(found.path, join(folder, `${program}_v${version}`));
  }
  return `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(inside)}\n  }\n}\n`;
}
