/** What people do with pull requests: open, push to, comment on, merge, close; each with its event. */
import { defaultActor } from './accounts.ts';
import { addIssue, type Discussions, findIssue, isPull, type PullRequest } from './discussion.ts';
import { repositoryEvent } from './events.ts';
import { resolveCommit } from './git/history.ts';
import { moveRef, writeMerge } from './git/objects.ts';
import { git } from './git/process.ts';
import { type Account, type GithubState, type Repository, requireAccount } from './state.ts';
import { pullRequestView } from './views/pull-request.ts';
import type { SentDelivery, Webhooks } from './webhooks.ts';

export interface NewPullRequest {
  /** Branch with the changes. */
  head: string;
  /** Default: the default branch. */
  base?: string;
  title?: string;
  body?: string | null;
  author?: string;
  draft?: boolean;
  /** A fork; default: the repository itself. */
  headRepository?: Repository;
}

export class PullRequests {
  readonly #state: GithubState;
  readonly #discussions: Discussions;
  readonly #webhooks: Webhooks;

  constructor(state: GithubState, discussions: Discussions, webhooks: Webhooks) {
    this.#state = state;
    this.#discussions = discussions;
    this.#webhooks = webhooks;
  }

  async open(repository: Repository, input: NewPullRequest): Promise<SentDelivery & { number: number }> {
    const headRepository = input.headRepository ?? repository;
    const author = this.#person(input.author);
    const headSha = await resolveCommit(headRepository.gitDir, `refs/heads/${input.head}`);
    if (headSha === null) throw new Error(`${headRepository.fullName} has no branch "${input.head}"`);
    const { title = input.head, body = null } = input;
    const pull = {
      id: this.#state.nextId(),
      headRepository,
      headBranch: input.head,
      headSha,
      base: input.base ?? repository.defaultBranch,
      draft: input.draft ?? false,
      mergeCommitSha: null,
      mergedOnto: null,
      mergedBy: null,
    };
    const issue = addIssue(this.#state, this.#discussions, { repository, title, body, author, pull });
    await shareHead(issue);
    return { number: issue.number, ...(await this.#tell(issue, 'opened', author)) };
  }

  /** After a push: every open pull request from that branch moves along. */
  async synchronize(headRepository: Repository, branch: string, pusher: Account): Promise<void> {
    const after = await resolveCommit(headRepository.gitDir, `refs/heads/${branch}`);
    for (const issue of this.#openFrom(headRepository, branch)) {
      const before = issue.pull.headSha;
      if (after === null || after === before) continue;
      issue.pull.headSha = after;
      issue.updatedAtMs = this.#state.nowMs();
      await shareHead(issue);
      await this.#tell(issue, 'synchronize', pusher, { before, after });
    }
  }

  /** Closes without merging. */
  async close(repository: Repository, number: number, by?: string): Promise<SentDelivery> {
    const issue = this.#find(repository, number);
    this.#markClosed(issue);
    return this.#tell(issue, 'closed', this.#person(by));
  }

  /** With the branch that it is from go its open pull requests. */
  async closeOf(headRepository: Repository, branch: string, by: Account): Promise<void> {
    for (const issue of this.#openFrom(headRepository, branch)) {
      this.#markClosed(issue);
      await this.#tell(issue, 'closed', by);
    }
  }

  async reopen(repository: Repository, number: number, by?: string): Promise<SentDelivery> {
    const issue = this.#find(repository, number);
    issue.state = 'open';
    issue.closedAtMs = null;
    return this.#tell(issue, 'reopened', this.#person(by));
  }

  async readyForReview(repository: Repository, number: number, by?: string): Promise<SentDelivery> {
    const issue = this.#find(repository, number);
    issue.pull.draft = false;
    return this.#tell(issue, 'ready_for_review', this.#person(by));
  }

  async changeBase(repository: Repository, number: number, base: string): Promise<SentDelivery> {
    const issue = this.#find(repository, number);
    const changes = { base: { ref: { from: issue.pull.base } } };
    issue.pull.base = base;
    return this.#tell(issue, 'edited', defaultActor(this.#state), { changes });
  }

  async rename(repository: Repository, number: number, title: string): Promise<SentDelivery> {
    const issue = this.#find(repository, number);
    const changes = { title: { from: issue.title } };
    issue.title = title;
    return this.#tell(issue, 'edited', defaultActor(this.#state), { changes });
  }

  /** Merges by a merge commit; GitHub tells the push of the base branch first, then the closing. */
  async merge(
    repository: Repository,
    number: number,
    tellPush: (branch: string) => Promise<SentDelivery>,
    by?: string,
  ): Promise<{ sha: string; push: SentDelivery; closed: SentDelivery }> {
    const issue = this.#find(repository, number);
    const person = this.#person(by);
    const { pull } = issue;
    const from = `${pull.headRepository.owner.login}/${pull.headBranch}`;
    pull.mergedOnto = await resolveCommit(repository.gitDir, `refs/heads/${pull.base}`);
    const sha = await writeMerge(repository.gitDir, `refs/heads/${pull.base}`, pull.headSha, {
      message: `Merge pull request #${number} from ${from}\n\n${issue.title}`,
      author: { name: person.name ?? person.login, email: person.email ?? '' },
    });
    pull.mergeCommitSha = sha;
    pull.mergedBy = person;
    this.#markClosed(issue);
    const push = await tellPush(pull.base);
    return { sha, push, closed: await this.#tell(issue, 'closed', person) };
  }

  #openFrom(headRepository: Repository, branch: string): PullRequest[] {
    return this.#discussions.issues.filter(isPull).filter(({ state, pull }) => {
      return state === 'open' && pull.headRepository === headRepository && pull.headBranch === branch;
    });
  }

  #find(repository: Repository, number: number): PullRequest {
    const issue = findIssue(this.#discussions, repository, number);
    if (!issue || !isPull(issue)) throw new Error(`${repository.fullName} has no pull request #${number}`);
    return issue;
  }

  #markClosed(issue: PullRequest): void {
    issue.state = 'closed';
    issue.closedAtMs = this.#state.nowMs();
    issue.updatedAtMs = issue.closedAtMs;
  }

  async #tell(
    issue: PullRequest,
    action: string,
    sender: Account,
    more: Record<string, unknown> = {},
  ): Promise<SentDelivery> {
    const view = await pullRequestView(this.#state, issue);
    const payload = { action, number: issue.number, pull_request: view, ...more };
    const event = repositoryEvent(this.#state, 'pull_request', issue.repository, sender, payload);
    return this.#webhooks.sendIfAny(event);
  }

  #person(login: string | undefined): Account {
    return login === undefined ? defaultActor(this.#state) : requireAccount(this.#state, login);
  }
}

/** GitHub keeps every head in the base repository, so that a fork's commit can be fetched from there. */
async function shareHead({ repository, number, pull }: PullRequest): Promise<void> {
  const ref = `refs/pull/${number}/head`;
  if (pull.headRepository === repository) await moveRef(repository.gitDir, ref, pull.headSha);
  else
    await git(repository.gitDir, ['fetch', '--quiet', pull.headRepository.gitDir, `+${pull.headSha}:${ref}`]);
}
