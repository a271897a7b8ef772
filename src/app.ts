import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Actor } from './access/actor.ts';
import { createAdmission } from './access/admission.ts';
import { createAuditLog } from './access/audit-log.ts';
import { createIdempotency } from './access/idempotency.ts';
import { createLogin } from './access/login.ts';
import { createAccess } from './access/roles.ts';
import { createSessions, personActor } from './access/sessions.ts';
import { createTokens } from './access/tokens.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { doctorReport, healthOf } from './doctor.ts';
import { createSqliteEngine } from './engine/sqlite-engine.ts';
import { examineGithub } from './github/doctor/doctor.ts';
import { createGithub } from './github/github.ts';
import { createUnconfiguredGithub } from './github/unconfigured-github.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createIds } from './ids.ts';
import { createInspection } from './inspection.ts';
import { findOpa } from './installed-opa.ts';
import { openSandbox, sandboxDirectory, testSandbox } from './installed-sandbox.ts';
import { createVendors } from './installed-vendors.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createFollowUpJobs } from './policies/follow-up-jobs.ts';
import { createOpa } from './policies/opa.ts';
import { createPolicyFeature } from './policies/policies-feature.ts';
import { type Buttons, createButtons } from './runs/buttons.ts';
import { type CommentCommands, createCommentCommands } from './runs/comments/comment-commands.ts';
import { createMending } from './runs/mending.ts';
import { createOfferButton } from './runs/offer-button.ts';
import { createSeenPlans } from './runs/plan/seen-plans.ts';
import { createReruns, type Reruns } from './runs/reruns.ts';
import { createRetention } from './runs/retention.ts';
import { createRuns, type Runs } from './runs/runs.ts';
import { delegateCgroup } from './sandbox/cgroup/delegation.ts';
import { closeInheritedDescriptors } from './sandbox/descriptors.ts';
import { leftoverMark } from './sandbox/leftovers.ts';
import { applyLimits, defaultLimits, processLimits } from './sandbox/limits.ts';
import { startServing } from './serving.ts';
import { vendorName } from './stacks/stack.ts';
import { createStacks } from './stacks/stacks.ts';
import { openStores } from './storage/stores.ts';
import type { Tx } from './tx.ts';
import type { DoctorItem, DoctorReport, Health } from './web/health.ts';
import { createWeb } from './web/server.ts';
import { createWebhookFeature } from './webhooks/webhooks.ts';
import { createCaches } from './worker/caches.ts';
import { createRoomCheck } from './worker/room.ts';
import { networkPolicy } from './worker/run-network.ts';
import { createWorker } from './worker/worker.ts';
import { createWorkspaces } from './worker/workspace.ts';

/** The composition root: the only file that knows every folder. It makes the parts and wires them. */
export interface App extends AsyncDisposable {
  /** The HTTP interface without a socket. */
  fetch(request: Request): Promise<Response>;
  /** The same for a caller in this process who is known already: the command line. */
  fetchAs(actor: Actor, request: Request): Promise<Response>;
  health(): Promise<Health>;
  /** `withGithub`: GitHub is asked, too. */
  doctor(options?: { readonly withGithub: boolean }): Promise<DoctorReport>;
  /** Becomes the server of this data directory: recovers, starts the loops, listens. Once. */
  start(): Promise<{ readonly url: string }>;
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};

export async function openApp(config: Config, logger: Logger): Promise<App> {
  // What whoever started us left open would be open inside the sandbox too.
  closeInheritedDescriptors();
  // Before anything is started: the cgroup that is divided must hold nobody but us.
  const delegation = delegateCgroup();
  await using opening = new AsyncDisposableStack();
  const clock = systemClock;
  const stores = await openStores(config);
  const { database } = stores;
  const newId = createIds(clock, stores.newestId);
  opening.use(database);
  opening.use(stores.logs);
  const basics = { transactions: database, clock, newId, logger };

  const isSandboxed = config.sandbox.kind !== 'none';
  const sandbox = openSandbox(config, delegation);
  const opa = createOpa({
    path: findOpa(config.tools)?.path ?? null,
    sandbox,
    directory: join(config.dataDir, 'policies'),
  });
  const ending = new AbortController();
  const githubTraffic = () => github.budget.standing();
  const metrics = createMetrics({ store: stores.standing, githubTraffic, clock, version });
  const policies = createPolicyFeature({
    ...{ ...basics, stores, engine: opa, observer: metrics.policies, ending: ending.signal },
    onChanged: async (tx, { kind }, stackKeys) => {
      if (kind === 'APPROVAL') await runs.approvalJobs.policiesChanged(tx, stackKeys);
    },
    onLoginPolicyChanged: (tx, by) => sessions.endOthers(tx, by),
  });
  const installed = await createVendors(config.tools, isSandboxed);
  const vendors = installed.map(({ vendor }) => vendor);
  const webhooks = opening.use(
    createWebhookFeature({
      ...basics,
      stores,
      observer: metrics.webhooks,
      noteOnRun: (tx, runId, note) => github.noteOnRun(tx, runId, note),
      allowedTargets: config.webhookAllowedTargets,
      caBundle: config.caBundle === null ? null : readFileSync(config.caBundle, 'utf8'),
      version,
    }),
  );

  const idempotency = createIdempotency({ ...basics, store: stores.idempotency });
  const audit = createAuditLog({ ...basics, store: stores.audit });
  const sessions = createSessions({ ...basics, audit, store: stores.sessions });
  const admission = createAdmission({
    ...basics,
    judge: policies.loginJudge,
    isAdmin: (person) => access.isInstanceAdmin(personActor(person)),
    sessions,
    audit,
  });
  const scratchDirectory = join(config.dataDir, 'scratch');
  let url = `http://${config.listen.host}:${config.listen.port}`;
  const publicUrl = () => config.publicUrl ?? url;
  // GitHub starts runs, runs fetch from GitHub: the one is asked late.
  let runs: Runs;
  let buttons: Buttons;
  let commentCommands: CommentCommands;
  let offerButton: ReturnType<typeof createOfferButton>;
  let reruns: Reruns;
  const onRelabeled = (tx: Tx, stackKey: string) => runs.approvalJobs.policiesChanged(tx, [stackKey]);
  const github = opening.use(
    config.github === null
      ? createUnconfiguredGithub({ ...basics, stores })
      : await createGithub({
          ...basics,
          settings: config.github,
          stores,
          observer: metrics.reconciling,
          sessions,
          vendors,
          git: {
            path: config.tools.path,
            caBundle: config.caBundle,
            mark: leftoverMark(sandboxDirectory(config)),
          },
          scratchDirectory,
          publicUrl,
          gates: { standing: (run, tx) => runs.gates.standing(run, tx) },
          isSandboxed,
          onPush: (push, deliveryId) => runs.triggers.push(push, deliveryId),
          onPullRequest: {
            changed: (change, deliveryId) => runs.pullRequests.changed(change, deliveryId),
            closed: (closing) => runs.pullRequests.closed(closing),
            isJudged: (repositoryId) => runs.pullRequests.isJudged(repositoryId),
          },
          onButton: (press) => buttons.press(press),
          onComment: (comment) => commentCommands.handle(comment),
          onOffer: (press) => offerButton(press),
          policyLines: policies.lines,
          onRelabeled,
          onMissedPush: (missed) => runs.missedPushes.handle(missed),
          onRerun: (request) => reruns.again(request),
          mergeGroups: () => runs.mergeGroups,
        }),
  );
  // Before GitHub's loops are waited for: what is judged for them is judged anew by the next life.
  opening.defer(() => ending.abort());
  const queue = createSqliteEngine({ database, clock, newId });
  runs = createRuns({
    ...basics,
    ...stores,
    queue,
    source: github.source,
    isSandboxed,
    judge: policies.planJudge,
    pushJudge: policies.pushJudge,
    guards: policies.guards,
    offers: github.offers,
    missedPushes: config.missedPushes,
    showUnaffected: github.showUnaffected,
    onGateChanged: github.onGateChanged,
    reactors: [webhooks.reactor, github.reactor, createFollowUpJobs({ ...stores, queue })],
  });
  const access = createAccess({ admins: config.admins, permissions: github.permissions });
  const stacks = createStacks({
    ...basics,
    store: stores.stacks,
    repositories: stores.repositories,
    directory: github.directory,
    vendors,
    onUnlock: runs.scheduler.wake,
    onRelabeled,
  });
  commentCommands = createCommentCommands({
    ...basics,
    ...{ runs: stores.runs, stackStore: stores.stacks, stacks, access, commands: runs.commands },
    ...{ reviewing: runs.reviewing, gates: runs.gates },
    ...{ source: github.source, conversation: github.conversation, answered: stores.answered, audit },
    runUrl: (runId) => `${publicUrl()}/runs/${runId}`,
  });
  const pressing = {
    ...{ ...basics, ...stores, audit, access, source: github.source },
    ...{ commands: runs.commands, reviewing: runs.reviewing },
  };
  buttons = createButtons(pressing);
  reruns = createReruns(pressing);
  offerButton = createOfferButton(pressing);

  // What was committed last may still want to be looked at; not with a closed database.
  opening.defer(() => runs.scheduler.settled());

  const ofProcesses = processLimits(config.sandbox);
  const workspacesDirectory = join(config.dataDir, 'workspaces');
  const caches = createCaches({
    ...{ directory: join(config.dataDir, 'cache'), workspacesDirectory, sandbox, clock, logger },
    ...{ maxBytes: config.cacheMaxBytes, keepFreeBytes: config.minFreeBytes || null },
  });
  const workspaces = createWorkspaces({
    ...{ directory: workspacesDirectory, stateDirectory: join(config.dataDir, 'state'), sandbox, caches },
  });
  const worker = createWorker({
    server: runs.workerService,
    sandbox,
    vendors,
    network: networkPolicy(config.sandbox),
    // An apply is never ended because the disk runs full.
    limits: {
      plan: { ...defaultLimits, ...ofProcesses, freeBytes: config.minFreeBytes || null },
      apply: { ...applyLimits, ...ofProcesses },
    },
    clock,
    workspaces,
    caches,
    slots: config.workers,
    hasRoom: createRoomCheck({ directory: config.dataDir, floorBytes: config.minFreeBytes, logger }),
    logger,
  });

  const retention = createRetention({
    ...basics,
    store: stores.retention,
    logs: stores.logs,
    rules: config.retention,
  });

  const sandboxTest = once(() => testSandbox(config, sandbox));
  const inspection = createInspection({
    ...{ version, config, stores, sandboxTest, vendors: installed, policyEngine: opa, clock },
  });

  const tokens = createTokens({ ...basics, store: stores.tokens });
  const web = createWeb({
    ...basics,
    version,
    access,
    tokens,
    sessions,
    admission,
    audit,
    idempotency,
    apiRateLimit: config.apiRateLimit,
    login: github.identityProvider && createLogin(github.identityProvider),
    publicUrl,
    isSandboxed,
    githubUrl: config.githubAddress.webUrl,
    appPage: github.appPage,
    stacks,
    stackStore: stores.stacks,
    repositories: stores.repositories,
    vendors,
    stackList: stores.stackList,
    cursorBox: stores.cursorBox,
    refusesVariable: (stack, name) =>
      vendors.some(
        (vendor) => vendor.name === vendorName(stack.settings.vendor) && vendor.refusesVariable(name),
      ),
    runs: stores.runs,
    runList: stores.runList,
    causes: stores.causes,
    notices: stores.notices,
    seenPlans: createSeenPlans({ ...basics, store: stores.seenPlans, runs: stores.runs }),
    commands: runs.commands,
    gates: runs.gates,
    reviewing: runs.reviewing,
    mending: createMending({ ...basics, ...stores, commands: runs.commands, vendors }),
    overrides: policies.overrides,
    triggers: runs.triggers,
    logs: stores.logs,
    events: stores.events,
    policies: policies.policies,
    sourceCheck: policies.sourceCheck,
    workbench: policies.workbench,
    decisions: stores.decisions,
    samples: stores.samples,
    webhooks: webhooks.webhooks,
    deliveries: webhooks.deliveries,
    replays: webhooks.replays,
    runDeliveries: webhooks.runDeliveries,
    webhookTests: webhooks.tests,
    github: github.inbox,
    inbox: github.inboxControl,
    health: async () => healthOf(await inspection.findings()),
    system: inspection.system,
    metrics: { ...metrics, isAnonymous: config.metricsAnonymous },
  });

  async function githubItems(): Promise<readonly DoctorItem[]> {
    if (config.github === null) {
      const detail = 'cannot be asked without the settings of an App';
      return [{ name: 'github app', status: 'problem', detail, hint: 'Register one: slipway setup' }];
    }
    return examineGithub({ settings: config.github, publicUrl: config.publicUrl, clock, logger });
  }

  async function start(): Promise<{ readonly url: string }> {
    const judging = policies.judgeLoop({
      ...{ queue, settleApproval: runs.settleApproval, commands: runs.commands },
      ...{ source: github.source, pullRequestNotes: github.pullRequestNotes, noteOnRun: github.noteOnRun },
      requests: webhooks.policyRequests,
      runUrl: (runId) => `${publicUrl()}/runs/${runId}`,
    });
    const sweepCaches = async () => caches.sweep(await stores.stacks.repositoryIds());
    const kept = {
      ...{ ...basics, ...stores, ...config.retention, runs, retention, sessions, audit, idempotency },
      sweepCaches,
    };
    const directories = { sandbox: sandboxDirectory(config), scratch: scratchDirectory };
    const parts = {
      config,
      directories,
      delegation,
      sandboxTest,
      engine: opa,
      runs,
      workspaces,
      judging,
      webhooks,
    };
    const housekeeping = () => startHousekeeping(kept);
    const listening = await startServing({ ...parts, housekeeping, worker, github, web, logger }, opened);
    url = listening.url;
    logger.info({ url, version, sandbox: sandbox.describe() }, 'listening');
    return { url };
  }

  const opened = opening.move();
  return {
    fetch: web.fetch,
    fetchAs: web.fetchAs,
    health: async () => healthOf(await inspection.findings()),
    async doctor({ withGithub } = { withGithub: false }) {
      const github = withGithub ? await githubItems() : [];
      return doctorReport(await inspection.findings(), await inspection.backlog(), github);
    },
    start,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
