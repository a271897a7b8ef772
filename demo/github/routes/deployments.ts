/** Deployments and their statuses. */
import { Hono } from 'hono';
import { z } from 'zod';
import { accessRepository, type Need } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { CheckRun } from '../check-run.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import { idParam, pageOf, readBody } from '../request.ts';
import type { GithubState, Repository } from '../state.ts';
import { simpleUser } from '../views/account.ts';
import { isoTime, nodeId, repositoryApiUrl } from '../views/address.ts';
import { requireCommit } from './commits.ts';

const states = ['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success'] as const;

const deploymentSchema = z.object({
  ref: z.string(),
  task: z.string().default('deploy'),
  auto_merge: z.boolean().default(true),
  required_contexts: z.array(z.string()).nullish(),
  payload: z.unknown().optional(),
  environment: z.string().default('production'),
  description: z.string().max(140).nullish(),
  transient_environment: z.boolean().default(false),
  production_environment: z.boolean().optional(),
});

const statusSchema = z.object({
  state: z.enum(states),
  log_url: z.string().default(''),
  target_url: z.string().optional(),
  description: z.string().max(140).default(''),
  environment: z.string().optional(),
  environment_url: z.string().default(''),
  auto_inactive: z.boolean().default(true),
});

export interface Deployment {
  id: number;
  repository: Repository;
  sha: string;
  createdAtMs: number;
  request: z.infer<typeof deploymentSchema>;
  statuses: { id: number; createdAtMs: number; request: z.infer<typeof statusSchema> }[];
}

const isProduction = ({ environment, production_environment }: Deployment['request']): boolean =>
  production_environment ?? environment === 'production';

const isKept = ({ request }: Deployment): boolean => request.transient_environment || isProduction(request);

export function deploymentRoutes(
  state: GithubState,
  deployments: Deployment[],
  checkRuns: CheckRun[],
): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/repos/:owner/:repo/deployments', async (c) => {
    const repository = access(c, 'write');
    const request = readBody(c, deploymentSchema);
    const sha = await requireCommit(repository, request.ref);
    // Without `required_contexts: []` GitHub wants every check of the commit green, our own included.
    const unfinished = checkRuns.some(
      (run) => run.repository === repository && run.headSha === sha && run.conclusion !== 'success',
    );
    const contexts = request.required_contexts;
    if (unfinished && (contexts === undefined || contexts === null || contexts.length > 0)) {
      throw new ApiError(409, `Conflict: Commit status checks failed for ${request.ref}.`);
    }
    const deployment = {
      id: state.nextId(),
      repository,
      sha,
      createdAtMs: state.nowMs(),
      request,
      statuses: [],
    };
    deployments.push(deployment);
    return c.json(deploymentView(deployment), 201);
  });

  routes.get('/repos/:owner/:repo/deployments', (c) => {
    const repository = access(c, 'read');
    const { environment, sha } = c.req.query();
    const found = deployments.filter((each) => {
      if (each.repository !== repository || (sha !== undefined && each.sha !== sha)) return false;
      return environment === undefined || each.request.environment === environment;
    });
    return c.json(pageOf(c, found.toReversed()).map(deploymentView));
  });

  routes.get('/repos/:owner/:repo/deployments/:id', (c) =>
    c.json(deploymentView(requireDeployment(c, 'read'))),
  );

  routes.post('/repos/:owner/:repo/deployments/:id/statuses', (c) => {
    const deployment = requireDeployment(c, 'write');
    const status = { id: state.nextId(), createdAtMs: state.nowMs(), request: readBody(c, statusSchema) };
    deployment.statuses.push(status);
    if (status.request.state === 'success' && status.request.auto_inactive) endOthers(deployment);
    return c.json(statusView(deployment, status), 201);
  });

  routes.get('/repos/:owner/:repo/deployments/:id/statuses', (c) => {
    const deployment = requireDeployment(c, 'read');
    return c.json(
      pageOf(c, deployment.statuses.toReversed()).map((status) => statusView(deployment, status)),
    );
  });

  /** Those of the same environment that were a success are no longer what runs there. */
  function endOthers({ id, repository, request: { environment } }: Deployment): void {
    for (const other of deployments) {
      if (other.id === id || other.repository !== repository) continue;
      if (other.request.environment !== environment || isKept(other)) continue;
      if (other.statuses.at(-1)?.request.state !== 'success') continue;
      const ended = statusSchema.parse({ state: 'inactive' });
      other.statuses.push({ id: state.nextId(), createdAtMs: state.nowMs(), request: ended });
    }
  }

  const access = (c: ApiContext, level: Need['level']): Repository =>
    accessRepository(state, c, { permission: 'deployments', level });

  function requireDeployment(c: ApiContext, level: Need['level']): Deployment {
    const repository = access(c, level);
    const id = idParam(c, 'id');
    const deployment = deployments.find((each) => each.id === id && each.repository === repository);
    if (!deployment) throw notFound();
    return deployment;
  }

  function deploymentView(deployment: Deployment) {
    const { request } = deployment;
    const url = repositoryApiUrl(state, deployment.repository, `/deployments/${deployment.id}`);
    return {
      url,
      id: deployment.id,
      node_id: nodeId('Deployment', deployment.id),
      task: request.task,
      original_environment: request.environment,
      environment: request.environment,
      description: request.description ?? null,
      created_at: isoTime(deployment.createdAtMs),
      updated_at: isoTime(deployment.createdAtMs),
      statuses_url: `${url}/statuses`,
      repository_url: repositoryApiUrl(state, deployment.repository),
      creator: simpleUser(state, state.app.bot),
      sha: deployment.sha,
      ref: request.ref,
      payload: request.payload ?? {},
      transient_environment: request.transient_environment,
      production_environment: isProduction(request),
    };
  }

  function statusView(deployment: Deployment, status: Deployment['statuses'][number]) {
    const url = repositoryApiUrl(state, deployment.repository, `/deployments/${deployment.id}`);
    const { auto_inactive: _, target_url: targetUrl, ...shown } = status.request;
    return {
      ...shown,
      target_url: targetUrl ?? shown.log_url,
      environment: shown.environment ?? deployment.request.environment,
      url: `${url}/statuses/${status.id}`,
      id: status.id,
      node_id: nodeId('DeploymentStatus', status.id),
      creator: simpleUser(state, state.app.bot),
      created_at: isoTime(status.createdAtMs),
      updated_at: isoTime(status.createdAtMs),
      deployment_url: url,
      repository_url: repositoryApiUrl(state, deployment.repository),
    };
  }

  return routes;
}
