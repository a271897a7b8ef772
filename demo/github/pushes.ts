/** Pushes: commits, and the event that tells them. */
import { defaultActor } from './accounts.ts';
import { repositoryEvent } from './events.ts';
import { readRef, resolveCommit } from './git/history.ts';
import { deleteRef, moveRef, type Person, writeTag } from './git/objects.ts';
import type { PullRequests } from './pull-requests.ts';
import { pushPayload } from './push-event.ts';
import { type BranchCommit, commitTo, setBranch } from './repositories.ts';
import { type GithubState, type Repository, requireAccount } from './state.ts';
import type { SentDelivery, Webhooks } from './webhooks.ts';

export interface PushOptions {
  branch: string;
  /** Made on the branch first; without them the push tells what `commit` has done already. */
  commits?: readonly Omit<BranchCommit, 'branch'>[];
  /** Login; default: the first person added. */
  pusher?: string;
}

export interface ForcePushOptions extends PushOptions {
  /** The branch is set to this commit first: a hash, a branch, or `main~2`. */
  onto: string;
}

export interface TagOptions {
  tag: string;
  /** Default: the head of the default branch. */
  target?: string;
  /** Makes it an annotated tag. */
  message?: string;
  pusher?: string;
}

export class Pushes {
  readonly #state: GithubState;
  readonly #webhooks: Webhooks;

  readonly #pulls: PullRequests;

  constructor(state: GithubState, webhooks: Webhooks, pulls: PullRequests) {
    this.#state = state;
    this.#pulls = pulls;
    this.#webhooks = webhooks;
  }

  async push(repository: Repository, options: PushOptions): Promise<SentDelivery> {
    for (const commit of options.commits ?? []) {
      await commitTo(this.#state, repository, { ...commit, branch: options.branch });
    }
    return this.#tell(repository, `refs/heads/${options.branch}`, options.pusher);
  }

  async commitAndPush(
    repository: Repository,
    commit: BranchCommit & { pusher?: string },
  ): Promise<SentDelivery & { sha: string }> {
    const sha = await commitTo(this.#state, repository, commit);
    return { sha, ...(await this.#tell(repository, `refs/heads/${commit.branch}`, commit.pusher)) };
  }

  async forcePush(repository: Repository, options: ForcePushOptions): Promise<SentDelivery> {
    await setBranch(repository, options.branch, options.onto);
    return this.push(repository, options);
  }

  async pushTag(repository: Repository, options: TagOptions): Promise<SentDelivery> {
    const actor = this.#person(options.pusher);
    const commit = await resolveCommit(repository.gitDir, options.target ?? repository.defaultBranch);
    if (commit === null) throw new Error(`${repository.fullName} has nothing to tag`);
    const tagger: Person = { name: actor.name ?? actor.login, email: actor.email ?? '' };
    const { tag, message } = options;
    const sha =
      message === undefined ? commit : await writeTag(repository.gitDir, tag, commit, message, tagger);
    await moveRef(repository.gitDir, `refs/tags/${tag}`, sha);
    return this.#tell(repository, `refs/tags/${tag}`, options.pusher);
  }

  async deleteBranch(
    repository: Repository,
    options: { branch: string; pusher?: string },
  ): Promise<SentDelivery> {
    await deleteRef(repository.gitDir, `refs/heads/${options.branch}`);
    const sent = await this.#tell(repository, `refs/heads/${options.branch}`, options.pusher);
    await this.#pulls.closeOf(repository, options.branch, this.#person(options.pusher));
    return sent;
  }

  async #tell(repository: Repository, ref: string, pusher: string | undefined): Promise<SentDelivery> {
    repository.pushedAtMs = this.#state.nowMs();
    const actor = this.#person(pusher);
    const payload = await pushPayload(this.#state, repository, ref, actor);
    const head = await readRef(repository.gitDir, ref);
    if (head === null) repository.announced.delete(ref);
    else repository.announced.set(ref, head);
    const event = repositoryEvent(this.#state, 'push', repository, actor, payload);
    const sent = await this.#webhooks.sendIfAny(event);
    if (ref.startsWith('refs/heads/'))
      await this.#pulls.synchronize(repository, ref.slice('refs/heads/'.length), actor);
    return sent;
  }

  #person(login: string | undefined) {
    return login === undefined ? defaultActor(this.#state) : requireAccount(this.#state, login);
  }
}
