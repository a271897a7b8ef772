import { execFileSync } from 'node:child_process';
import { closeSync, openSync, read, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createLogger } from '../../src/logger.ts';
import type { PlanJudge } from '../../src/runs/plan-judge.ts';
import type { RunState, RunType } from '../../src/runs/run.ts';
import { applyLimits, defaultLimits } from '../../src/sandbox/limits.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import type { Limits } from '../../src/sandbox/sandbox.ts';
import { noHooks, type Stack, type StackSettings } from '../../src/stacks/stack.ts';
import { createCaches } from '../../src/worker/caches.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import type { Vendor } from '../../src/worker/vendor.ts';
import { createWorker } from '../../src/worker/worker.ts';
import { createWorkspaces } from '../../src/worker/workspace.ts';
import { aCommit, person } from '../support/builders.ts';
import { createRunWatch, wholeLog } from '../support/run-watch.ts';
import { openRunWorld } from '../support/run-world.ts';
import { tempDirectory } from '../support/temp-database.ts';

/** A tool whose commands are lines of bash, given in the settings of the stack. */
export function shellVendor(change: Partial<Vendor> = {}): Vendor {
  const command = (label: 'login' | 'plan' | 'apply', settings: unknown, environment = {}) => {
    const { shell = {} } = settings as { shell?: Record<string, string> };
    const argv = ['bash', '-c', shell[label] ?? 'true'] as [string, ...string[]];
    return { label, argv, environment, writesOutput: true };
  };
  const failed = { kind: 'failed', message: 'the shell failed' } as const;
  return {
    name: 'shell',
    label: 'Shell',
    fields: [],
    schema: z.unknown(),
    tool: { path: '/bin/bash', version: '5' },
    toolProblem: null,
    toolMounts: () => [],
    toolPath: () => [],
    baseEnvironment: () => ({}),
    projectFile: { called: 'project.txt', matches: (name) => name === 'project.txt' },
    hiddenAfter: [],
    refusesVariable: () => false,
    localState: () => null,
    mendLocalState: null,
    initialize: ({ settings }) => [{ command: command('login', settings) }],
    plan: ({ settings, paths }) => [command('plan', settings, { OUTPUT: paths.output })],
    apply: ({ settings }, _, { planPath }) => command('apply', settings, { PLAN: planPath ?? 'none' }),
    explain: () => failed,
    beforeInitHooks: 'after-commands',
    readPlan: async ([{ exitCode }]) =>
      exitCode === 0
        ? {
            ...{ kind: 'planned', hasChanges: true, steps: [], planFile: 'plan' },
            delta: { added: 1, changed: 0, deleted: 0, resources: 1 },
          }
        : failed,
    readApply: async ({ exitCode }) => (exitCode === 0 ? { kind: 'applied' } : failed),
    destroyBinding: { kind: 'plan-file' },
    stateCheck: null,
    mend: () => null,
    ...change,
  };
}

/** A stack of the shell; each script and hook is a line of bash. */
export function shellStack(
  scripts: { login?: string; plan?: string; apply?: string },
  hooks: Partial<StackSettings['hooks']> = {},
  change: Partial<StackSettings> = {},
): Partial<StackSettings> {
  const plan = scripts.plan ?? 'echo the plan > "$OUTPUT/plan"';
  return { vendor: { shell: { ...scripts, plan } }, hooks: { ...noHooks, ...hooks }, ...change };
}

/** Real workers without a sandbox, on everything from the push to the reports. */
export async function openWorkerWorld(
  change: (server: ServerApi) => Partial<ServerApi> = () => ({}),
  limits: Partial<Limits> = {},
  hasRoom: () => Promise<boolean> = () => Promise.resolve(true),
  judge?: PlanJudge,
) {
  const watch = createRunWatch();
  const world = await openRunWorld({
    ...{ reactors: [watch.reactor], files: { 'project.txt': 'x' } },
    ...(judge && { judge }),
  });
  const directory = tempDirectory();
  const pipes: number[] = [];
  const sandbox = createNoSandbox({ forcedStopMs: 100 });
  const workspacesDirectory = join(directory.path, 'workspaces');
  const cachesDirectory = join(directory.path, 'cache');
  const logger = createLogger('silent');
  const caches = createCaches({
    ...{ directory: cachesDirectory, workspacesDirectory, sandbox, clock: world.clock, logger },
    ...{ maxBytes: 1024 * 1024, keepFreeBytes: null },
  });
  const workspaces = createWorkspaces({
    ...{ directory: workspacesDirectory, stateDirectory: join(directory.path, 'state'), sandbox, caches },
  });
  await workspaces.sweep(new Set());

  function startWorker(vendor: Partial<Vendor> = {}, limit: Partial<Limits> = {}) {
    const shared = { graceMs: 100, ...limits, ...limit };
    const worker = createWorker({
      server: { ...world.server, ...change(world.server) },
      vendors: [shellVendor(vendor)],
      network: { all: { mode: 'none' }, listed: { mode: 'none' } },
      limits: { plan: { ...defaultLimits, ...shared }, apply: { ...applyLimits, ...shared } },
      ...{ sandbox, clock: world.clock, workspaces, caches, logger, slots: 1, heartbeatMs: 10, hasRoom },
    });
    worker.start();
    return worker;
  }

  /** The first run of a stack that only a person starts. */
  async function start(stack: Stack, type: RunType, command?: string): Promise<string> {
    const request = { type, branch: 'main', commit: aCommit(), by: person('ada') };
    const made = await world.commands.create({
      ...{ stackKey: stack.key, dedupeKey: null, ...request, ...(command === undefined ? {} : { command }) },
    });
    if (made === 'duplicate') throw new Error('cannot be');
    await world.scheduler.settled();
    return made.id;
  }

  return {
    ...{ ...world, workspaces, caches, cachesDirectory, startWorker, start },
    /** Resolves when the run has entered that state. */
    until: (id: string, state: RunState) => watch.until(world.runs, id, state),
    log: (id: string) => wholeLog(world.logs, id),
    labels: async (id: string) => (await world.runs.commands(id)).map(({ label }) => label),
    workspacesLeft: () => readdirSync(workspacesDirectory),
    inWorkspace: (id: string, name: string) => readdirSync(join(workspacesDirectory, id, name)),
    /** A pipe between a command of a run and the test: `echo ... > path`, or `read < path` to wait. */
    meetingPoint(name: string) {
      const path = join(directory.path, name);
      execFileSync('mkfifo', [path]);
      // Both ends held open: nobody waits for the other to open, and nothing that was said is lost.
      const ends = openSync(path, 'r+');
      pipes.push(ends);
      return {
        path,
        async hear(): Promise<string> {
          const { buffer, bytesRead } = await promisify(read)(ends, Buffer.alloc(1000), 0, 1000, null);
          return buffer.toString('utf8', 0, bytesRead).trim();
        },
        release: () => void writeSync(ends, '\n'),
      };
    },
    async [Symbol.asyncDispose]() {
      for (const pipe of pipes) {
        // Whoever still listens holds a thread of Node.
        writeSync(pipe, '\n');
        closeSync(pipe);
      }
      await world[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

export type WorkerWorld = Awaited<ReturnType<typeof openWorkerWorld>>;
