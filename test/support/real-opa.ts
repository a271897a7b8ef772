import { homedir } from 'node:os';
import { join } from 'node:path';
import { createOpa } from '../../src/policies/opa.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { type TempDirectory, tempDirectory } from './temp-database.ts';

/** Where the tests have it. */
export function pathOfTool(name: 'opa' | 'pulumi'): string {
  const { PATH = '', XDG_CACHE_HOME } = process.env;
  const cacheDir = toolCacheDir(homedir(), XDG_CACHE_HOME);
  const setting = process.env[`${name.toUpperCase()}_PATH`];
  const found = findTool(name, { setting, path: PATH, cacheDir });
  if (!found) throw new Error(`These tests need ${name}. Run npm run setup -- --with opa`);
  return found.path;
}

/** The real engine of policies, without a sandbox. */
export function realOpa(): TempDirectory & { readonly engine: ReturnType<typeof createOpa> } {
  const directory = tempDirectory();
  const engine = createOpa({
    path: pathOfTool('opa'),
    sandbox: createNoSandbox(),
    directory: join(directory.path, 'policies'),
  });
  return { ...directory, engine };
}
