import { z } from 'zod';
import { repositoryFilePath } from '../../stacks/managed.ts';
import type { Commit, Repository } from '../../stacks/repository.ts';
import { maxFileBytes } from '../../stacks/yaml-tree.ts';
import type { GithubApp } from '../github-app.ts';
import { githubUnavailable, statusOf } from '../github-error.ts';
import { type RepositoryJson, repositoryJson, restCommitJson } from '../github-json.ts';
import { splitFullName } from '../repositories.ts';

/** What is at the head of the default branch, where the repository file would be. */
export type FileAtHead =
  /** There is no such branch: the repository is empty, or the branch was deleted. */
  | { readonly kind: 'no-branch' }
  | { readonly kind: 'absent'; readonly commit: string }
  | { readonly kind: 'file'; readonly commit: string; readonly blob: string; readonly bytes: Uint8Array }
  /** `message`: why it is not read. `isHidden`: nobody can tell whether it is meant to be there. */
  | {
      readonly kind: 'unusable';
      readonly commit: string;
      readonly blob: string;
      readonly message: string;
      readonly isHidden: boolean;
    };

export interface Answer {
  readonly json: RepositoryJson;
  /** Where the default branch is; null when there is no such branch. */
  readonly head: Commit | null;
  readonly file: FileAtHead;
}

export interface FileReader {
  /** One cheap question, for repositories of which most have no file. Throws `github-unavailable`. */
  isThere(repository: Repository): Promise<boolean>;
  /** Null when the App does not see the repository. Throws `github-unavailable`. */
  read(repository: Repository): Promise<Answer | null>;
  /** Asks in another way whether a commit is without the file. Throws `github-unavailable` unless it is. */
  confirmGone(repository: Repository, commit: string): Promise<void>;
}

const [directory, fileName] = repositoryFilePath.split('/') as [string, string];

// Of one file, or of a directory: an array. Only a directory tells a symbolic link from what it points to.
const entryJson = z.object({ name: z.string(), type: z.string(), sha: z.string(), size: z.number() });
/** Whoever calls it so would wait for something to happen. */
const likelyMistake = fileName.replace(/yml$/, 'yaml');
type Entry = z.output<typeof entryJson>;
const listingJson = z.union([z.array(entryJson), entryJson]);
const branchJson = z.object({ commit: restCommitJson });
const treeJson = z.object({
  tree: z.array(z.object({ path: z.string(), type: z.string(), sha: z.string() })),
});
const blobJson = z.object({ content: z.string(), encoding: z.literal('base64') });

/**
 * Reads the repository file live. The branch's head is asked for first and everything else by its hash, so
 * that what is read belongs together however fast people push.
 */
export function createFileReader(app: Pick<GithubApp, 'asInstallation'>): FileReader {
  /** Null for what GitHub does not have. */
  async function ask<T>(question: () => Promise<T>): Promise<T | null> {
    try {
      return await question();
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async function client({ fullName, installationId }: Repository) {
    const name = splitFullName(fullName);
    return name && { name, rest: (await app.asInstallation(installationId)).rest };
  }
  type Client = NonNullable<Awaited<ReturnType<typeof client>>>;

  async function entryAt({ rest, name }: Client, ref: string): Promise<Entry | null> {
    const answer = await ask(() => rest.repos.getContent({ ...name, path: directory, ref }));
    const listing = answer && listingJson.parse(answer.data);
    if (!listing) return null;
    if (Array.isArray(listing)) {
      const named = (name: string) => listing.find((entry) => entry.name === name);
      return named(fileName) ?? named(likelyMistake) ?? null;
    }
    // A file of that name has nothing below it; of a link or a submodule nobody would know it.
    return listing.type === 'file' ? null : listing;
  }

  async function fileAt(asking: Client, commit: string): Promise<FileAtHead> {
    const entry = await entryAt(asking, commit);
    if (!entry) return { kind: 'absent', commit };
    const isHidden = entry.name === directory;
    const unusable = (message: string) =>
      ({ kind: 'unusable', commit, blob: entry.sha, message, isHidden }) as const;
    if (entry.name === likelyMistake) return unusable(`the file must be called ${repositoryFilePath}`);
    if (entry.type !== 'file') return unusable(notAFile(entry));
    if (entry.size > maxFileBytes) {
      return unusable(`the file has ${entry.size} bytes; ${maxFileBytes} are the most that is read`);
    }
    const { rest, name } = asking;
    const answer = await ask(() => rest.git.getBlob({ ...name, file_sha: entry.sha }));
    // GitHub lists submodules as files.
    if (!answer) return unusable(notAFile({ ...entry, type: 'submodule' }));
    const { content } = blobJson.parse(answer.data);
    return { kind: 'file', commit, blob: entry.sha, bytes: Buffer.from(content, 'base64') };
  }

  async function read(repository: Repository): Promise<Answer | null> {
    const asking = await client(repository);
    const found = asking && (await ask(() => asking.rest.repos.get(asking.name)));
    if (!asking || !found) return null;
    const json = repositoryJson.parse(found.data);
    // The name may belong to another repository by now.
    if (json.id !== repository.id) return null;
    const branch = await ask(() =>
      asking.rest.repos.getBranch({ ...asking.name, branch: json.default_branch }),
    );
    if (!branch) return { json, head: null, file: { kind: 'no-branch' } };
    const head = branchJson.parse(branch.data).commit;
    return { json, head, file: await fileAt(asking, head.hash) };
  }

  async function confirmGone(repository: Repository, commit: string): Promise<void> {
    const asking = await client(repository);
    const entryOf = async (treeSha: string, path: string) => {
      const answer = await asking?.rest.git.getTree({ ...asking.name, tree_sha: treeSha });
      return treeJson.parse(answer?.data).tree.find((entry) => entry.path === path);
    };
    const parent = await entryOf(commit, directory);
    const found = parent?.type === 'tree' && (await entryOf(parent.sha, fileName));
    if (found) throw new Error(`GitHub lists ${repositoryFilePath} in the tree, but not in the directory`);
  }

  async function unlessUnavailable<T>({ fullName }: Repository, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw githubUnavailable(`for ${repositoryFilePath} of ${fullName}`, error);
    }
  }

  return {
    isThere: (repository) =>
      unlessUnavailable(repository, async () => {
        const asking = await client(repository);
        const entry = asking && (await entryAt(asking, repository.defaultBranch));
        return entry !== null && entry.name !== directory;
      }),
    read: (repository) => unlessUnavailable(repository, () => read(repository)),
    confirmGone: (repository, commit) => unlessUnavailable(repository, () => confirmGone(repository, commit)),
  };
}

function notAFile({ name, type }: Entry): string {
  const what = type === 'dir' ? 'a directory' : type === 'symlink' ? 'a symbolic link' : `a ${type}`;
  return `${name} is ${what}; only a plain file is read`;
}
