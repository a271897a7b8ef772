/** The payload of `push`, derived from what Git says between the head told last and the head now. */

import {
  type CommitRecord,
  isAncestor,
  listCommits,
  readChanges,
  readCommits,
  readRef,
  resolveCommit,
} from './git/history.ts';
import { zeroSha } from './git/objects.ts';
import { type Account, type GithubState, noreplyEmail, type Repository } from './state.ts';
import { repositoryPage } from './views/address.ts';
import { pushedCommitView } from './views/commit.ts';
import { pushedRepositoryView } from './views/repository.ts';

/** GitHub's cap on `commits`. */
const mostCommits = 2048;

export async function pushPayload(
  state: GithubState,
  repository: Repository,
  ref: string,
  pusher: Account,
): Promise<Record<string, unknown>> {
  const { gitDir } = repository;
  const before = repository.announced.get(ref) ?? zeroSha;
  const after = (await readRef(gitDir, ref)) ?? zeroSha;
  if (before === after) throw new Error(`${ref} of ${repository.fullName} has not moved: nothing to push`);
  const head = after === zeroSha ? null : await resolveCommit(gitDir, ref);
  const elsewhere = knownHeads(repository, ref);
  const commits = ref.startsWith('refs/heads/') && head ? await pushed(gitDir, before, head, elsewhere) : [];
  const [headCommit] = head === null ? [] : await readCommits(gitDir, ['-1', head]);
  const toView = await commitViewer(
    state,
    repository,
    headCommit ? [...commits, headCommit] : commits,
    elsewhere,
  );
  const created = before === zeroSha;
  const deleted = after === zeroSha;
  return {
    ref,
    before,
    after,
    repository: pushedRepositoryView(state, repository),
    pusher: { name: pusher.login, email: pusher.emailPublic ? pusher.email : noreplyEmail(pusher) },
    created,
    deleted,
    forced: !created && !deleted && !(await isAncestor(gitDir, before, after)),
    base_ref: created ? baseRef(repository, ref, head) : null,
    compare: compareAddress(state, repository, ref, before, after),
    commits: commits.map(toView),
    head_commit: headCommit ? toView(headCommit) : null,
  };
}

/** Heads of the other refs, as GitHub knew them before this push. */
function knownHeads(repository: Repository, ref: string): string[] {
  return [...repository.announced].filter(([name]) => name !== ref).map(([, sha]) => sha);
}

/** Oldest first. A new branch brings only what no other branch had. */
async function pushed(
  gitDir: string,
  before: string,
  head: string,
  elsewhere: readonly string[],
): Promise<CommitRecord[]> {
  const range = before === zeroSha ? [head, '--not', ...elsewhere] : [`${before}..${head}`];
  return readCommits(gitDir, [`--max-count=${mostCommits}`, '--topo-order', '--reverse', ...range]);
}

async function commitViewer(
  state: GithubState,
  repository: Repository,
  commits: readonly CommitRecord[],
  elsewhere: readonly string[],
) {
  const { gitDir } = repository;
  const shas = [...new Set(commits.map((commit) => commit.sha))];
  const changes = await readChanges(gitDir, shas);
  const fresh = shas.length === 0 ? [] : await listCommits(gitDir, [...shas, '--not', ...elsewhere]);
  const distinct = new Set(fresh);
  const none = { added: [], removed: [], modified: [] };
  return (commit: CommitRecord) =>
    pushedCommitView(state, repository, commit, changes.get(commit.sha) ?? none, distinct.has(commit.sha));
}

/** The branch that a new branch or tag was made from, when its head is that branch's head. */
function baseRef(repository: Repository, ref: string, head: string | null): string | null {
  const found = [...repository.announced].find(
    ([name, sha]) => name !== ref && name.startsWith('refs/heads/') && sha === head,
  );
  return found?.[0] ?? null;
}

function compareAddress(
  state: GithubState,
  repository: Repository,
  ref: string,
  before: string,
  after: string,
): string {
  const name = ref.replace(/^refs\/(heads|tags)\//, '');
  const range = before === zeroSha ? name : `${before.slice(0, 12)}...${after.slice(0, 12)}`;
  return repositoryPage(state, repository, `/compare/${range}`);
}
