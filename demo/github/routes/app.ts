/** The App about itself: installations, tokens, and where it is installed. */
import { Hono } from 'hono';
import { requireApp, requireInstallationToken } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import { type ApiEnv, suspended } from '../pipeline.ts';
import { idParam, pageOf, readBody } from '../request.ts';
import {
  findAccount,
  findRepository,
  type GithubState,
  installationOf,
  installationOfAccount,
} from '../state.ts';
import { mintToken, tokenRequestSchema, tokenSees } from '../tokens.ts';
import { isoTime } from '../views/address.ts';
import { appView, installationView } from '../views/installation.ts';
import { repositoryView } from '../views/repository.ts';

export function appRoutes(state: GithubState): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/app', (c) => {
    requireApp(c);
    return c.json(appView(state, state.app));
  });

  routes.get('/app/installations', (c) => {
    requireApp(c);
    const page = pageOf(c, [...state.installations.values()]);
    return c.json(page.map((each) => installationView(state, each)));
  });

  routes.get('/app/installations/:id', (c) => {
    requireApp(c);
    const installation = state.installations.get(idParam(c, 'id'));
    if (!installation) throw notFound();
    return c.json(installationView(state, installation));
  });

  routes.post('/app/installations/:id/access_tokens', (c) => {
    requireApp(c);
    const installation = state.installations.get(idParam(c, 'id'));
    if (!installation) throw notFound();
    if (installation.suspendedAtMs !== null) throw new ApiError(403, suspended);
    const minted = mintToken(state, installation, readBody(c, tokenRequestSchema));
    const ids = minted.repositoryIds;
    const repositories = [...(ids ?? [])].flatMap((id) => state.repositories.get(id) ?? []);
    const answer = {
      token: minted.token,
      expires_at: isoTime(minted.expiresAtMs),
      permissions: minted.permissions,
      repository_selection: 'selected',
      ...(ids ? { repositories: repositories.map((each) => repositoryView(state, each)) } : {}),
    };
    return c.json(answer, 201);
  });

  routes.delete('/installation/token', (c) => {
    state.tokens.delete(requireInstallationToken(c).token);
    return c.body(null, 204);
  });

  routes.get('/installation/repositories', (c) => {
    const token = requireInstallationToken(c);
    const seen = [...state.repositories.values()].filter((each) => tokenSees(token, each.id));
    const repositories = pageOf(c, seen).map((each) => repositoryView(state, each));
    return c.json({ total_count: seen.length, repository_selection: 'selected', repositories });
  });

  routes.get('/repos/:owner/:repo/installation', (c) => {
    requireApp(c);
    const repository = findRepository(state, c.req.param('owner'), c.req.param('repo'));
    const installation = repository && installationOf(state, repository);
    if (!installation) throw notFound();
    return c.json(installationView(state, installation));
  });

  for (const [path, type] of [
    ['/orgs/:login/installation', 'Organization'],
    ['/users/:login/installation', 'User'],
  ] as const) {
    routes.get(path, (c) => {
      requireApp(c);
      const account = findAccount(state, c.req.param('login'));
      const installation = account?.type === type ? installationOfAccount(state, account) : undefined;
      if (!installation) throw notFound();
      return c.json(installationView(state, installation));
    });
  }

  return routes;
}
