import type { Comment, Issue } from '../discussion.ts';
import { reactionKinds } from '../discussion.ts';
import type { Account, GithubState, Repository } from '../state.ts';
import { simpleUser } from './account.ts';
import { isoTime, nodeId, repositoryApiUrl, repositoryPage } from './address.ts';

export function issueView(state: GithubState, issue: Issue, commentCount: number) {
  const { repository, number } = issue;
  const url = repositoryApiUrl(state, repository, `/issues/${number}`);
  const page = repositoryPage(state, repository, `/${issue.pull ? 'pull' : 'issues'}/${number}`);
  return {
    url,
    repository_url: repositoryApiUrl(state, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    number,
    title: issue.title,
    user: simpleUser(state, issue.author),
    labels: [],
    state: issue.state,
    locked: issue.locked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: commentCount,
    created_at: isoTime(issue.createdAtMs),
    updated_at: isoTime(issue.updatedAtMs),
    closed_at: issue.closedAtMs === null ? null : isoTime(issue.closedAtMs),
    author_association: association(repository, issue.author),
    active_lock_reason: null,
    // Its presence is the only sign that an issue_comment is about a pull request.
    ...(issue.pull ? { draft: issue.pull.draft, pull_request: pullLinks(state, issue, page) } : {}),
    body: issue.body,
    reactions: reactionCounts(url, []),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: null,
  };
}

function pullLinks(state: GithubState, issue: Issue, page: string) {
  const mergedAtMs = issue.pull?.mergedBy ? issue.closedAtMs : null;
  return {
    url: repositoryApiUrl(state, issue.repository, `/pulls/${issue.number}`),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    merged_at: mergedAtMs === null ? null : isoTime(mergedAtMs),
  };
}

export function commentView(state: GithubState, comment: Comment) {
  const { repository, number, pull } = comment.issue;
  const url = repositoryApiUrl(state, repository, `/issues/comments/${comment.id}`);
  const issuePage = repositoryPage(state, repository, `/${pull ? 'pull' : 'issues'}/${number}`);
  return {
    url,
    html_url: `${issuePage}#issuecomment-${comment.id}`,
    issue_url: repositoryApiUrl(state, repository, `/issues/${number}`),
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: simpleUser(state, comment.author),
    created_at: isoTime(comment.createdAtMs),
    updated_at: isoTime(comment.updatedAtMs),
    author_association: association(repository, comment.author),
    body: comment.body,
    reactions: reactionCounts(url, comment.reactions),
    performed_via_github_app: comment.author === state.app.bot ? appReference(state) : null,
  };
}

/** Of an App as much as tells it from others. */
const appReference = ({ app }: GithubState) => ({ id: app.id, slug: app.slug, name: app.name });

export function reactionView(state: GithubState, reaction: Comment['reactions'][number]) {
  return {
    id: reaction.id,
    node_id: nodeId('Reaction', reaction.id),
    user: simpleUser(state, reaction.account),
    content: reaction.content,
    created_at: isoTime(reaction.createdAtMs),
  };
}

function reactionCounts(url: string, reactions: Comment['reactions']) {
  const counts = reactionKinds.map((kind) => [
    kind,
    reactions.filter((each) => each.content === kind).length,
  ]);
  return { url: `${url}/reactions`, total_count: reactions.length, ...Object.fromEntries(counts) };
}

/** It says nothing reliable about what someone may do, on GitHub too. */
export function association(repository: Repository, account: Account): string {
  if (repository.owner.id === account.id) return 'OWNER';
  return repository.roles.has(account.login.toLowerCase()) ? 'COLLABORATOR' : 'NONE';
}
