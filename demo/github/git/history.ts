/** Reads commits, changes and ancestry out of a bare repository, each with as few Git processes as it takes. */
import { git, tryGit } from './process.ts';

export interface CommitRecord {
  sha: string;
  treeSha: string;
  parents: string[];
  author: DatedPerson;
  committer: DatedPerson;
  message: string;
}

interface DatedPerson {
  name: string;
  email: string;
  /** ISO 8601 with the person's own offset, `Z` for none. */
  date: string;
}

export interface PathChanges {
  added: string[];
  removed: string[];
  modified: string[];
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'];

/** The commits that `git log <revisions>` lists, newest first. */
export async function readCommits(gitDir: string, revisions: readonly string[]): Promise<CommitRecord[]> {
  const format = `--format=tformat:${fields.join('%x00')}`;
  const out = await git(gitDir, ['log', '-z', format, ...revisions, '--']);
  const values = out.split('\0');
  const commits: CommitRecord[] = [];
  for (let at = 0; at + fields.length <= values.length; at += fields.length) {
    commits.push(toCommit(values.slice(at, at + fields.length)));
  }
  return commits;
}

function toCommit(values: readonly string[]): CommitRecord {
  const [
    sha = '',
    treeSha = '',
    parents = '',
    an = '',
    ae = '',
    ad = '',
    cn = '',
    ce = '',
    cd = '',
    body = '',
  ] = values;
  const zulu = (date: string): string => date.replace(/\+00:00$/, 'Z');
  return {
    sha,
    treeSha,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author: { name: an, email: ae, date: zulu(ad) },
    committer: { name: cn, email: ce, date: zulu(cd) },
    message: body.replace(/\n+$/, ''),
  };
}

/** What each commit changed against its parent; a merge lists only what differs from every parent. */
export async function readChanges(
  gitDir: string,
  shas: readonly string[],
): Promise<Map<string, PathChanges>> {
  const changes = new Map<string, PathChanges>(
    shas.map((sha) => [sha, { added: [], removed: [], modified: [] }]),
  );
  if (shas.length === 0) return changes;
  const args = ['diff-tree', '--stdin', '-z', '-r', '--root', '-c', '--name-status', '--no-renames'];
  const tokens = (await git(gitDir, args, `${shas.join('\n')}\n`)).split('\0');
  let current: PathChanges | undefined;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (changes.has(token)) {
      current = changes.get(token);
    } else if (token !== '') {
      at += 1;
      current?.[kindOf(token)].push(tokens[at] ?? '');
    }
  }
  return changes;
}

function kindOf(status: string): keyof PathChanges {
  if (/^A+$/.test(status)) return 'added';
  return /^D+$/.test(status) ? 'removed' : 'modified';
}

/** The commit a branch, tag, full ref or (short) hash names, as GitHub looks it up; null when there is none. */
export async function resolveCommit(gitDir: string, ref: string): Promise<string | null> {
  const candidates = [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
  if (/^[0-9a-f]{4,40}$/i.test(ref)) candidates.unshift(ref.toLowerCase());
  if (ref.startsWith('refs/') || ref === 'HEAD') candidates.unshift(ref);
  for (const candidate of candidates) {
    const sha = await tryGit(gitDir, [
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${candidate}^{commit}`,
    ]);
    if (sha !== null) return sha.trim();
  }
  return null;
}

/** What a full ref points at, unpeeled (a tag object for an annotated tag). */
export async function readRef(gitDir: string, ref: string): Promise<string | null> {
  const sha = await tryGit(gitDir, ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]);
  return sha === null ? null : sha.trim();
}

export async function isAncestor(gitDir: string, ancestor: string, descendant: string): Promise<boolean> {
  return (await tryGit(gitDir, ['merge-base', '--is-ancestor', ancestor, descendant])) !== null;
}

export async function mergeBase(gitDir: string, left: string, right: string): Promise<string | null> {
  return (await tryGit(gitDir, ['merge-base', left, right]))?.trim() ?? null;
}

/** Hashes, newest first; only commits that touch `paths` when there are any. */
export async function listCommits(
  gitDir: string,
  revisions: readonly string[],
  paths: readonly string[] = [],
): Promise<string[]> {
  return (await git(gitDir, ['rev-list', ...revisions, '--', ...paths]))
    .split('\n')
    .filter((sha) => sha !== '');
}
