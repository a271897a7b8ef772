import type { GithubState, Repository } from '../state.ts';

/** Addresses in answers carry the prefix of GitHub Enterprise, as an App told GHE_HOST expects. */
export const apiUrl = (state: GithubState, path: string): string => `${state.url}/api/v3${path}`;

export const repositoryApiUrl = (state: GithubState, repository: Repository, path = ''): string =>
  apiUrl(state, `/repos/${repository.fullName}${path}`);

export const repositoryPage = (state: GithubState, repository: Repository, path = ''): string =>
  `${state.url}/${repository.fullName}${path}`;

export const nodeId = (kind: string, id: number | string): string =>
  Buffer.from(`0${kind.length}:${kind}${id}`).toString('base64');

/** REST answers give times in UTC without a fraction. */
export const isoTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
