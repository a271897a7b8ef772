/** Issues, pull requests (an issue with a `pull` part) and the comments below them. */
import type { Account, GithubState, Repository } from './state.ts';

export interface Issue {
  id: number;
  number: number;
  repository: Repository;
  title: string;
  body: string | null;
  author: Account;
  state: 'open' | 'closed';
  /** Only who may write to the repository comments; an App does not count as one. */
  locked: boolean;
  createdAtMs: number;
  updatedAtMs: number;
  closedAtMs: number | null;
  /** Null for a plain issue. */
  pull: Pull | null;
}

export interface Pull {
  id: number;
  headRepository: Repository;
  headBranch: string;
  /** Follows the branch until the pull request is closed. */
  headSha: string;
  base: string;
  draft: boolean;
  mergeCommitSha: string | null;
  /** The head of the base before the merge: later, the base holds all of it. */
  mergedOnto: string | null;
  mergedBy: Account | null;
}

export type PullRequest = Issue & { pull: Pull };

export const reactionKinds = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'] as const;

export interface Comment {
  id: number;
  issue: Issue;
  author: Account;
  body: string;
  createdAtMs: number;
  updatedAtMs: number;
  reactions: { id: number; content: (typeof reactionKinds)[number]; account: Account; createdAtMs: number }[];
  /** Every body it had, the first one first. */
  history: string[];
}

export interface Discussions {
  issues: Issue[];
  comments: Comment[];
}

export function addIssue<Part extends Pull | null>(
  state: GithubState,
  discussions: Discussions,
  issue: Pick<Issue, 'repository' | 'title' | 'body' | 'author'> & { pull: Part },
): Issue & { pull: Part } {
  issue.repository.lastIssueNumber += 1;
  const nowMs = state.nowMs();
  const added: Issue & { pull: Part } = {
    ...issue,
    id: state.nextId(),
    number: issue.repository.lastIssueNumber,
    state: 'open',
    locked: false,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    closedAtMs: null,
  };
  discussions.issues.push(added);
  return added;
}

export function addComment(
  state: GithubState,
  discussions: Discussions,
  comment: Pick<Comment, 'issue' | 'author' | 'body'>,
): Comment {
  const nowMs = state.nowMs();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const added: Comment = { ...comment, ...times, id: state.nextId(), reactions: [], history: [comment.body] };
  discussions.comments.push(added);
  return added;
}

export function changeComment(state: GithubState, comment: Comment, body: string): void {
  comment.body = body;
  comment.history.push(body);
  comment.updatedAtMs = state.nowMs();
}

export function removeComment(discussions: Discussions, comment: Comment): void {
  discussions.comments.splice(discussions.comments.indexOf(comment), 1);
}

export const findIssue = (all: Discussions, repository: Repository, number: number): Issue | undefined =>
  all.issues.find((issue) => issue.repository === repository && issue.number === number);

export const isPull = (issue: Issue): issue is PullRequest => issue.pull !== null;
