/** Clone and fetch over HTTP, with an installation token as the password. Nobody pushes here. */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { GitHttp } from '../git/http.ts';
import { type ApiContext, type ApiEnv, gitChallenge } from '../pipeline.ts';
import { findRepository, type GithubState } from '../state.ts';
import { allows, tokenSees } from '../tokens.ts';

export function gitRoutes(state: GithubState, gitHttp: GitHttp): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  const serve = (servicePath: string) => async (c: ApiContext) => {
    const name = (c.req.param('repo') ?? '').replace(/\.git$/, '');
    const repository = findRepository(state, c.req.param('owner') ?? '', name);
    const caller = c.get('caller');
    const isPublic = repository?.private === false;
    // Whether a private repository exists is nobody's business before they said who they are.
    if (caller.kind === 'none' && !isPublic) return c.text('Repository not found.', 401, gitChallenge(c));
    const seen = caller.kind === 'installation' && repository && tokenSees(caller.token, repository.id);
    if (!repository || !(seen || isPublic)) return c.text('Repository not found.', 404);
    if (seen && !isPublic && !allows(caller.token.permissions, 'contents', 'read')) {
      return c.text('Write access to repository not granted.', 403);
    }
    const { incoming, outgoing } = c.env;
    c.get('recorded').status = await gitHttp.serve(incoming, outgoing, repository.gitDir, servicePath);
    return RESPONSE_ALREADY_SENT;
  };

  routes.get('/:owner/:repo{[^/]+\\.git}/info/refs', async (c) => {
    // Without a service this would be the dumb protocol; git-receive-pack would be a push.
    if (c.req.query('service') === 'git-upload-pack') return serve('info/refs')(c);
    return c.text('Write access to repository not granted.', 403);
  });
  routes.post('/:owner/:repo{[^/]+\\.git}/git-upload-pack', serve('git-upload-pack'));
  routes.post('/:owner/:repo{[^/]+\\.git}/git-receive-pack', (c) => {
    return c.text('Write access to repository not granted.', 403);
  });
  return routes;
}
