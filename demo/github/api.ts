/** All of HTTP: what every request passes, then Git, then the API at the root and under GitHub Enterprise's prefix. */
import { Hono } from 'hono';
import { ApiError, errorResponse, notFound } from './api-error.ts';
import type { CheckRun } from './check-run.ts';
import type { Comments } from './comments.ts';
import type { Discussions } from './discussion.ts';
import type { Faults } from './faults.ts';
import type { GitHttp } from './git/http.ts';
import {
  type ApiEnv,
  failing,
  holdingToContract,
  type RecordedRequest,
  recording,
  refusingBadCredentials,
} from './pipeline.ts';
import { limitingRate, type RateLimit } from './rate-limit.ts';
import { appRoutes } from './routes/app.ts';
import { checkRoutes } from './routes/checks.ts';
import { commitRoutes } from './routes/commits.ts';
import { contentRoutes } from './routes/contents.ts';
import { type Deployment, deploymentRoutes } from './routes/deployments.ts';
import { gitRoutes } from './routes/git.ts';
import { hookRoutes } from './routes/hooks.ts';
import { issueRoutes } from './routes/issues.ts';
import { loginRoutes } from './routes/login.ts';
import { manifestRoutes } from './routes/manifest.ts';
import { pullRoutes } from './routes/pulls.ts';
import { repositoryRoutes } from './routes/repositories.ts';
import type { Account, GithubState } from './state.ts';
import type { Webhooks } from './webhooks.ts';

interface ApiParts {
  state: GithubState;
  webhooks: Webhooks;
  requests: RecordedRequest[];
  violations: string[];
  faults: Faults;
  rateLimit: RateLimit;
  gitHttp: GitHttp;
  checkRuns: CheckRun[];
  deployments: Deployment[];
  discussions: Discussions;
  comments: Comments;
  whoSignsIn: () => Account;
}

export function createApi(parts: ApiParts): Hono<ApiEnv> {
  const { state, webhooks, checkRuns, discussions } = parts;
  // Longer paths first: `commits/:ref` would take `commits/main/check-runs` for a ref.
  const groups = [
    appRoutes(state),
    repositoryRoutes(state),
    checkRoutes(state, checkRuns, webhooks),
    pullRoutes(state, discussions),
    commitRoutes(state),
    contentRoutes(state),
    issueRoutes(state, discussions, parts.comments, webhooks),
    deploymentRoutes(state, parts.deployments, checkRuns),
    hookRoutes(state, webhooks),
    loginRoutes(state, parts.whoSignsIn),
    manifestRoutes(state, webhooks),
  ];
  const root = new Hono<ApiEnv>();
  root.use(recording(state, parts.requests), holdingToContract(parts.violations));
  root.use(failing(parts.faults), refusingBadCredentials);
  root.route('/', gitRoutes(state, parts.gitHttp));
  root.use(limitingRate(state, parts.rateLimit));
  for (const group of groups) {
    root.route('/api/v3', group);
    root.route('/', group);
  }
  root.notFound(() => errorResponse(notFound()));
  // The stack is for whoever wrote the failing test: nobody else ever talks to this server.
  root.onError((error) =>
    errorResponse(error instanceof ApiError ? error : new ApiError(500, String(error.stack))),
  );
  return root;
}
