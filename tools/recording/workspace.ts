import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What a stage changes in the checkout; null removes a file or folder. */
export type FileChanges = Readonly<Record<string, string | null>>;

export async function changeFiles(folder: string, changes: FileChanges): Promise<void> {
  for (const [name, text] of Object.entries(changes)) {
    const path = join(folder, name);
    if (text === null) {
      await rm(path, { recursive: true });
      continue;
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
