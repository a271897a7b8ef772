/** What people write below issues and pull requests, and the buttons of check runs they press. */
import { defaultActor } from './accounts.ts';
import type { CheckRun } from './check-run.ts';
import {
  addComment,
  addIssue,
  type Comment,
  changeComment,
  type Discussions,
  findIssue,
  removeComment,
} from './discussion.ts';
import { repositoryEvent } from './events.ts';
import { type Account, type GithubState, type Repository, requireAccount } from './state.ts';
import { checkRunView, checkSuiteView } from './views/check-run.ts';
import { commentView, issueView } from './views/issue.ts';
import type { OutgoingEvent, SentDelivery, Webhooks } from './webhooks.ts';

export class Comments {
  readonly #state: GithubState;
  readonly #discussions: Discussions;
  readonly #webhooks: Webhooks;

  constructor(state: GithubState, discussions: Discussions, webhooks: Webhooks) {
    this.#state = state;
    this.#discussions = discussions;
    this.#webhooks = webhooks;
  }

  /** A plain issue, without an event: Apps that subscribe to comments only get none. */
  openIssue(repository: Repository, title: string, login?: string): number {
    const author = this.#person(login);
    return addIssue(this.#state, this.#discussions, { repository, title, body: null, author, pull: null })
      .number;
  }

  async comment(
    repository: Repository,
    number: number,
    input: { body: string; login?: string },
  ): Promise<SentDelivery & { comment: Comment }> {
    const issue = findIssue(this.#discussions, repository, number);
    if (!issue) throw new Error(`${repository.fullName} has no issue or pull request #${number}`);
    const author = this.#person(input.login);
    const comment = addComment(this.#state, this.#discussions, { issue, author, body: input.body });
    return { comment, ...(await this.#webhooks.sendIfAny(this.event(comment, 'created', author))) };
  }

  async edit(comment: Comment, input: { body: string; login?: string }): Promise<SentDelivery> {
    const changes = { changes: { body: { from: comment.body } } };
    changeComment(this.#state, comment, input.body);
    return this.#webhooks.sendIfAny(this.event(comment, 'edited', this.#person(input.login), changes));
  }

  remove(comment: Comment, login?: string): Promise<SentDelivery> {
    const event = this.event(comment, 'deleted', this.#person(login));
    removeComment(this.#discussions, comment);
    return this.#webhooks.sendIfAny(event);
  }

  /** "Lock conversation", or the end of that. */
  setLocked(repository: Repository, number: number, locked: boolean): void {
    const issue = findIssue(this.#discussions, repository, number);
    if (!issue) throw new Error(`${repository.fullName} has no issue or pull request #${number}`);
    issue.locked = locked;
  }

  async pressButton(run: CheckRun, identifier: string, login?: string): Promise<SentDelivery> {
    if (!run.actions.some((action) => action.identifier === identifier)) {
      throw new Error(`check run "${run.name}" shows no button "${identifier}"`);
    }
    return this.#sendCheck(run, login, { action: 'requested_action', requested_action: { identifier } });
  }

  /** "Re-run" below the check. */
  rerequest(run: CheckRun, login?: string): Promise<SentDelivery> {
    return this.#sendCheck(run, login, { action: 'rerequested' });
  }

  /** "Re-run all checks" of the commit. */
  rerequestAll({ repository, suiteId, headSha }: CheckRun, login?: string): Promise<SentDelivery> {
    const suite = checkSuiteView(this.#state, repository, { id: suiteId, headSha });
    const payload = { action: 'rerequested', check_suite: suite };
    return this.#webhooks.sendIfAny(
      repositoryEvent(this.#state, 'check_suite', repository, this.#person(login), payload),
    );
  }

  event(
    comment: Comment,
    action: 'created' | 'edited' | 'deleted',
    sender: Account,
    more: Record<string, unknown> = {},
  ): OutgoingEvent | null {
    const { issue } = comment;
    const count = this.#discussions.comments.filter((each) => each.issue === issue).length;
    const payload = {
      action,
      ...more,
      issue: issueView(this.#state, issue, count),
      comment: commentView(this.#state, comment),
    };
    return repositoryEvent(this.#state, 'issue_comment', issue.repository, sender, payload);
  }

  #sendCheck(run: CheckRun, login: string | undefined, part: Record<string, unknown>): Promise<SentDelivery> {
    const payload = { ...part, check_run: checkRunView(this.#state, run) };
    return this.#webhooks.sendIfAny(
      repositoryEvent(this.#state, 'check_run', run.repository, this.#person(login), payload),
    );
  }

  #person(login: string | undefined): Account {
    return login === undefined ? defaultActor(this.#state) : requireAccount(this.#state, login);
  }
}
