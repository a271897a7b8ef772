/** How a repository looks in answers and payloads, templates of addresses included. */

import type { GithubState, Repository } from '../state.ts';
import { noreplyEmail } from '../state.ts';
import { simpleUser } from './account.ts';
import { isoTime, nodeId, repositoryApiUrl, repositoryPage } from './address.ts';

/** Key without `_url` to path below the repository. */
const links: Record<string, string> = {
  archive: '/{archive_format}{/ref}',
  assignees: '/assignees{/user}',
  blobs: '/git/blobs{/sha}',
  branches: '/branches{/branch}',
  collaborators: '/collaborators{/collaborator}',
  comments: '/comments{/number}',
  commits: '/commits{/sha}',
  compare: '/compare/{base}...{head}',
  contents: '/contents/{+path}',
  contributors: '/contributors',
  deployments: '/deployments',
  downloads: '/downloads',
  events: '/events',
  forks: '/forks',
  git_commits: '/git/commits{/sha}',
  git_refs: '/git/refs{/sha}',
  git_tags: '/git/tags{/sha}',
  hooks: '/hooks',
  issue_comment: '/issues/comments{/number}',
  issue_events: '/issues/events{/number}',
  issues: '/issues{/number}',
  keys: '/keys{/key_id}',
  labels: '/labels{/name}',
  languages: '/languages',
  merges: '/merges',
  milestones: '/milestones{/number}',
  notifications: '/notifications{?since,all,participating}',
  pulls: '/pulls{/number}',
  releases: '/releases{/id}',
  stargazers: '/stargazers',
  statuses: '/statuses/{sha}',
  subscribers: '/subscribers',
  subscription: '/subscription',
  tags: '/tags',
  teams: '/teams',
  trees: '/git/trees{/sha}',
};

export function repositoryView(state: GithubState, repository: Repository) {
  const page = repositoryPage(state, repository);
  const host = new URL(state.url).host;
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: repository.fullName,
    private: repository.private,
    owner: simpleUser(state, repository.owner),
    html_url: page,
    description: null,
    fork: repository.forkOf !== null,
    url: repositoryApiUrl(state, repository),
    ...Object.fromEntries(
      Object.entries(links).map(([key, path]) => [`${key}_url`, repositoryApiUrl(state, repository, path)]),
    ),
    created_at: isoTime(repository.createdAtMs),
    updated_at: isoTime(repository.pushedAtMs),
    pushed_at: isoTime(repository.pushedAtMs),
    git_url: `git://${host}/${repository.fullName}.git`,
    ssh_url: `git@${host}:${repository.fullName}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    archived: repository.archived,
    disabled: false,
    open_issues_count: 0,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks: 0,
    open_issues: 0,
    watchers: 0,
    default_branch: repository.defaultBranch,
  };
}

/** What a request for the one repository adds. */
export function fullRepositoryView(state: GithubState, repository: Repository) {
  const { forkOf } = repository;
  const origin = forkOf ? repositoryView(state, forkOf) : null;
  return {
    ...repositoryView(state, repository),
    ...(origin ? { parent: origin, source: origin } : {}),
    network_count: 0,
    subscribers_count: 0,
  };
}

/** In push payloads alone, times are Unix seconds and the owner carries a name and an address. */
export function pushedRepositoryView(state: GithubState, repository: Repository) {
  const { owner } = repository;
  const view = repositoryView(state, repository);
  return {
    ...view,
    owner: { name: owner.login, email: owner.emailPublic ? owner.email : noreplyEmail(owner), ...view.owner },
    url: repositoryPage(state, repository),
    created_at: Math.floor(repository.createdAtMs / 1000),
    pushed_at: Math.floor(repository.pushedAtMs / 1000),
    stargazers: 0,
    master_branch: repository.defaultBranch,
    ...(owner.type === 'Organization' ? { organization: owner.login, custom_properties: {} } : {}),
  };
}

/** The short form in installation events. */
export function repositorySummary(repository: Repository) {
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: repository.fullName,
    private: repository.private,
  };
}
