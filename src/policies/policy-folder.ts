import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../user-error.ts';

const most = { files: 2000, bytes: 32 * 1024 * 1024 } as const;

/**
 * The files below a folder that opa reads, by relative path. Links are not followed, hidden folders and node_modules not
 * entered. Throws UserError `policy-folder` for one that cannot be read, or is no folder of policies by its size.
 */
export async function readPolicyFolder(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  const standing = { files: 0, bytes: 0 };
  const visit = async (prefix: string): Promise<void> => {
    for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
      const path = join(prefix, entry.name);
      if (entry.isDirectory() && !/^(\..*|node_modules)$/.test(entry.name)) await visit(path);
      if (!entry.isFile() || !/\.(rego|json|ya?ml)$/.test(entry.name)) continue;
      standing.files += 1;
      standing.bytes += (await lstat(join(folder, path))).size;
      if (standing.files > most.files || standing.bytes > most.bytes) throw tooLarge(folder);
      files[path] = await readFile(join(folder, path));
    }
  };
  try {
    await visit('');
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      'policy-folder',
      `${folder}: ${reasons[code ?? ''] ?? `it cannot be read (${code})`}`,
    );
  }
  return files;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is not a folder',
};

function tooLarge(folder: string): UserError {
  const message = `${folder}: more than ${most.files} files or ${most.bytes / 1024 ** 2} MiB of policies and data`;
  return new UserError('policy-folder', message, { hint: 'Name the folder of the policies itself.' });
}
