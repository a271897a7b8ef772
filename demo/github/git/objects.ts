/**
 * Writes real commits and refs into a bare repository. `git fast-import` makes a commit in one process and
 * without an index or a work tree, so a scenario with dozens of commits stays quick.
 */
import { execa } from 'execa';
import { git, gitEnvironment } from './process.ts';

export const zeroSha = '0'.repeat(40);

export interface Person {
  name: string;
  email: string;
}

export interface CommitInput {
  message: string;
  /** Path to content; null removes the file. */
  files?: Record<string, string | Uint8Array | null>;
  /** Which of `files` are executable. */
  executable?: readonly string[];
  /** Path to link target. */
  symlinks?: Record<string, string>;
  /** Path to the commit of the other repository. */
  submodules?: Record<string, string>;
  author?: Person;
  committer?: Person;
  date?: Date;
  /** Further parents: makes it a merge commit. */
  merges?: readonly string[];
}

/** An empty bare repository that, as GitHub does, serves any object by its hash and partial clones. */
export async function createBareRepository(gitDir: string, defaultBranch: string): Promise<void> {
  const args = ['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`, gitDir];
  await execa('git', args, { env: gitEnvironment, extendEnv: false });
  for (const key of ['uploadpack.allowAnySHA1InWant', 'uploadpack.allowFilter']) {
    await git(gitDir, ['config', key, 'true']);
  }
}

/** Commits on top of `parent` (null: a root commit), moves `ref` there whatever it was, and gives the hash. */
export async function writeCommit(
  gitDir: string,
  ref: string,
  parent: string | null,
  commit: CommitInput & { author: Person },
): Promise<string> {
  const date = `${Math.floor((commit.date ?? new Date()).getTime() / 1000)} +0000`;
  const committer = commit.committer ?? commit.author;
  const parts: (string | Uint8Array)[] = [
    `feature done\ncommit ${ref}\nmark :1\n`,
    `author ${signature(commit.author)} ${date}\ncommitter ${signature(committer)} ${date}\n`,
    ...data(commit.message.endsWith('\n') ? commit.message : `${commit.message}\n`),
    // A branch of an earlier import is unknown to this one: without `from` the commit has no parent.
    parent === null ? '' : `from ${parent}\n`,
    ...(commit.merges ?? []).map((sha) => `merge ${sha}\n`),
    ...fileChanges(commit),
    '\nget-mark :1\ndone\n',
  ];
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return (await git(gitDir, ['fast-import', '--quiet', '--force'], input)).trim();
}

/** Merges `other` into `ref` without a work tree; a conflict throws. */
export async function writeMerge(
  gitDir: string,
  ref: string,
  other: string,
  commit: { message: string; author: Person },
): Promise<string> {
  const identity = ['-c', `user.name=${commit.author.name}`, '-c', `user.email=${commit.author.email}`];
  const tree = (await git(gitDir, ['merge-tree', '--write-tree', ref, other])).trim();
  const args = ['commit-tree', tree, '-p', ref, '-p', other];
  const sha = (await git(gitDir, [...identity, ...args], commit.message)).trim();
  await moveRef(gitDir, ref, sha);
  return sha;
}

function* fileChanges(commit: CommitInput): Generator<string | Uint8Array> {
  for (const [path, content] of Object.entries(commit.files ?? {})) {
    if (content === null) {
      yield `D ${quoted(path)}\n`;
    } else {
      yield `M ${commit.executable?.includes(path) ? '100755' : '100644'} inline ${quoted(path)}\n`;
      yield* data(content);
    }
  }
  for (const [path, target] of Object.entries(commit.symlinks ?? {})) {
    yield `M 120000 inline ${quoted(path)}\n`;
    yield* data(target);
  }
  for (const [path, sha] of Object.entries(commit.submodules ?? {}))
    yield `M 160000 ${sha} ${quoted(path)}\n`;
}

function data(content: string | Uint8Array): [string, Uint8Array, string] {
  const bytes = Buffer.from(content);
  return [`data ${bytes.length}\n`, bytes, '\n'];
}

const signature = (person: Person): string => `${person.name} <${person.email}>`;

const quoted = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

export async function moveRef(gitDir: string, ref: string, sha: string): Promise<void> {
  await git(gitDir, ['update-ref', ref, sha]);
}

export async function deleteRef(gitDir: string, ref: string): Promise<void> {
  await git(gitDir, ['update-ref', '-d', ref]);
}

/** An annotated tag object; its hash is not that of the commit. */
export async function writeTag(
  gitDir: string,
  name: string,
  sha: string,
  message: string,
  tagger: Person,
): Promise<string> {
  const when = `${Math.floor(Date.now() / 1000)} +0000`;
  const body = `object ${sha}\ntype commit\ntag ${name}\ntagger ${signature(tagger)} ${when}\n\n${message}\n`;
  return (await git(gitDir, ['mktag'], body)).trim();
}
