import type { Actor } from '../access/actor.ts';
import type { Admission } from '../access/admission.ts';
import type { AuditLog } from '../access/audit-log.ts';
import type { Idempotency } from '../access/idempotency.ts';
import type { Login } from '../access/login.ts';
import { commandLine, type Origin, originOfRequest } from '../access/origin.ts';
import type { Access } from '../access/roles.ts';
import type { Session, Sessions } from '../access/sessions.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { SourceCheck } from '../policies/check-source.ts';
import type { NoticeStore } from '../policies/notice-store.ts';
import type { Overrides } from '../policies/overrides.ts';
import type { Policies } from '../policies/policies.ts';
import type { DecisionStore, SampleStore } from '../policies/policy-store.ts';
import type { Workbench } from '../policies/workbench.ts';
import type { Gates } from '../runs/approvals/gates.ts';
import type { Reviewing } from '../runs/approvals/reviewing.ts';
import type { RunCommands } from '../runs/commands.ts';
import type { EventFeed } from '../runs/event-feed.ts';
import type { LogStore } from '../runs/log-store.ts';
import type { Mending } from '../runs/mending.ts';
import type { SeenPlans } from '../runs/plan/seen-plans.ts';
import type { RunCauseStore } from '../runs/run-causes.ts';
import type { RunList } from '../runs/run-list.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { StackList } from '../runs/stack-list.ts';
import type { Triggers } from '../runs/triggers.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Stacks } from '../stacks/stacks.ts';
import type { VendorSettingsSchema } from '../stacks/vendor-settings.ts';
import type { Transactions } from '../tx.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Webhooks } from '../webhooks/endpoint.ts';
import type { Replays } from '../webhooks/replays.ts';
import type { RunDeliveries } from '../webhooks/run-deliveries.ts';
import type { TestDeliveries } from '../webhooks/test-delivery.ts';
import { accountRoutes } from './api/accounts.ts';
import { auditRoutes } from './api/audit.ts';
import { deliveryRoutes } from './api/deliveries.ts';
import { environmentRoutes } from './api/environment.ts';
import { createEventStreams, type EventStreamLimits } from './api/event-streams.ts';
import { eventRoutes } from './api/events.ts';
import { createGuard } from './api/guard.ts';
import { type InboxControl, inboxRoutes } from './api/inbox.ts';
import { lockRoutes } from './api/lock.ts';
import { moduleRoutes } from './api/modules.ts';
import { noticeRoutes } from './api/notices.ts';
import { policiesRoutes } from './api/policies.ts';
import { policyRoutes } from './api/policy.ts';
import { policyDecisionRoutes } from './api/policy-decisions.ts';
import { createPolicyGuard } from './api/policy-guard.ts';
import { policySampleRoutes } from './api/policy-samples.ts';
import { policySimulationRoutes } from './api/policy-simulations.ts';
import { replayRoutes } from './api/replays.ts';
import { repositoryRoutes } from './api/repositories.ts';
import { runCommandRoutes } from './api/run-commands.ts';
import { runDeliveryRoutes } from './api/run-deliveries.ts';
import { runListRoutes } from './api/run-list.ts';
import { runLogRoutes } from './api/run-logs.ts';
import { runMendingRoutes } from './api/run-mending.ts';
import { runOverrideRoutes } from './api/run-override.ts';
import { runPlanRoutes } from './api/run-plan.ts';
import { runReviewRoutes } from './api/run-reviews.ts';
import { runWorkflowRoutes } from './api/run-workflow.ts';
import { runRoutes } from './api/runs.ts';
import { sessionRoutes } from './api/sessions.ts';
import { stackListRoutes } from './api/stack-lists.ts';
import { stackPolicyRoutes } from './api/stack-policies.ts';
import { stackRunRoutes } from './api/stack-runs.ts';
import { stackRoutes } from './api/stacks.ts';
import { systemRoutes } from './api/system.ts';
import { tokenRoutes } from './api/tokens.ts';
import { type OfferedVendor, vendorRoutes } from './api/vendors.ts';
import { webhookRoutes } from './api/webhook.ts';
import { createWebhookGuard } from './api/webhook-guard.ts';
import { webhookTestRoutes } from './api/webhook-test.ts';
import { stackWebhookRoutes } from './api/webhooks.ts';
import { newApi } from './api.ts';
import { createSubjects } from './audit-subject.ts';
import { authenticate } from './authenticate.ts';
import { auditGate } from './gates/audit.ts';
import { authenticationGate } from './gates/authentication.ts';
import { idempotencyGate } from './gates/idempotency.ts';
import { inputGate } from './gates/input.ts';
import { instanceGate } from './gates/instance.ts';
import { notModifiedGate } from './gates/not-modified.ts';
import { rateGate, takePage } from './gates/rate.ts';
import { type GithubInbox, githubRoutes } from './github-route.ts';
import type { Health } from './health.ts';
import { type MetricsSource, metricsRoutes } from './metrics-route.ts';
import { openapiDocument, openapiRoute } from './openapi.ts';
import { createOperations } from './operations.ts';
import { createRateLimit } from './rate-limit.ts';
import { addRefusals } from './refusals.ts';
import type { CursorBox } from './sealed-cursor.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { statusRoutes } from './status-routes.ts';
import type { SystemReport } from './system-report.ts';
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
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly audit: Pick<AuditLog, 'begin' | 'end' | 'list'>;
  readonly idempotency: Pick<Idempotency, 'begin'>;
  /** Requests a minute of each token and session; 0: as many as they like. */
  readonly apiRateLimit: number;
  /** Null: nobody can log in to the UI. */
  readonly login: Login | null;
  readonly admission: Admission;
  /** Without a trailing slash; asked late, as it may follow from the address that the server listens on. */
  readonly publicUrl: () => string;
  readonly isSandboxed: boolean;
  /** Where pages of repositories are, e.g. https://github.com */
  readonly githubUrl: string;
  /** The page of the App on GitHub; null while GitHub does not say. */
  readonly appPage: () => Promise<string | null>;
  readonly stacks: Stacks;
  readonly stackStore: StackStore;
  readonly repositories: Pick<RepositoryStore, 'list' | 'find' | 'listAccounts'>;
  readonly vendors: readonly (OfferedVendor & VendorSettingsSchema)[];
  readonly stackList: StackList;
  readonly cursorBox: CursorBox;
  readonly transactions: Transactions;
  readonly refusesVariable: (stack: Stack, name: string) => boolean;
  readonly runs: RunStore;
  readonly runList: RunList;
  readonly causes: RunCauseStore;
  readonly notices: Pick<NoticeStore, 'list'>;
  readonly seenPlans: SeenPlans;
  readonly commands: RunCommands;
  readonly gates: Gates;
  readonly reviewing: Reviewing;
  readonly mending: Mending;
  readonly overrides: Overrides;
  readonly triggers: Pick<Triggers, 'manual'>;
  readonly logs: LogStore;
  readonly events: EventFeed;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly runDeliveries: RunDeliveries;
  readonly webhookTests: TestDeliveries;
  readonly policies: Policies;
  readonly sourceCheck: SourceCheck;
  readonly workbench: Workbench;
  readonly decisions: DecisionStore;
  readonly samples: SampleStore;
  readonly clock: Clock;
  /** Null without GitHub settings. */
  readonly github: GithubInbox | null;
  readonly inbox: InboxControl;
  readonly health: () => Promise<Health>;
  readonly system: () => Promise<SystemReport>;
  readonly metrics: MetricsSource;
  /** Tests shorten it. */
  readonly streamLimits?: EventStreamLimits;
}

export interface Web {
  /** For what comes from a socket; `address` is that of its other end. */
  fetch(request: Request, address?: string): Promise<Response>;
  /** For the command line in this process, whose user is known. The request's own token counts for nothing. */
  fetchAs(actor: Actor, request: Request): Promise<Response>;
  /** Ends the answers that would go on: followed runs and logs. */
  endStreams(): void;
}

export function createWeb(parts: WebParts): Web {
  const { access, tokens } = parts;
  const browserSessions = createBrowserSessions(parts);
  const whoIs = (request: Request) => authenticate(request, { tokens, browserSessions });
  const guard = createGuard({ access, stacks: parts.stackStore, runs: parts.runs });
  const policyGuard = createPolicyGuard({ ...parts, guard });
  const streams = createEventStreams(parts.streamLimits);
  const rateLimit = parts.apiRateLimit === 0 ? null : createRateLimit(parts.apiRateLimit, parts.clock);
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
    isInstanceAdmin: session !== null && access.isInstanceAdmin(session.actor),
  });
  app.route('/', assetRoutes());
  app.route('/', loginRoutes({ ...parts, browserSessions, frameFor }));
  const fetchAs = async (actor: Actor, origin: Origin, request: Request) =>
    app.fetch(request, { actor, origin });
  const countPage = ({ record: { id } }: Session) => takePage(rateLimit, { kind: 'session', id });
  app.route('/', uiRoutes({ ...parts, browserSessions, frameFor, fetchAs, countPage }));

  const gated = { ...parts, operations: () => operations, subjectOf: createSubjects(parts) };
  for (const gate of [
    authenticationGate(whoIs),
    rateGate(rateLimit),
    auditGate(gated),
    instanceGate(gated.operations, access),
    inputGate(gated.operations),
    notModifiedGate,
    idempotencyGate({ ...gated, guard, policyGuard }),
  ]) {
    app.use('/api/v1/*', gate);
  }

  const webhookGuard = createWebhookGuard({ ...parts, guard });
  const api = { ...parts, guard, streams, webhookGuard, policyGuard };
  for (const routes of [
    stackListRoutes(api),
    stackRoutes(api),
    repositoryRoutes(api),
    vendorRoutes(api),
    environmentRoutes(api),
    lockRoutes(api),
    stackRunRoutes(api),
    runListRoutes(api),
    runRoutes(api),
    runWorkflowRoutes(api),
    runPlanRoutes(api),
    runLogRoutes(api),
    runCommandRoutes(api),
    runReviewRoutes(api),
    runMendingRoutes(api),
    runOverrideRoutes(api),
    stackWebhookRoutes(api),
    webhookRoutes(api),
    deliveryRoutes(api),
    replayRoutes(api),
    webhookTestRoutes(api),
    runDeliveryRoutes(api),
    policiesRoutes(api),
    policyRoutes(api),
    policyDecisionRoutes(api),
    policySampleRoutes(api),
    policySimulationRoutes(api),
    stackPolicyRoutes(api),
    eventRoutes(api),
    inboxRoutes(api),
    systemRoutes(api),
    tokenRoutes(api),
    sessionRoutes(api),
    accountRoutes(api),
    auditRoutes(api),
    noticeRoutes(api),
    moduleRoutes(),
  ]) {
    app.route('/', routes);
  }

  const document = openapiDocument(app, parts);
  const operations = createOperations(document);
  addRefusals(app, { ...parts, operations, browserSessions, frameFor });

  return {
    fetch: async (request, address = undefined) =>
      app.fetch(request, { origin: originOfRequest(request, address ?? null) }),
    fetchAs: (actor, request) => fetchAs(actor, commandLine, request),
    endStreams: () => streams.endAll(),
  };
}
