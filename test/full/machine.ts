/** What the programs of samples.ts need of this machine, below /usr: the tree that every sandbox shows. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

/** Of the PATH of runs (src/worker/run-context.ts). */
const systemFolders = ['/usr/local/bin', '/usr/bin'];

/** The version of Python that the Pulumi SDK needs, and the part of it that Debian packages apart. */
const pythonCheck = 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))';

/** Throws what to install. */
export function requirePython(): void {
  const python = systemFolders.map((folder) => join(folder, 'python3')).find(isExecutable);
  try {
    if (python === undefined) throw new Error('there is no python3 in /usr/local/bin and /usr/bin');
    execFileSync(python, ['-c', pythonCheck], { stdio: 'pipe', env: {} });
  } catch (cause) {
    const advice =
      'Python 3.10 or newer with venv is needed below /usr: apt-get install python3 python3-venv';
    throw new Error(advice, { cause });
  }
}

/** Where `go` lies. Throws what to install. */
export function folderOfGo(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/go/bin'];
  const found = folders.filter(isAbsolute).map((folder) => join(folder, 'go'));
  const go = found.filter(isExecutable).map((path) => realpathSync(path));
  const folder = go.map(dirname).find((path) => path.startsWith('/usr/'));
  if (folder !== undefined) return folder;
  throw new Error(`Go is needed below /usr (https://go.dev/dl, /usr/local/go); found: ${go.join(', ')}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
