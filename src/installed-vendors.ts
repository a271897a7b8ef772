import { dirname } from 'node:path';
import type { Config } from './config.ts';
import { findTool, toolCacheDir } from './tools.ts';
import { createPulumiVendor } from './vendors/pulumi/vendor.ts';

/** The vendors with the tools of this machine; `foundIn`: the setting, PATH or the cache, null when there is none. */
export async function createVendors(config: Config['tools'], isSandboxed: boolean) {
  const { settings, path, home, xdgCacheHome } = config;
  const pulumi = findTool('pulumi', {
    ...(settings.pulumi === undefined ? {} : { setting: settings.pulumi }),
    path,
    cacheDir: toolCacheDir(home, xdgCacheHome ?? undefined),
  });
  // Programs in JavaScript need a current Node; the one of this process is there for certain.
  const node = isSandboxed ? '/opt/node/bin/node' : process.execPath;
  const extraTools = [{ source: process.execPath, target: node, pathEntry: dirname(node) }];
  const vendors = [
    await createPulumiVendor({
      pulumiPath: pulumi?.path ?? null,
      extraTools,
      ...(isSandboxed ? { insideDirectory: '/opt/pulumi' } : {}),
    }),
  ];
  return { vendors, foundIn: pulumi?.source ?? null };
}
