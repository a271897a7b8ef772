import type { PullRequest } from '../discussion.ts';
import { diffFiles } from '../git/diff.ts';
import { listCommits, mergeBase, resolveCommit } from '../git/history.ts';
import type { GithubState, Repository } from '../state.ts';
import { simpleUser } from './account.ts';
import { isoTime, nodeId, repositoryApiUrl, repositoryPage } from './address.ts';
import { association } from './issue.ts';
import { repositoryView } from './repository.ts';

export async function pullRequestView(state: GithubState, issue: PullRequest) {
  const { repository, number, pull } = issue;
  const url = repositoryApiUrl(state, repository, `/pulls/${number}`);
  const issueUrl = repositoryApiUrl(state, repository, `/issues/${number}`);
  const statusesUrl = repositoryApiUrl(state, repository, `/statuses/${pull.headSha}`);
  const page = repositoryPage(state, repository, `/pull/${number}`);
  const baseSha = (await resolveCommit(repository.gitDir, baseRevision(issue))) ?? pull.headSha;
  const closedAt = issue.closedAtMs === null ? null : isoTime(issue.closedAtMs);
  const link = (href: string) => ({ href });
  return {
    url,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issueUrl,
    number,
    state: issue.state,
    locked: issue.locked,
    title: issue.title,
    user: simpleUser(state, issue.author),
    body: issue.body,
    created_at: isoTime(issue.createdAtMs),
    updated_at: isoTime(issue.updatedAtMs),
    closed_at: closedAt,
    merged_at: pull.mergedBy ? closedAt : null,
    merge_commit_sha: pull.mergeCommitSha,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: [],
    milestone: null,
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: repositoryApiUrl(state, repository, '/pulls/comments{/number}'),
    comments_url: `${issueUrl}/comments`,
    statuses_url: statusesUrl,
    head: side(state, pull.headRepository, pull.headBranch, pull.headSha),
    base: side(state, repository, pull.base, baseSha),
    _links: {
      self: link(url),
      html: link(page),
      issue: link(issueUrl),
      comments: link(`${issueUrl}/comments`),
      review_comments: link(`${url}/comments`),
      review_comment: link(repositoryApiUrl(state, repository, '/pulls/comments{/number}')),
      commits: link(`${url}/commits`),
      statuses: link(statusesUrl),
    },
    author_association: association(repository, issue.author),
    auto_merge: null,
    active_lock_reason: null,
    merged: pull.mergedBy !== null,
    mergeable: issue.state === 'open' ? true : null,
    rebaseable: issue.state === 'open' ? true : null,
    mergeable_state: issue.state === 'open' ? 'clean' : 'unknown',
    merged_by: pull.mergedBy ? simpleUser(state, pull.mergedBy) : null,
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: pull.headRepository !== repository,
    ...(await size(repository, baseSha, pull.headSha)),
  };
}

/** What a pull request is compared with. */
export const baseRevision = ({ pull }: PullRequest): string => pull.mergedOnto ?? `refs/heads/${pull.base}`;

async function size(repository: Repository, base: string, head: string) {
  const commits = await listCommits(repository.gitDir, [`${base}..${head}`]);
  const common = await mergeBase(repository.gitDir, base, head);
  const files = await diffFiles(repository.gitDir, common, head);
  return {
    commits: commits.length,
    additions: files.reduce((total, file) => total + file.additions, 0),
    deletions: files.reduce((total, file) => total + file.deletions, 0),
    changed_files: files.length,
  };
}

function side(state: GithubState, repository: Repository, ref: string, sha: string) {
  return {
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: simpleUser(state, repository.owner),
    repo: repositoryView(state, repository),
  };
}
