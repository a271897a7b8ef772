import type { Config } from './config.ts';
import { type FoundTool, findTool, toolCacheDir } from './tools.ts';

/** The opa of this machine; null when there is none. A wrong OPA_PATH is a UserError. */
export function findOpa({ settings, path, home, xdgCacheHome }: Config['tools']): FoundTool | null {
  const setting = settings.opa === undefined ? {} : { setting: settings.opa };
  return findTool('opa', { ...setting, path, cacheDir: toolCacheDir(home, xdgCacheHome ?? undefined) });
}
