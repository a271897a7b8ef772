import { HTTPException } from 'hono/http-exception';
import type { Actor } from '../access/actor.ts';
import type { Login } from '../access/login.ts';
import type { Access } from '../access/roles.ts';
import type { Session, Sessions } from '../access/sessions.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { RunCommands } from '../runs/commands.ts';
import type { EventFeed } from '../runs/event-feed.ts';
import type { LogStore } from '../runs/log-store.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Triggers } from '../runs/triggers.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Stacks } from '../stacks/stacks.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Webhooks } from '../webhooks/endpoint.ts';
import type { Replays } from '../webhooks/replays.ts';
import type { RunDeliveries } from '../webhooks/run-deliveries.ts';
import type { TestDeliveries } from '../webhooks/test-delivery.ts';
import { deliveryRoutes } from './api/deliveries.ts';
import { environmentRoutes } from './api/environment.ts';
import { eventRoutes } from './api/events.ts';
import { createGuard } from './api/guard.ts';
import { type InboxControl, inboxRoutes } from './api/inbox.ts';
import { lockRoutes } from './api/lock.ts';
import { createLogStreams, type LogStreamLimits } from './api/log-stream.ts';
import { moduleRoutes } from './api/modules.ts';
import { replayRoutes } from './api/replays.ts';
import { runCommandRoutes } from './api/run-commands.ts';
import { runDeliveryRoutes } from './api/run-deliveries.ts';
import { runLogRoutes } from './api/run-logs.ts';
import { runRoutes } from './api/runs.ts';
import { stackRunRoutes } from './api/stack-runs.ts';
import { stackRoutes } from './api/stacks.ts';
import { webhookRoutes } from './api/webhook.ts';
import { createWebhookGuard } from './api/webhook-guard.ts';
import { webhookTestRoutes } from './api/webhook-test.ts';
import { stackWebhookRoutes } from './api/webhooks.ts';
import { newApi } from './api.ts';
import { authenticate, unauthenticated } from './authenticate.ts';
import { type GithubInbox, githubRoutes } from './github-route.ts';
import type { Health } from './health.ts';
import { type MetricsSource, metricsRoutes } from './metrics-route.ts';
import { methodsOf, openapiDocument, openapiRoute, unknownParameters } from './openapi.ts';
import { notFound, problem, problemOf, refuse } from './problem.ts';
import { withJsonBody } from './request-body.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { statusRoutes } from './status-routes.ts';
import { assetRoutes } from './ui/assets.ts';
import { createBrowserSessions } from './ui/browser-session.ts';
import { loginRoutes } from './ui/login-routes.ts';
import { uiRoutes } from './ui/ui-routes.ts';

/**
 * What the web needs of the rest. It translates HTTP to the features and back, asks `access` for every route,
 * and decides nothing else; it knows no database, no GitHub and no worker.
 */
export interface WebParts {
  readonly version: string;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly access: Access;
  readonly tokens: Pick<Tokens, 'authenticate'>;
  readonly sessions: Sessions;
  /** Null: nobody can log in to the UI. */
  readonly login: Login | null;
  /** Without a trailing slash; asked late, as it may follow from the address that the server listens on. */
  readonly publicUrl: () => string;
  readonly isSandboxed: boolean;
  readonly stacks: Stacks;
  readonly stackStore: StackStore;
  readonly transactions: Transactions;
  readonly refusesVariable: (stack: Stack, name: string) => boolean;
  readonly runs: RunStore;
  readonly commands: RunCommands;
  readonly triggers: Pick<Triggers, 'manual'>;
  readonly logs: LogStore;
  readonly events: EventFeed;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly runDeliveries: RunDeliveries;
  readonly webhookTests: TestDeliveries;
  readonly clock: Clock;
  /** Null without GitHub settings. */
  readonly github: GithubInbox | null;
  readonly inbox: InboxControl;
  readonly health: () => Promise<Health>;
  readonly metrics: MetricsSource;
  /** Tests shorten it. */
  readonly streamLimits?: LogStreamLimits;
}

export interface Web {
  /** For what comes from a socket. */
  fetch(request: Request): Promise<Response>;
  /** For callers in this process who are known already: the CLI. The request's own token counts for nothing. */
  fetchAs(actor: Actor, request: Request): Promise<Response>;
  /** Ends the answers that would go on: followed logs. */
  endStreams(): void;
}

export function createWeb(parts: WebParts): Web {
  const { logger, access, tokens } = parts;
  const browserSessions = createBrowserSessions(parts);
  const whoIs = (request: Request) => authenticate(request, { tokens, browserSessions });
  const guard = createGuard({ access, stacks: parts.stackStore, runs: parts.runs });
  const streams = createLogStreams(parts.logs, parts.streamLimits);
  const app = newApi();

  app.use(async (c, next) => {
    await next();
    addSecurityHeaders(c.res.headers);
    // What a page asks of the API is no answer to anybody outside.
    if (!c.env.actor) parts.metrics.responded(c.res.status);
  });

  app.route('/', statusRoutes({ ...parts, whoIs, isInstanceAdmin: access.isInstanceAdmin }));
  app.route('/', metricsRoutes({ ...parts, whoIs, seesInstance: access.seesInstance }));
  app.route('/', githubRoutes(parts.github));
  app.openapi(openapiRoute, (c) => c.json(document, 200));
  const frameFor = (session: Session | null) => ({
    session,
    isSandboxed: parts.isSandboxed,
  });
  app.route('/', assetRoutes());
  app.route('/', loginRoutes({ ...parts, browserSessions, frameFor }));
  const fetchAs = async (actor: Actor, request: Request) => app.fetch(request, { actor });
  app.route('/', uiRoutes({ ...parts, browserSessions, frameFor, fetchAs }));

  app.use('/api/v1/*', async (c, next) => {
    const given = c.env.actor;
    const who = given ? ({ kind: 'actor', actor: given } as const) : await whoIs(c.req.raw);
    if (who.kind !== 'actor') return unauthenticated(who.kind);
    c.set('actor', who.actor);
    return next();
  });
  // Before anything of the request is judged: what it lacks is no business of others.
  app.use('/api/v1/inbox/*', async (c, next) => {
    if (!access.isInstanceAdmin(c.var.actor)) throw notFound();
    return next();
  });
  app.use('/api/v1/*', async (c, next) => {
    refuseUnknownParameters(document, c.req.raw);
    if (['POST', 'PUT', 'PATCH'].includes(c.req.method)) {
      const request = await withJsonBody(c.req.raw);
      if (request instanceof Response) return request;
      c.req.raw = request;
    }
    return next();
  });

  const api = { ...parts, guard, streams, webhookGuard: createWebhookGuard({ ...parts, guard }) };
  for (const routes of [
    stackRoutes(api),
    environmentRoutes(api),
    lockRoutes(api),
    stackRunRoutes(api),
    runRoutes(api),
    runLogRoutes(api),
    runCommandRoutes(api),
    stackWebhookRoutes(api),
    webhookRoutes(api),
    deliveryRoutes(api),
    replayRoutes(api),
    webhookTestRoutes(api),
    runDeliveryRoutes(api),
    eventRoutes(api),
    inboxRoutes(api),
    moduleRoutes(),
  ]) {
    app.route('/', routes);
  }

  let fullDiskToldMs = Number.NEGATIVE_INFINITY;
  /** Once in a while, not for each request: the log lies on that disk, too. */
  function tellOfFullDisk(error: UserError): void {
    if (performance.now() - fullDiskToldMs < 60_000) return;
    fullDiskToldMs = performance.now();
    logger.error({ err: error }, 'the disk is full: requests that would store something are refused');
  }

  const document = openapiDocument(app, parts.version);

  app.notFound((c) => {
    const methods = methodsOf(document, c.req.path);
    if (methods.length === 0) return problemOf(notFound());
    const allow = methods.join(', ');
    return problem('method-not-allowed', { detail: `Possible here: ${allow}.`, headers: { allow } });
  });

  app.onError((error, c) => {
    if (error instanceof UserError) {
      if (error.code === 'storage-full') tellOfFullDisk(error);
      return problemOf(error);
    }
    if (error instanceof HTTPException) {
      return error.res ?? problem('malformed-request', { detail: error.message });
    }
    const errorId = parts.newId();
    // The route, not the address: ids are enough to find the request, and queries may hold anything.
    logger.error({ err: error, errorId, method: c.req.method, path: c.req.path }, 'a request failed');
    return problem('internal-error', {
      detail: 'Something went wrong inside.',
      hint: `The log of the server has more under ${errorId}.`,
      extra: { errorId },
    });
  });

  return {
    fetch: async (request) => app.fetch(request, {}),
    fetchAs,
    endStreams: () => streams.endAll(),
  };
}

/** A misspelt filter must not show everything. */
function refuseUnknownParameters(document: object, request: Request): void {
  const unknown = unknownParameters(document, request.method, new URL(request.url));
  if (unknown.length === 0) return;
  refuse('invalid-input', {
    detail: `${unknown.join(', ')}: no such query parameter`,
    errors: unknown.map((path) => ({ path, message: 'no such query parameter' })),
  });
}
