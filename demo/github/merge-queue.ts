/**
 * A merge queue: what it would merge gets a temporary branch, and is told by the push of that branch and by an event
 * of its own. What comes of the checks is not its business here: a test says when a group is gone, and why.
 */
import { addBot } from './accounts.ts';
import { type Discussions, findIssue, isPull } from './discussion.ts';
import { repositoryEvent } from './events.ts';
import { readCommits, resolveCommit } from './git/history.ts';
import { moveRef, writeMerge } from './git/objects.ts';
import type { Pushes } from './pushes.ts';
import { type Account, findAccount, type GithubState, type Repository } from './state.ts';
import type { SentDelivery, Webhooks } from './webhooks.ts';

export interface MergeGroup {
  repository: Repository;
  branch: string;
  sha: string;
  base: string;
  baseSha: string;
}

const botLogin = 'github-merge-queue[bot]';

export class MergeQueue {
  readonly #state: GithubState;
  readonly #discussions: Discussions;
  readonly #webhooks: Webhooks;
  readonly #pushes: Pushes;

  constructor(state: GithubState, discussions: Discussions, webhooks: Webhooks, pushes: Pushes) {
    this.#state = state;
    this.#discussions = discussions;
    this.#webhooks = webhooks;
    this.#pushes = pushes;
  }

  /** A group of one pull request. GitHub does not order its two events: `first` says which comes first here. */
  async enqueue(
    repository: Repository,
    number: number,
    { first = 'push' }: { first?: 'push' | 'merge_group' } = {},
  ): Promise<MergeGroup & { push: SentDelivery; requested: SentDelivery }> {
    const issue = findIssue(this.#discussions, repository, number);
    if (!issue || !isPull(issue)) throw new Error(`${repository.fullName} has no pull request #${number}`);
    const { base, headSha } = issue.pull;
    const baseSha = await resolveCommit(repository.gitDir, `refs/heads/${base}`);
    if (baseSha === null) throw new Error(`${repository.fullName} has no branch "${base}"`);
    const branch = `gh-readonly-queue/${base}/pr-${number}-${baseSha}`;
    await moveRef(repository.gitDir, `refs/heads/${branch}`, baseSha);
    const sha = await writeMerge(repository.gitDir, `refs/heads/${branch}`, headSha, {
      message: `Merge pull request #${number}\n\n${issue.title}`,
      author: { name: issue.author.name ?? issue.author.login, email: issue.author.email ?? '' },
    });
    const group = { repository, branch, sha, base, baseSha };
    const pusher = this.#bot().login;
    const tellPush = () => this.#pushes.push(repository, { branch, pusher });
    const tellRequest = () => this.#tell(group, { action: 'checks_requested' });
    if (first === 'push') return { ...group, push: await tellPush(), requested: await tellRequest() };
    const requested = await tellRequest();
    return { ...group, push: await tellPush(), requested };
  }

  /** The group is gone, and its branch with it. */
  async destroy(
    group: MergeGroup,
    reason: 'merged' | 'invalidated' | 'dequeued' = 'dequeued',
  ): Promise<SentDelivery> {
    const destroyed = await this.#tell(group, { action: 'destroyed', reason });
    await this.#pushes.deleteBranch(group.repository, { branch: group.branch, pusher: this.#bot().login });
    return destroyed;
  }

  async #tell(group: MergeGroup, part: Record<string, unknown>): Promise<SentDelivery> {
    const { repository, sha, branch, base, baseSha } = group;
    const [commit] = await readCommits(repository.gitDir, ['-1', sha]);
    const payload = {
      ...part,
      merge_group: {
        head_sha: sha,
        head_ref: `refs/heads/${branch}`,
        base_sha: baseSha,
        base_ref: `refs/heads/${base}`,
        head_commit: commit && {
          id: commit.sha,
          tree_id: commit.treeSha,
          message: commit.message,
          timestamp: commit.committer.date,
          author: { name: commit.author.name, email: commit.author.email },
          committer: { name: commit.committer.name, email: commit.committer.email },
        },
      },
    };
    return this.#webhooks.sendIfAny(
      repositoryEvent(this.#state, 'merge_group', repository, this.#bot(), payload),
    );
  }

  #bot(): Account {
    return findAccount(this.#state, botLogin) ?? addBot(this.#state, botLogin);
  }
}
