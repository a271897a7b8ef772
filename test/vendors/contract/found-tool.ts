import { homedir } from 'node:os';
import { findTool, type ToolName, toolCacheDir } from '../../../src/tools.ts';
import type { Vendor } from '../../../src/worker/vendor.ts';

/** Where a server of this machine would find it; null when nowhere. */
export function foundTool(name: ToolName, setting: string | undefined): string | null {
  const { PATH = '', XDG_CACHE_HOME } = process.env;
  return (
    findTool(name, { setting, path: PATH, cacheDir: toolCacheDir(homedir(), XDG_CACHE_HOME) })?.path ?? null
  );
}

/** A row of the contract without its tool is no row: it fails, and says which. */
export function withTool(vendor: Vendor): Vendor {
  if (vendor.tool === null) throw new Error(`These tests need ${vendor.label}: ${vendor.toolProblem}`);
  return vendor;
}
