import { copyFile, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findTool, toolCacheDir } from '../../src/tools.ts';

/** What tools/provider/go.mod requires. */
const version = '3.6.0';
const platform = `linux_${process.arch === 'x64' ? 'amd64' : process.arch}`;

/**
 * Puts the real provider hashicorp/random into a new filesystem mirror at `directory`, of the registries of Terraform and
 * OpenTofu, and gives the CLI configuration (the content of a .terraformrc) that installs from `inside`, its path there.
 */
export async function randomProviderMirror(directory: string, inside = directory): Promise<string> {
  const { XDG_CACHE_HOME, PATH = '' } = process.env;
  const cacheDir = toolCacheDir(homedir(), XDG_CACHE_HOME);
  const found = findTool('terraform-provider-random', { path: PATH, cacheDir });
  if (found === null) throw new Error('run `npm run setup -- --with terraform-provider-random` first');
  for (const registry of ['registry.terraform.io', 'registry.opentofu.org']) {
    const folder = join(directory, registry, 'hashicorp/random', version, platform);
    await mkdir(folder, { recursive: true });
    await copyFile(found.path, join(folder, `terraform-provider-random_v${version}`));
  }
  return `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(inside)}\n  }\n}\n`;
}
