/** How accounts look in answers and payloads. */
import type { Account, GithubState } from '../state.ts';
import { apiUrl, nodeId } from './address.ts';

export function simpleUser(state: GithubState, account: Account) {
  const url = apiUrl(state, `/users/${encodeURIComponent(account.login)}`);
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(account.type, account.id),
    avatar_url: `${state.url}/avatars/${account.id}`,
    gravatar_id: '',
    url,
    html_url: `${state.url}/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: 'public',
    site_admin: false,
  };
}

/** `GET /users/:login` and `GET /user`: the address only when the person shows it. */
export function fullUser(state: GithubState, account: Account) {
  return {
    ...simpleUser(state, account),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: account.emailPublic ? account.email : null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2020-01-01T00:00:00Z',
  };
}

/** The `organization` of a payload; absent when a person owns the repository. */
export function organizationPart(state: GithubState, owner: Account) {
  if (owner.type !== 'Organization') return {};
  const url = apiUrl(state, `/orgs/${owner.login}`);
  return {
    organization: {
      login: owner.login,
      id: owner.id,
      node_id: nodeId('Organization', owner.id),
      url,
      repos_url: `${url}/repos`,
      events_url: `${url}/events`,
      hooks_url: `${url}/hooks`,
      issues_url: `${url}/issues`,
      members_url: `${url}/members{/member}`,
      public_members_url: `${url}/public_members{/member}`,
      avatar_url: `${state.url}/avatars/${owner.id}`,
      description: null,
    },
  };
}
