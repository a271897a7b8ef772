import { dirname } from 'node:path';
import type { Config } from './config.ts';
import { type FoundTool, findTool, type ToolName, toolCacheDir } from './tools.ts';
import { createPulumiVendor } from './vendors/pulumi/vendor.ts';
import { opentofu, terraform } from './vendors/terraform/flavour.ts';
import { createTerraformVendor } from './vendors/terraform/vendor.ts';
import type { Vendor } from './worker/vendor.ts';

/** `foundIn`: where its tool was found, null when nowhere. */
export interface InstalledVendor {
  readonly vendor: Vendor;
  readonly foundIn: FoundTool['source'] | null;
}

/** The vendors with the tools of this machine. */
export async function createVendors(
  { settings, path, home, xdgCacheHome }: Config['tools'],
  isSandboxed: boolean,
): Promise<readonly InstalledVendor[]> {
  const cacheDir = toolCacheDir(home, xdgCacheHome ?? undefined);
  const find = (name: ToolName & keyof typeof settings) =>
    findTool(name, { setting: settings[name], path, cacheDir });
  const inside = (insideDirectory: string) => (isSandboxed ? { insideDirectory } : {});

  // Programs in JavaScript need a current Node; the one of this process is there for certain.
  const node = isSandboxed ? '/opt/node/bin/node' : process.execPath;
  const extraTools = [{ source: process.execPath, target: node, pathEntry: dirname(node) }];
  const found = { pulumi: find('pulumi'), terraform: find('terraform'), tofu: find('tofu') };
  const pulumiPath = found.pulumi?.path ?? null;
  const pulumi = createPulumiVendor({ pulumiPath, extraTools, ...inside('/opt/pulumi') });
  const ofTerraform = { flavour: terraform, path: found.terraform?.path ?? null };
  const ofOpentofu = { flavour: opentofu, path: found.tofu?.path ?? null };
  return [
    { vendor: await pulumi, foundIn: found.pulumi?.source ?? null },
    {
      vendor: await createTerraformVendor({ ...ofTerraform, ...inside('/opt/terraform') }),
      foundIn: found.terraform?.source ?? null,
    },
    {
      vendor: await createTerraformVendor({ ...ofOpentofu, ...inside('/opt/opentofu') }),
      foundIn: found.tofu?.source ?? null,
    },
  ];
}
