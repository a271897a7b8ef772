/** Check runs. Their creation and completion come back to the App as events, as on GitHub. */
import { Hono } from 'hono';
import { accessRepository, requireInstallationToken } from '../access.ts';
import { notFound } from '../api-error.ts';
import { type CheckRun, changeCheckRun, checkRunChangeSchema, checkRunCreateSchema } from '../check-run.ts';
import { repositoryEvent } from '../events.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import { idParam, pageOf, readBody } from '../request.ts';
import type { GithubState } from '../state.ts';
import { isoTime } from '../views/address.ts';
import { checkRunView } from '../views/check-run.ts';
import type { Webhooks } from '../webhooks.ts';
import { requireCommit } from './commits.ts';

const write = { permission: 'checks', level: 'write' } as const;
const read = { permission: 'checks', level: 'read' } as const;

export function checkRoutes(state: GithubState, checkRuns: CheckRun[], webhooks: Webhooks): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const now = () => ({ ms: state.nowMs(), iso: isoTime(state.nowMs()) });

  routes.post('/repos/:owner/:repo/check-runs', async (c) => {
    const repository = accessRepository(state, c, write);
    requireInstallationToken(c);
    const body = readBody(c, checkRunCreateSchema);
    const headSha = await requireCommit(repository, body.head_sha);
    const sameCommit = checkRuns.find((each) => each.repository === repository && each.headSha === headSha);
    const run: CheckRun = {
      id: state.nextId(),
      suiteId: sameCommit?.suiteId ?? state.nextId(),
      repository,
      headSha,
      name: body.name,
      status: 'queued',
      conclusion: null,
      detailsUrl: null,
      externalId: '',
      startedAt: now().iso,
      completedAt: null,
      output: null,
      annotations: [],
      actions: [],
      history: [],
    };
    changeCheckRun(run, body, now());
    checkRuns.push(run);
    tell(run, 'created');
    return c.json(checkRunView(state, run), 201);
  });

  routes.patch('/repos/:owner/:repo/check-runs/:id', (c) => {
    const run = requireRun(c, write);
    requireInstallationToken(c);
    const before = run.status;
    changeCheckRun(run, readBody(c, checkRunChangeSchema), now());
    if (run.status === 'completed' && before !== 'completed') tell(run, 'completed');
    return c.json(checkRunView(state, run));
  });

  routes.get('/repos/:owner/:repo/check-runs/:id', (c) => c.json(checkRunView(state, requireRun(c, read))));

  routes.get('/repos/:owner/:repo/check-runs/:id/annotations', (c) => {
    return c.json(pageOf(c, requireRun(c, read).annotations));
  });

  routes.get('/repos/:owner/:repo/commits/:ref{.+}/check-runs', async (c) => {
    const repository = accessRepository(state, c, read);
    const headSha = await requireCommit(repository, c.req.param('ref'));
    const { check_name: name, status, app_id: appId, filter } = c.req.query();
    const wanted = checkRuns.filter((run) => {
      if (run.repository !== repository || run.headSha !== headSha) return false;
      if (name !== undefined && run.name !== name) return false;
      return (
        (status === undefined || run.status === status) && [undefined, String(state.app.id)].includes(appId)
      );
    });
    // Newest first; unless all are asked for, only the latest of each name.
    const found = wanted.toReversed().filter((run, index, all) => {
      return filter === 'all' || all.findIndex((other) => other.name === run.name) === index;
    });
    return c.json({
      total_count: found.length,
      check_runs: pageOf(c, found).map((run) => checkRunView(state, run)),
    });
  });

  function requireRun(c: ApiContext, need: typeof write | typeof read): CheckRun {
    const repository = accessRepository(state, c, need);
    const id = idParam(c, 'id');
    const run = checkRuns.find((each) => each.id === id && each.repository === repository);
    if (!run) throw notFound();
    return run;
  }

  function tell(run: CheckRun, action: 'created' | 'completed'): void {
    const payload = { action, check_run: checkRunView(state, run) };
    const event = repositoryEvent(state, 'check_run', run.repository, state.app.bot, payload);
    if (event) webhooks.sendLater(event);
  }

  return routes;
}
