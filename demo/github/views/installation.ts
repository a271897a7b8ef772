import type { App, GithubState, Installation } from '../state.ts';
import { simpleUser } from './account.ts';
import { apiUrl, isoTime, nodeId } from './address.ts';

export function installationView(state: GithubState, installation: Installation) {
  const { account } = installation;
  const organization = account.type === 'Organization';
  return {
    id: installation.id,
    client_id: state.app.clientId,
    account: simpleUser(state, account),
    repository_selection: 'selected',
    access_tokens_url: apiUrl(state, `/app/installations/${installation.id}/access_tokens`),
    repositories_url: apiUrl(state, '/installation/repositories'),
    html_url: organization
      ? `${state.url}/organizations/${account.login}/settings/installations/${installation.id}`
      : `${state.url}/settings/installations/${installation.id}`,
    app_id: state.app.id,
    app_slug: state.app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: installation.events,
    created_at: isoTime(installation.createdAtMs),
    updated_at: isoTime(installation.createdAtMs),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspendedAtMs === null ? null : isoTime(installation.suspendedAtMs),
  };
}

/** The `installation` of every other event. */
export const installationReference = (installation: Installation) => ({
  id: installation.id,
  node_id: nodeId('IntegrationInstallation', installation.id),
});

export function appView(state: GithubState, app: App) {
  return {
    id: app.id,
    client_id: app.clientId,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    owner: simpleUser(state, app.bot),
    name: app.name,
    description: '',
    external_url: state.url,
    html_url: `${state.url}/apps/${app.slug}`,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    permissions: app.permissions,
    events: app.events,
    installations_count: state.installations.size,
  };
}
