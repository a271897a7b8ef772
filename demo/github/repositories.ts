/** Repositories: the data, and the bare Git repository behind each. */
import { defaultActor } from './accounts.ts';
import { repositoryEvent } from './events.ts';
import { resolveCommit } from './git/history.ts';
import { type CommitInput, createBareRepository, moveRef, writeCommit } from './git/objects.ts';
import { git } from './git/process.ts';
import {
  findRepository,
  type GithubState,
  gitDirOf,
  type Repository,
  type Role,
  requireAccount,
} from './state.ts';
import type { SentDelivery, Webhooks } from './webhooks.ts';

export interface NewRepository {
  owner: string;
  name: string;
  /** Default true. */
  private?: boolean;
  /** Begins with all branches of that one. */
  forkOf?: Repository;
  defaultBranch?: string;
  /** A first commit on the default branch, of before the App came: no push tells it. */
  files?: CommitInput['files'];
}

export interface BranchCommit extends CommitInput {
  branch: string;
  /** Where a new branch begins; default: the default branch. */
  from?: string;
}

export async function createRepository(state: GithubState, input: NewRepository): Promise<Repository> {
  const owner = requireAccount(state, input.owner);
  const holder = findRepository(state, owner.login, input.name);
  const name = `${owner.login}/${input.name}`;
  if (holder?.fullName.toLowerCase() === name.toLowerCase()) throw new Error(`${name} exists already`);
  // A former name is free; whoever takes it ends the redirect.
  if (holder) {
    holder.formerNames = holder.formerNames.filter((each) => each.toLowerCase() !== name.toLowerCase());
  }
  const id = state.nextId();
  const repository: Repository = {
    id,
    owner,
    name: input.name,
    fullName: name,
    private: input.private ?? true,
    archived: false,
    forkOf: input.forkOf ?? null,
    defaultBranch: input.defaultBranch ?? 'main',
    gitDir: gitDirOf(state, id),
    createdAtMs: state.nowMs(),
    pushedAtMs: state.nowMs(),
    formerNames: [],
    roles: new Map(),
    announced: new Map(),
    lastIssueNumber: 0,
  };
  await createBareRepository(repository.gitDir, repository.defaultBranch);
  state.repositories.set(id, repository);
  if (input.forkOf) {
    await git(repository.gitDir, ['fetch', '--quiet', input.forkOf.gitDir, '+refs/heads/*:refs/heads/*']);
    repository.announced = new Map(input.forkOf.announced);
  }
  if (input.files) {
    const branch = repository.defaultBranch;
    const sha = await commitTo(state, repository, { branch, message: 'Initial commit', files: input.files });
    repository.announced.set(`refs/heads/${branch}`, sha);
  }
  return repository;
}

/** Commits on the branch's head; a new branch starts at `from`. Nobody is told: that is a push. */
export async function commitTo(
  state: GithubState,
  repository: Repository,
  commit: BranchCommit,
): Promise<string> {
  const ref = `refs/heads/${commit.branch}`;
  const actor = defaultActor(state);
  const author = commit.author ?? { name: actor.name ?? actor.login, email: actor.email ?? '' };
  const parent =
    (await resolveCommit(repository.gitDir, ref)) ??
    (await resolveCommit(repository.gitDir, commit.from ?? `refs/heads/${repository.defaultBranch}`));
  return writeCommit(repository.gitDir, ref, parent, { ...commit, author });
}

/** Sets a branch to a commit, wherever it was. */
export async function setBranch(repository: Repository, branch: string, target: string): Promise<string> {
  const sha = await resolveCommit(repository.gitDir, target);
  if (sha === null) throw new Error(`${repository.fullName} has no commit "${target}"`);
  await moveRef(repository.gitDir, `refs/heads/${branch}`, sha);
  return sha;
}

export function setPermission(repository: Repository, login: string, role: Role | null): void {
  if (role === null) repository.roles.delete(login.toLowerCase());
  else repository.roles.set(login.toLowerCase(), role);
}

/** The old name goes on working, as GitHub redirects it. */
export async function renameRepository(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  name: string,
): Promise<SentDelivery> {
  const changes = { repository: { name: { from: repository.name } } };
  repository.formerNames.push(repository.fullName);
  repository.name = name;
  repository.fullName = `${repository.owner.login}/${name}`;
  const event = repositoryEvent(state, 'repository', repository, defaultActor(state), {
    action: 'renamed',
    changes,
  });
  return webhooks.sendIfAny(event);
}

/** The branch must exist. */
export async function setDefaultBranch(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  branch: string,
): Promise<SentDelivery> {
  const changes = { default_branch: { from: repository.defaultBranch } };
  repository.defaultBranch = branch;
  await git(repository.gitDir, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  const event = repositoryEvent(state, 'repository', repository, defaultActor(state), {
    action: 'edited',
    changes,
  });
  return webhooks.sendIfAny(event);
}
