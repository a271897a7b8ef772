/** Looks for secrets in clear, byte for byte, in everything below a directory: databases and their journals too. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A secret as it stands, and as base64 and hex would hide it from a plain search. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    bytes.toString('hex'),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ];
  // Where the encoded text begins inside a longer one decides about its letters: the middle of each of the three.
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const middle = encoded
      .slice(shift === 0 ? 0 : 4)
      .replace(/=+$/, '')
      .slice(0, -1);
    if (middle.length >= 12) forms.push(middle);
  }
  return [...new Set(forms)];
}

/**
 * Paths of the files, below the directory, that hold one of the texts. What goes while this looks holds none: the server
 * is alive and clears up after its runs.
 */
export async function findInDirectory(directory: string, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifGone([]))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      const content = await readFile(path).catch(ifGone(Buffer.alloc(0)));
      if (texts.some((text) => content.includes(text))) found.push(relative(directory, path));
    }
  }
  return found;
}

function ifGone<T>(instead: T) {
  return (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}
