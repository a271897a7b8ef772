import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { Actor } from './access/actor.ts';
import { createAccess } from './access/roles.ts';
import { createTokens, type Tokens } from './access/tokens.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { doctorReport, type Findings, healthOf } from './doctor.ts';
import { createSqliteEngine } from './engine/sqlite-engine.ts';
import { createGithub, createUnconfiguredGithub, type Github } from './github/github.ts';
import { createIds } from './ids.ts';
import type { Logger } from './logger.ts';
import { createRunCommands } from './runs/commands.ts';
import { createPhaseJobs } from './runs/phase-jobs.ts';
import { createRecovery } from './runs/recovery.ts';
import type { Reactor } from './runs/run-event.ts';
import { createScheduler } from './runs/scheduler.ts';
import { createTransitions, type Transitions } from './runs/transition.ts';
import { createTriggers, type Triggers } from './runs/triggers.ts';
import { createWorkerService } from './runs/worker-service.ts';
import { createBubblewrap } from './sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from './sandbox/descriptors.ts';
import { applyLimits, defaultLimits } from './sandbox/limits.ts';
import { createNoSandbox } from './sandbox/none.ts';
import type { NetworkAccess } from './sandbox/sandbox.ts';
import { selfTest } from './sandbox/self-test.ts';
import { vendorName } from './stacks/stack.ts';
import { createStacks } from './stacks/stacks.ts';
import { createCheckRunStore } from './storage/check-run-store.ts';
import { openDatabase } from './storage/database.ts';
import { createDeliveryStore } from './storage/delivery-store.ts';
import { createEventFeed } from './storage/event-feed.ts';
import { createFileLogStore } from './storage/file-log-store.ts';
import { createInboxStore } from './storage/inbox-store.ts';
import { createRepositoryStore } from './storage/repository-store.ts';
import { createRunStore } from './storage/run-store.ts';
import { createSecretBox } from './storage/secret-box.ts';
import { loadSecretKey } from './storage/secret-key.ts';
import { lockForServer } from './storage/server-lock.ts';
import { createStackStore } from './storage/stack-store.ts';
import { createTokenStore } from './storage/token-store.ts';
import { createWebhookStore } from './storage/webhook-store.ts';
import { findTool, toolCacheDir } from './tools.ts';
import { createPulumiVendor } from './vendors/pulumi/vendor.ts';
import type { DoctorReport, Health } from './web/health.ts';
import { type Listening, listen } from './web/listen.ts';
import { createWeb } from './web/server.ts';
import { parseAllowedTargets } from './webhooks/allowed-targets.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createWebhooks } from './webhooks/endpoint.ts';
import { createPump } from './webhooks/pump.ts';
import { createWebhookReactor } from './webhooks/reactor.ts';
import { createSender } from './webhooks/sender.ts';
import { createTargetGuard } from './webhooks/target-guard.ts';
import { createWorker } from './worker/worker.ts';
import { createWorkspaces } from './worker/workspace.ts';

/** The composition root: the only file that knows every folder. It makes the parts, wires them, and decides nothing. */
export interface App extends AsyncDisposable {
  /** The HTTP interface without a socket. */
  fetch(request: Request): Promise<Response>;
  /** The same for a caller in this process who is known already: the command line. */
  fetchAs(actor: Actor, request: Request): Promise<Response>;
  readonly tokens: Tokens;
  health(): Promise<Health>;
  doctor(): Promise<DoctorReport>;
  /** Becomes the server of this data directory: recovers, starts the loops, listens. Once. */
  start(): Promise<{ readonly url: string }>;
}

/** First halves get so long at a clean stop before they are handed back. */
const drainMs = 20_000;
/** A safety net: wake-ups do the work. */
const sweepEveryMs = 10_000;

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};

export async function openApp(config: Config, logger: Logger): Promise<App> {
  // What whoever started us left open would be open inside the sandbox too.
  closeInheritedDescriptors();
  await using opening = new AsyncDisposableStack();
  const clock = systemClock;
  const newId = createIds(clock);
  const inDataDir = (...names: string[]) => join(config.dataDir, ...names);

  // Storage.
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  mkdirSync(dirname(config.databasePath), { recursive: true, mode: 0o700 });
  const box = createSecretBox(loadSecretKey(config.secretKeyPath, existsSync(config.databasePath)));
  const database = opening.use(openDatabase(config.databasePath));
  const runStore = createRunStore(database, box);
  const stackStore = createStackStore(database, box);
  const repositoryStore = createRepositoryStore(database);
  const webhookStore = createWebhookStore(database, box);
  const deliveryStore = createDeliveryStore(database);
  const logs = createFileLogStore(inDataDir('logs'));
  const queue = createSqliteEngine({ database, clock, newId });

  // Tools and sandbox.
  const cacheDir = toolCacheDir(config.tools.home, config.tools.xdgCacheHome ?? undefined);
  const { pulumi: pulumiSetting } = config.tools.settings;
  const pulumi = findTool('pulumi', {
    ...(pulumiSetting === undefined ? {} : { setting: pulumiSetting }),
    path: config.tools.path,
    cacheDir,
  });
  const isSandboxed = config.sandbox.kind !== 'none';
  const nodeInside = isSandboxed ? '/opt/node/bin/node' : process.execPath;
  const vendors = [
    await createPulumiVendor({
      pulumiPath: pulumi?.path ?? null,
      // Programs in JavaScript need a current Node; the one of this process is there for certain.
      extraTools: [{ source: process.execPath, target: nodeInside, pathEntry: dirname(nodeInside) }],
    }),
  ];
  const sandbox = isSandboxed
    ? createBubblewrap({ directory: inDataDir('sandbox'), caBundle: config.caBundle })
    : createNoSandbox();
  const network: NetworkAccess =
    config.sandbox.network === 'none'
      ? { mode: 'none' }
      : { mode: config.sandbox.network, allowedHosts: config.sandbox.allowedHosts };

  // Webhooks.
  const caBundlePem = config.caBundle === null ? null : readFileSync(config.caBundle, 'utf8');
  const targetGuard = createTargetGuard({ allowed: parseAllowedTargets(config.webhookAllowedTargets) });
  const sender = opening.use(createSender({ guard: targetGuard, clock, version, caBundle: caBundlePem }));
  const pump = opening.use(
    createPump({
      webhooks: webhookStore,
      deliveries: deliveryStore,
      sender,
      transactions: database,
      clock,
      logger,
    }),
  );

  // GitHub and runs know each other through functions that are asked late.
  let listening: Listening | null = null;
  let transitions: Transitions;
  let triggers: Triggers;
  const publicUrl = () =>
    config.publicUrl ?? listening?.url ?? `http://${config.listen.host}:${config.listen.port}`;
  const github: Github = opening.use(
    config.github === null
      ? createUnconfiguredGithub()
      : await createGithub({
          settings: config.github,
          stores: {
            inbox: createInboxStore(database),
            checkRuns: createCheckRunStore(database),
            repositories: repositoryStore,
          },
          git: { path: config.tools.path, caBundle: config.caBundle },
          transactions: database,
          clock,
          logger,
          publicUrl,
          isSandboxed,
          onPush: (push, deliveryId) => triggers.push(push, deliveryId),
        }),
  );
  const scheduler = createScheduler({
    runs: runStore,
    stacks: stackStore,
    transitions: () => transitions,
    transactions: database,
    logger,
  });
  const workerService = createWorkerService({
    runs: runStore,
    stacks: stackStore,
    queue,
    transitions: () => transitions,
    transactions: database,
    source: github.source,
    logs,
  });
  const reactors: readonly Reactor[] = [
    createWebhookReactor({ webhooks: webhookStore, deliveries: deliveryStore, newId, pump }),
    github.reactor,
    createPhaseJobs({ queue }),
    scheduler.reactor,
    workerService.reactor,
  ];
  transitions = createTransitions({ runs: runStore, stacks: stackStore, reactors, clock });
  const commands = createRunCommands({
    runs: runStore,
    stacks: stackStore,
    transitions,
    transactions: database,
    clock,
    newId,
  });
  triggers = createTriggers({ runs: runStore, stacks: stackStore, commands, source: github.source });
  const recovery = createRecovery({ runs: runStore, queue, transitions, transactions: database, logger });

  // The worker, in this process.
  const workspaces = createWorkspaces({
    directory: inDataDir('workspaces'),
    stateDirectory: inDataDir('state'),
    sandbox,
  });
  const worker = createWorker({
    server: workerService,
    sandbox,
    vendors,
    network,
    limits: { plan: defaultLimits, apply: applyLimits },
    clock,
    workspaces,
    slots: config.workers,
    logger,
  });

  // The outside.
  const access = createAccess({ admins: config.admins, permissions: github.permissions });
  const tokens = createTokens({ store: createTokenStore(database), transactions: database, clock, newId });
  const stacks = createStacks({
    store: stackStore,
    repositories: repositoryStore,
    directory: github.directory,
    vendors,
    transactions: database,
    clock,
    newId,
    onUnlock: (stackKey) => scheduler.wake(stackKey),
  });
  const sandboxTest = once(() =>
    selfTest(sandbox, { stateDirectory: config.dataDir, withNetwork: network.mode !== 'none' }),
  );

  async function findings(): Promise<Findings> {
    const used = new Set(
      (await stackStore.list({ account: null, after: null, limit: 100_000 })).map((stack) =>
        vendorName(stack.settings.vendor),
      ),
    );
    return {
      version,
      git: await gitVersion(config.tools.path),
      database: {
        path: config.databasePath,
        problem: await databaseProblem(() => database.write(async () => {})),
      },
      sandbox: await sandboxTest(),
      vendors: vendors.map((vendor) => ({
        vendor,
        found: pulumi?.source ?? null,
        used: used.has(vendor.name),
      })),
      githubConfigured: config.github !== null,
      listening: listening !== null,
    };
  }

  const web = createWeb({
    version,
    logger,
    newId,
    access,
    tokens,
    stacks,
    stackStore,
    transactions: database,
    refusesVariable: (stack, name) =>
      vendors.some(
        (vendor) => vendor.name === vendorName(stack.settings.vendor) && vendor.refusesVariable(name),
      ),
    runs: runStore,
    commands,
    triggers: { manual: (stack, request, actor) => triggers.manual(stack, request, actor) },
    logs,
    events: createEventFeed(database),
    webhooks: createWebhooks({
      store: webhookStore,
      deliveries: deliveryStore,
      targetGuard,
      transactions: database,
      clock,
      newId,
    }),
    deliveries: createDeliveries({
      store: deliveryStore,
      webhooks: webhookStore,
      transactions: database,
      clock,
      pump,
    }),
    github: github.inbox,
    health: async () => healthOf(await findings()),
  });

  async function start(): Promise<{ readonly url: string }> {
    opened.use(lockForServer(inDataDir('server.lock')));
    const tested = await sandboxTest();
    for (const failure of tested.failures)
      logger.error({ failure }, 'the sandbox failed its self-test: no run is executed');
    for (const warning of tested.warnings) logger.warn({ warning }, 'sandbox');

    const waiting = await runStore.inState(['UNCONFIRMED', 'CONFIRMED']);
    await workspaces.sweep(new Set(waiting.map(({ id }) => id)));
    await recovery.start();
    await scheduler.sweep();
    await pump.start();
    github.start();
    if (tested.ok) worker.start();
    const timer = setInterval(() => void sweep(), sweepEveryMs);
    opened.defer(() => clearInterval(timer));
    opened.defer(() => worker.stop(drainMs));

    const listened = opened.use(await listen(web, { ...config.listen, logger }));
    listening = listened;
    const pidFile = inDataDir('server.pid');
    writeFileSync(pidFile, `${process.pid}\n`);
    opened.defer(() => rmSync(pidFile, { force: true }));
    logger.info({ url: listened.url, version, sandbox: sandbox.describe() }, 'listening');
    return { url: listened.url };
  }

  async function sweep(): Promise<void> {
    try {
      await recovery.sweep();
      await scheduler.sweep();
    } catch (error) {
      logger.error({ err: error }, 'a sweep failed, the next one comes');
    }
  }

  const opened = opening.move();
  return {
    fetch: web.fetch,
    fetchAs: web.fetchAs,
    tokens,
    health: async () => healthOf(await findings()),
    doctor: async () => doctorReport(await findings()),
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

async function gitVersion(path: string): Promise<string | null> {
  const { stdout, failed } = await execa('git', ['--version'], {
    env: { PATH: path },
    extendEnv: false,
    reject: false,
    timeout: 5000,
  });
  return failed ? null : (/\d+(\.\d+)+/.exec(stdout)?.[0] ?? null);
}

async function databaseProblem(tryIt: () => Promise<void>): Promise<string | null> {
  try {
    await tryIt();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'the database cannot be written';
  }
}
