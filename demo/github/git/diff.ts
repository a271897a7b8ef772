import { git } from './process.ts';

export interface FileChange {
  filename: string;
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed';
  /** Set for a rename. */
  previousFilename: string | null;
  /** Of the new content; of the old one when removed. */
  blobSha: string;
  additions: number;
  deletions: number;
}

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Changed files between two commits (null: before the first), renames found, with counted lines. */
export async function diffFiles(gitDir: string, from: string | null, to: string): Promise<FileChange[]> {
  const args = ['diff', '--raw', '--numstat', '-z', '-M', '--no-abbrev', from ?? emptyTree, to, '--'];
  const tokens = (await git(gitDir, args)).split('\0').filter((token) => token !== '');
  const files: FileChange[] = [];
  const lines = new Map<string, [number, number]>();
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (token.startsWith(':')) {
      const [, , oldSha = '', newSha = '', letter = ''] = token.split(' ');
      const [first = '', second = ''] = tokens.slice(at + 1, at + 3);
      const renamed = /^[RC]/.test(letter);
      at += renamed ? 2 : 1;
      files.push({
        filename: renamed ? second : first,
        status: statusOf(letter),
        previousFilename: renamed ? first : null,
        blobSha: letter === 'D' ? oldSha : newSha,
        additions: 0,
        deletions: 0,
      });
    } else {
      // "12\t3\tpath", or for a rename "12\t3\t" followed by both paths; "-" counts a binary file.
      const [added = '', deleted = '', path = ''] = splitTwice(token);
      if (path === '') at += 2;
      lines.set(path === '' ? (tokens[at] ?? '') : path, [Number(added) || 0, Number(deleted) || 0]);
    }
  }
  return files.map((file) => {
    const [additions, deletions] = lines.get(file.filename) ?? [0, 0];
    return { ...file, additions, deletions };
  });
}

function splitTwice(token: string): [string, string, string] {
  const first = token.indexOf('\t');
  const second = token.indexOf('\t', first + 1);
  return [token.slice(0, first), token.slice(first + 1, second), token.slice(second + 1)];
}

function statusOf(letter: string): FileChange['status'] {
  const known: Record<string, FileChange['status']> = {
    A: 'added',
    D: 'removed',
    M: 'modified',
    T: 'changed',
  };
  return known[letter] ?? 'renamed';
}
