/** Teams of organisations, as a person who signs in sees their own. */
import { type Account, type GithubState, installationOfAccount, requireAccount, type Team } from './state.ts';
import { simpleUser } from './views/account.ts';
import { apiUrl, nodeId } from './views/address.ts';

export interface NewTeam {
  /** Login of the organisation. */
  organization: string;
  slug: string;
  members: readonly string[];
  parent?: Team;
}

export function addTeam(state: GithubState, { organization, slug, members, parent }: NewTeam): Team {
  const team: Team = {
    id: state.nextId(),
    slug,
    organization: requireAccount(state, organization),
    parent: parent ?? null,
    memberIds: new Set(members.map((login) => requireAccount(state, login).id)),
  };
  state.teams.push(team);
  return team;
}

/** Those of the organisations that let the App read their members; null when none does. */
export function teamsSeenBy(state: GithubState, account: Account): readonly Team[] | null {
  const readable = [...state.installations.values()].filter(({ permissions }) => permissions['members']);
  if (readable.length === 0) return null;
  return state.teams.filter(
    ({ organization, memberIds }) =>
      memberIds.has(account.id) &&
      installationOfAccount(state, organization)?.permissions['members'] !== undefined,
  );
}

export const teamView = (state: GithubState, { parent, ...team }: Team) => ({
  ...summary(state, team),
  parent: parent && summary(state, parent),
  organization: simpleUser(state, team.organization),
});

function summary(state: GithubState, { id, slug, organization }: Omit<Team, 'parent'>) {
  return {
    id,
    node_id: nodeId('Team', id),
    name: slug,
    slug,
    description: null,
    privacy: 'closed',
    permission: 'pull',
    url: apiUrl(state, `/organizations/${organization.id}/team/${id}`),
    html_url: `${state.url}/orgs/${organization.login}/teams/${slug}`,
  };
}
