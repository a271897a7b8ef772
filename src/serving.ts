import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Github } from './github/github.ts';
import type { Logger } from './logger.ts';
import type { JudgeLoop } from './policies/judge-loop.ts';
import type { Opa } from './policies/opa.ts';
import type { Runs } from './runs/runs.ts';
import { removeLeftoverCgroups } from './sandbox/cgroup/cgroup.ts';
import type { Delegation } from './sandbox/cgroup/delegation.ts';
import { endLeftovers, removeLeftoverSockets } from './sandbox/leftovers.ts';
import type { SelfTestResult } from './sandbox/self-test.ts';
import { lockForServer } from './storage/server-lock.ts';
import { type Listening, listen } from './web/listen.ts';
import type { Web } from './web/server.ts';
import type { WebhookFeature } from './webhooks/webhooks.ts';
import type { Worker } from './worker/worker.ts';
import type { Workspaces } from './worker/workspace.ts';

/** First halves get so long at a clean stop before they are handed back. */
const drainMs = 20_000;

interface ServingParts {
  readonly config: Config;
  readonly directories: { readonly sandbox: string; readonly scratch: string };
  readonly delegation: Delegation;
  readonly sandboxTest: () => Promise<SelfTestResult>;
  readonly engine: Pick<Opa, 'sweep'>;
  readonly runs: Pick<Runs, 'restored' | 'recovery' | 'approvalJobs' | 'scheduler'>;
  readonly workspaces: Pick<Workspaces, 'sweep'>;
  readonly judging: JudgeLoop;
  readonly webhooks: Pick<WebhookFeature, 'pump' | 'replayLoop'>;
  /** Begins when it is called. */
  readonly housekeeping: () => AsyncDisposable;
  readonly worker: Worker;
  readonly github: Pick<Github, 'start'>;
  readonly web: Web;
  readonly logger: Logger;
}

/**
 * Becomes the server of a data directory: settles what a former life left, starts the loops, listens. What it has started
 * is given to `opened` in that order, so that all of it is stopped backwards, whether the start gets to its end or not.
 */
export async function startServing(parts: ServingParts, opened: AsyncDisposableStack): Promise<Listening> {
  const { config, runs, webhooks, worker, logger } = parts;
  opened.use(lockForServer(`${config.databasePath}.server-lock`));
  const tested = await clearAway(parts);

  // In this order: what a former life left is settled before anything new can happen.
  await runs.restored.settle();
  await runs.recovery.start();
  for (const error of await parts.workspaces.sweep(await runs.recovery.needingWorkspace())) {
    logger.error({ err: error }, 'a workspace of a former life could not be removed');
  }
  await runs.approvalJobs.sweep();
  await runs.scheduler.sweep();
  await parts.judging.start();
  opened.defer(() => parts.judging.stop());
  await webhooks.pump.start();
  webhooks.replayLoop.start();
  opened.use(parts.housekeeping());
  if (tested.ok) worker.start();
  opened.defer(() => worker.stop(drainMs));
  parts.github.start();

  const listening = opened.use(await listen(parts.web, { ...config.listen, logger }));
  const pidFile = join(config.dataDir, 'server.pid');
  writeFileSync(pidFile, `${process.pid}\n`);
  opened.defer(() => rmSync(pidFile, { force: true }));
  return listening;
}

/** Of a former life: what still runs, and what lies about. Then whether there is a sandbox to run anything in. */
async function clearAway({
  directories,
  delegation,
  engine,
  sandboxTest,
  logger,
}: ServingParts): Promise<SelfTestResult> {
  endLeftovers(directories.sandbox);
  await removeLeftoverSockets(directories.sandbox);
  if (delegation.kind === 'delegated') await removeLeftoverCgroups(delegation);
  rmSync(directories.scratch, { recursive: true, force: true });
  await engine.sweep();
  const tested = await sandboxTest();
  for (const { name, ok, detail, fix } of tested.items) {
    if (!ok)
      logger.error({ probe: name, detail, fix }, 'no run is executed: the sandbox failed its self-test');
  }
  for (const warning of tested.warnings) logger.warn({ warning }, 'the sandbox works, but could be better');
  return tested;
}
