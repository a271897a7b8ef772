import { homedir } from 'node:os';
import { join } from 'node:path';
import { createOpa } from '../../src/policies/opa.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { type TempDirectory, tempDirectory } from './temp-database.ts';

/** The real engine of policies, without a sandbox. */
export function realOpa(): TempDirectory & { readonly engine: ReturnType<typeof createOpa> } {
  const { PATH = '', OPA_PATH, XDG_CACHE_HOME } = process.env;
  const cacheDir = toolCacheDir(homedir(), XDG_CACHE_HOME);
  const found = findTool('opa', { ...(OPA_PATH ? { setting: OPA_PATH } : {}), path: PATH, cacheDir });
  if (!found) throw new Error('These tests need opa. Run `npm run setup -- --with opa`.');
  const directory = tempDirectory();
  const engine = createOpa({
    path: found.path,
    sandbox: createNoSandbox(),
    directory: join(directory.path, 'policies'),
  });
  return { ...directory, engine };
}
