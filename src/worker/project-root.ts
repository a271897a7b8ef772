import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Vendor } from './vendor.ts';
import type { Directories } from './workspace.ts';

export type ProjectRoot =
  | { readonly kind: 'found'; readonly inside: string }
  | { readonly kind: 'unusable'; readonly reason: string; readonly hint: string };

/** Where the project lies. A symbolic link may lead elsewhere in the checkout, but not out of it. */
export async function findProjectRoot(
  workspace: { readonly [side in 'host' | 'inside']: Pick<Directories, 'tree'> },
  projectRoot: string,
  projectFile: Vendor['projectFile'],
): Promise<ProjectRoot> {
  const what = projectRoot === '' ? 'The repository' : `The project root ${projectRoot}`;
  const tree = await realpath(workspace.host.tree);
  const root = await resolveInside(tree, join(tree, projectRoot));
  if (root === 'missing') return unusable(`${what} does not exist in this commit.`, correctRoot);
  if (root === 'outside') {
    return unusable(`${what} is a symbolic link that leads out of the repository.`, stayInside);
  }
  if (!(await stat(root)).isDirectory()) return unusable(`${what} is not a directory.`, correctRoot);

  const entries = await readdir(root);
  const name = entries.find((entry) => projectFile.matches(entry));
  if (name === undefined) return unusable(`${what} has no ${projectFile.called}.`, correctRoot);
  const file = await resolveInside(tree, join(root, name));
  if (file === 'outside') {
    return unusable(`${name} is a symbolic link that leads out of the repository.`, stayInside);
  }
  if (file === 'missing' || !(await stat(file)).isFile()) {
    return unusable(`${name} is not a file.`, 'Commit the project file itself under that name.');
  }
  return { kind: 'found', inside: join(workspace.inside.tree, relative(tree, root)) };
}

const correctRoot = 'Correct projectRoot in the settings of the stack, or commit the project there.';
const stayInside = 'Commit a link to a place in the same repository, or the project itself.';

const unusable = (reason: string, hint: string): ProjectRoot => ({ kind: 'unusable', reason, hint });

/** `path` with every link in it followed. A link that leads nowhere, or in a circle, is missing. */
async function resolveInside(tree: string, path: string): Promise<string | 'missing' | 'outside'> {
  let resolved: string;
  try {
    resolved = await realpath(path);
  } catch {
    return 'missing';
  }
  const way = relative(tree, resolved);
  return way === '..' || way.startsWith(`..${sep}`) ? 'outside' : resolved;
}
