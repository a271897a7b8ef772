import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { NewId } from '../../ids.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { repositoryFilePath } from '../../stacks/managed.ts';
import { createManagedStacks } from '../../stacks/managed-stacks.ts';
import type { Commit, Repository } from '../../stacks/repository.ts';
import { parseRepositoryFile } from '../../stacks/repository-file.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Push } from '../../stacks/trigger.ts';
import type { VendorRules } from '../../stacks/vendor-settings.ts';
import type { Transactions, Tx } from '../../tx.ts';
import { checkRunItem } from '../feedback/check-run.ts';
import type { OutboxStore } from '../feedback/outbox-store.ts';
import { toRepository } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { type FileVerdict, fileCheckOf, fileCheckPrefix } from './file-check.ts';
import type { FileAtHead, FileReader } from './read-file.ts';
import type { JudgedFile, RepositoryFileStore } from './repository-file-store.ts';
import { createTurns } from './turns.ts';

/**
 * Keeps the stacks of a repository as its `.github/slipway.yml` wants them. The file is always read live, at
 * the head of the default branch: whatever event says that there may be something new, late, twice or out of
 * order, the newest file is what is applied. Everything here may be repeated; all of it throws
 * `github-unavailable`, and then no stack was changed.
 */
export interface RepositoryFiles {
  /** Reads and applies; says what came of it. `insist`: somebody asked, so GitHub shows a check even if nothing is new. */
  refresh(repositoryId: number, options?: { readonly insist: boolean }): Promise<string>;
  /** The same for a repository that probably has no file. */
  lookAgain(repositoryId: number): Promise<void>;
  /**
   * Before the runs of a push start. Null when the file needs no look. A push whose file could not be read lets
   * later ones pass: until it was, each of them reads it first, or one of them would find its stacks not made yet.
   */
  beforePush(push: Pick<Push, 'repositoryId' | 'branch' | 'changedPaths'>): Promise<FileBeforePush | null>;
}

export interface FileBeforePush extends Pick<Push, 'newStacks' | 'headNow'> {
  readonly note: string;
}

interface Refreshed {
  readonly note: string;
  /** Where the default branch is, which may be another by now; null when there is none. */
  readonly head: { readonly branch: string; readonly commit: Commit } | null;
}

export interface RepositoryFilesParts {
  readonly reader: FileReader;
  readonly files: RepositoryFileStore;
  readonly stacks: StackStore;
  readonly runs: Pick<RunStore, 'newestOfType'>;
  readonly outbox: Pick<OutboxStore, 'want'>;
  readonly repositories: Pick<RepositoryStore, 'find'>;
  readonly known: Pick<KnownRepositories, 'learn'>;
  readonly vendors: readonly VendorRules[];
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Where pages of repositories are, e.g. https://github.com */
  readonly webUrl: string;
  /** Called after a check run was wanted. */
  readonly onWanted: () => void;
  readonly onRelabeled: OnRelabeled;
}

/** In the transaction that gave a stack other labels: other policies may judge it by now. */
export type OnRelabeled = (tx: Tx, stackKey: string) => Promise<void>;

export function createRepositoryFiles(parts: RepositoryFilesParts): RepositoryFiles {
  const { reader, files, stacks, repositories, vendors, transactions, clock } = parts;
  const managed = createManagedStacks({ ...parts, store: stacks });
  const oneAtATime = createTurns();

  /** What is marked as unread stays so until it was read, over a restart too. */
  async function readMarked(repositoryId: number, insist: boolean): Promise<Refreshed> {
    if (!(await files.isUnread(repositoryId))) {
      await transactions.write((tx) => files.setUnread(tx, repositoryId, true));
    }
    return refresh(repositoryId, insist);
  }

  async function refresh(repositoryId: number, insist: boolean): Promise<Refreshed> {
    const known = await repositories.find(repositoryId);
    const found = known && (await reader.read(known));
    if (!known || !found) return { note: 'the App does not see the repository', head: null };
    await parts.known.learn(found.json, known.installationId);
    const repository = toRepository(found.json, known.installationId);
    const { file } = found;
    const branch = repository.defaultBranch;
    // Nothing was read. Somebody may be moving the branch: nothing is let go for that.
    if (!found.head || file.kind === 'no-branch') return { note: `there is no branch ${branch}`, head: null };
    const hadFile = (await files.find(repositoryId)) !== null;
    // Stacks are not let go because GitHub says once that it finds nothing.
    if (file.kind === 'absent' && hadFile) await reader.confirmGone(repository, file.commit);
    return { note: await apply(repository, file, insist), head: { branch, commit: found.head } };
  }

  async function apply(
    repository: Repository,
    file: Exclude<FileAtHead, { kind: 'no-branch' }>,
    insist: boolean,
  ): Promise<string> {
    const repositoryId = repository.id;
    // Outside the transaction: a large file takes its time.
    const parsed = file.kind === 'absent' ? null : parse(file, repository);
    return transactions.write(async (tx) => {
      await files.setUnread(tx, repositoryId, false);
      const before = await files.find(repositoryId, tx);
      // Other repositories are none of our business.
      if (!before && (file.kind === 'absent' || (file.kind === 'unusable' && file.isHidden))) return noFile;
      if (file.kind === 'absent' || !parsed) {
        const outcome = await managed.apply(tx, repository, []);
        await files.remove(tx, repositoryId);
        const released = outcome.kind === 'applied' ? outcome.changes.released : [];
        return tell(tx, repository, file.commit, { kind: 'removed', released });
      }
      const verdict =
        parsed.kind === 'invalid'
          ? ({ kind: 'refused', problems: parsed.problems } as const)
          : await managed.apply(tx, repository, parsed.stacks);
      const problems = verdict.kind === 'refused' ? verdict.problems : [];
      const now = { repositoryId, commit: file.commit, blob: file.blob, problems };
      await files.save(tx, now);
      if (!insist && !isNews(before, now, verdict)) return 'nothing new';
      return tell(tx, repository, file.commit, verdict);
    });
  }

  function parse(file: Extract<FileAtHead, { blob: string }>, { defaultBranch }: Repository) {
    if (file.kind === 'file') return parseRepositoryFile(file.bytes, { vendors, defaultBranch });
    return { kind: 'invalid', problems: [{ line: 1, column: 1, message: file.message }] } as const;
  }

  async function tell(
    tx: Tx,
    { id: repositoryId, fullName }: Repository,
    commit: string,
    verdict: FileVerdict,
  ) {
    const nowMs = clock.nowMs();
    const id = `${fileCheckPrefix}${parts.newId()}`;
    const fileUrl = `${parts.webUrl}/${fullName}/blob/${commit}/${repositoryFilePath}`;
    const desired = fileCheckOf(verdict, { id, commit, fileUrl, nowMs });
    const of = { runId: null, repositoryId, slot: `${fileCheckPrefix}${repositoryId}` };
    await parts.outbox.want(tx, checkRunItem(desired, of), nowMs);
    tx.afterCommit(parts.onWanted);
    return desired.output.title;
  }

  /** Of stacks that the file manages, those that a push has yet to start for the first time. */
  async function neverRun(repositoryId: number): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const { key, id, managedBy } of await stacks.ofRepository(repositoryId)) {
      if (managedBy !== 'file') continue;
      if ((await parts.runs.newestOfType(key, 'TRACKED')) === null) ids.push(id);
    }
    return ids;
  }

  return {
    async refresh(repositoryId, { insist } = { insist: false }) {
      return (await oneAtATime(repositoryId, () => readMarked(repositoryId, insist))).note;
    },

    async lookAgain(repositoryId) {
      const repository = await repositories.find(repositoryId);
      if (!repository) return;
      const isKnown = (await files.find(repositoryId)) !== null;
      if (!isKnown && !(await reader.isThere(repository))) return;
      await oneAtATime(repositoryId, () => refresh(repositoryId, false));
    },

    async beforePush({ repositoryId, branch, changedPaths }) {
      const repository = await repositories.find(repositoryId);
      const isDefault = branch === repository?.defaultBranch;
      const mayHaveChanged = isDefault && (changedPaths === null || changedPaths.some(concernsFile));
      // A refused file is tried again: what was in its way may be gone, and each head shows that it is not in force.
      const isRefused = isDefault && ((await files.find(repositoryId))?.problems.length ?? 0) > 0;
      if (!mayHaveChanged && !isRefused && !(await files.isUnread(repositoryId))) return null;
      const read = mayHaveChanged ? readMarked : refresh;
      const { note, head } = await oneAtATime(repositoryId, () => read(repositoryId, false));
      return {
        note: `${repositoryFilePath}: ${note}`,
        newStacks: await neverRun(repositoryId),
        ...(head?.branch === branch ? { headNow: head.commit } : {}),
      };
    },
  };
}

const noFile = 'there is none';

/** `.github` itself changes when it becomes a link. Its other files, such as workflows, change often. */
const concernsFile = (path: string): boolean => path === '.github' || path.startsWith('.github/slipway.');

/** Whether GitHub does not show it already. A file that is in force is shown where it changed, a refused one on each head. */
function isNews(before: JudgedFile | null, now: JudgedFile, verdict: FileVerdict): boolean {
  if (!before) return true;
  if (verdict.kind === 'refused') {
    return before.commit !== now.commit || !isDeepStrictEqual(before.problems, now.problems);
  }
  if (before.blob !== now.blob || before.problems.length > 0 || verdict.kind === 'removed') return true;
  const { created, changed, released } = verdict.changes;
  return created.length + changed.length + released.length > 0;
}
