import type { CommitRecord, PathChanges } from '../git/history.ts';
import type { GithubState, Repository } from '../state.ts';
import { accountByEmail } from '../state.ts';
import { simpleUser } from './account.ts';
import { isoTime, nodeId, repositoryApiUrl, repositoryPage } from './address.ts';

/** A commit in REST answers: `author` is the account known by the address, or null. */
export function commitView(state: GithubState, repository: Repository, commit: CommitRecord) {
  const { sha } = commit;
  const person = (who: CommitRecord['author']) => ({
    name: who.name,
    email: who.email,
    date: isoTime(Date.parse(who.date)),
  });
  const account = (email: string) => {
    const found = accountByEmail(state, email);
    return found ? simpleUser(state, found) : null;
  };
  return {
    sha,
    node_id: nodeId('Commit', `${repository.id}:${sha}`),
    commit: {
      author: person(commit.author),
      committer: person(commit.committer),
      message: commit.message,
      tree: { sha: commit.treeSha, url: repositoryApiUrl(state, repository, `/git/trees/${commit.treeSha}`) },
      url: repositoryApiUrl(state, repository, `/git/commits/${sha}`),
      comment_count: 0,
      verification: {
        verified: false,
        reason: 'unsigned',
        signature: null,
        payload: null,
        verified_at: null,
      },
    },
    url: repositoryApiUrl(state, repository, `/commits/${sha}`),
    html_url: repositoryPage(state, repository, `/commit/${sha}`),
    comments_url: repositoryApiUrl(state, repository, `/commits/${sha}/comments`),
    author: account(commit.author.email),
    committer: account(commit.committer.email),
    parents: commit.parents.map((parent) => ({
      sha: parent,
      url: repositoryApiUrl(state, repository, `/commits/${parent}`),
      html_url: repositoryPage(state, repository, `/commit/${parent}`),
    })),
  };
}

/** A commit in a push payload: local times, changed paths, and `username` only for a known address. */
export function pushedCommitView(
  state: GithubState,
  repository: Repository,
  commit: CommitRecord,
  changes: PathChanges,
  distinct: boolean,
) {
  const person = (who: CommitRecord['author']) => {
    const account = accountByEmail(state, who.email);
    return { name: who.name, email: who.email, ...(account ? { username: account.login } : {}) };
  };
  return {
    id: commit.sha,
    tree_id: commit.treeSha,
    distinct,
    message: commit.message,
    timestamp: commit.committer.date,
    url: repositoryPage(state, repository, `/commit/${commit.sha}`),
    author: person(commit.author),
    committer: person(commit.committer),
    added: changes.added,
    removed: changes.removed,
    modified: changes.modified,
  };
}
