import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findInDirectory, formsOf } from '../../../demo/secret-search.ts';
import { createLogger } from '../../../src/logger.ts';
import type { Delta, Outcome, RunState, RunType } from '../../../src/runs/run.ts';
import { createBubblewrap } from '../../../src/sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from '../../../src/sandbox/descriptors.ts';
import { applyLimits, defaultLimits } from '../../../src/sandbox/limits.ts';
import type { Limits, Sandbox } from '../../../src/sandbox/sandbox.ts';
import { noHooks, type Stack, type StackSettings } from '../../../src/stacks/stack.ts';
import { createCaches } from '../../../src/worker/caches.ts';
import type { PlanStep } from '../../../src/worker/vendor-results.ts';
import { createWorker } from '../../../src/worker/worker.ts';
import { createWorkspaces } from '../../../src/worker/workspace.ts';
import { aCommit, person } from '../../support/builders.ts';
import { createRunWatch, wholeLog } from '../../support/run-watch.ts';
import { openRunWorld } from '../../support/run-world.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import type { Program, Subject } from './sample.ts';

// As every server does first; test runners are started by shells that leave descriptors open.
closeInheritedDescriptors();

/** Where a run rests: it is over, or a person has the word. */
const resting = ['UNCONFIRMED', 'FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED'] as const;
const longMs = 10 * 60_000;

/** How a run rests, as people see it. */
export interface Rested {
  readonly id: string;
  readonly state: RunState;
  readonly outcome: Outcome | undefined;
  readonly note: string;
  readonly log: string;
  /** Of its commands, hooks included. */
  readonly labels: readonly string[];
  /** Null before there is one. */
  readonly plan: {
    readonly hasChanges: boolean;
    readonly delta: Delta | undefined;
    readonly steps: readonly PlanStep[];
    /** "op name" of what the program has and the apply changes; sorted. */
    readonly changes: readonly string[];
  } | null;
}

export interface ContractStack {
  /** Starts a run of the program, or of those files; gives its id. */
  start(
    source: Program | Readonly<Record<string, string>>,
    type?: RunType,
    command?: string,
  ): Promise<string>;
  /** The same, and waits until it rests. */
  run(...given: Parameters<ContractStack['start']>): Promise<Rested>;
  confirm(id: string): Promise<Rested>;
  /** Takes away the lock that a lost apply leaves. */
  unlock(): Promise<void>;
  /** A path as programs see it, in a place that outlives runs. */
  inside(name: string): string;
  /** The same as the host sees it. */
  outside(name: string): string;
  recorded(): Readonly<Record<string, string | null>>;
}

export interface ContractOptions {
  /** Of the second half; left out: those of a server. */
  readonly applyLimits?: Partial<Limits>;
  /** Between the second SIGINT and SIGKILL. */
  readonly forcedStopMs?: number;
  /** Stands between the worker and its sandbox. */
  readonly around?: (sandbox: Sandbox) => Sandbox;
}

/** The worker with the real tool in real sandboxes; what the server is to it besides runs and logs is a stand-in. */
export async function openContractWorld(subject: Subject, options: ContractOptions = {}) {
  const { forcedStopMs = 1000, around = (sandbox) => sandbox } = options;
  const watch = createRunWatch();
  const files: Record<string, string> = {};
  const world = await openRunWorld({ reactors: [watch.reactor], files });
  const directory = tempDirectory();
  // Runs pass through, on their way to what is theirs.
  chmodSync(directory.path, 0o711);
  const inDirectory = (name: string) => join(directory.path, name);
  const sandbox = around(createBubblewrap({ directory: inDirectory('sandbox'), forcedStopMs }));
  const logger = createLogger('silent');
  const caches = createCaches({
    ...{ directory: inDirectory('cache'), workspacesDirectory: inDirectory('workspaces'), sandbox, logger },
    ...{ clock: world.clock, maxBytes: 2 ** 30, keepFreeBytes: null },
  });
  const workspaces = createWorkspaces({
    ...{ directory: inDirectory('workspaces'), stateDirectory: inDirectory('state'), sandbox, caches },
  });
  await workspaces.sweep(new Set());
  const newWorker = () => {
    const worker = createWorker({
      ...{
        server: world.server,
        vendors: [subject.vendor],
        network: { all: { mode: 'none' }, listed: { mode: 'none' } },
        clock: world.clock,
      },
      limits: {
        plan: { ...defaultLimits, graceMs: 1000 },
        apply: { ...applyLimits, ...options.applyLimits },
      },
      ...{ sandbox, workspaces, caches, logger, slots: 2, heartbeatMs: 10, hasRoom: async () => true },
    });
    worker.start();
    return worker;
  };
  let worker = newWorker();

  async function rested(id: string, states: readonly RunState[] = resting): Promise<Rested> {
    await watch.until(world.runs, id, ...states);
    const run = await world.run(id);
    const stored = await world.runs.plan(id);
    const steps = (stored?.steps ?? []) as readonly PlanStep[];
    const events = await world.runs.events(id);
    return {
      ...{ id, state: run.state, outcome: run.outcome, note: events.at(-1)?.note ?? '' },
      log: await wholeLog(world.logs, id),
      labels: (await world.runs.commands(id)).map(({ label }) => label),
      plan: stored && {
        ...{ hasChanges: stored.hasChanges, delta: run.delta, steps },
        changes: steps
          .map(({ op, urn }) => ({ op, name: subject.nameOf(urn) }))
          .filter(({ op, name }) => op !== 'same' && op !== 'refresh' && name !== null)
          .map(({ op, name }) => `${op} ${name}`)
          .toSorted(),
      },
    };
  }

  /** Stacks with the same `stateName` have the same state, as if the tool were run beside Slipway. */
  async function addStack(
    change: Partial<StackSettings> = {},
    stateName = 'one',
    secrets: Readonly<Record<string, string>> = {},
  ): Promise<ContractStack> {
    const inside = (name: string) => `/state/${stateName}/world/${name}`;
    const hooks = { ...noHooks, ...change.hooks };
    const stack: Stack = await world.addStack({
      ...{ vendor: subject.settings(stateName), autodeploy: true, ...change },
      hooks: { ...hooks, beforeInit: [`mkdir -p ${inside('.')}`, ...hooks.beforeInit] },
    });
    await world.database.write(async (tx) => {
      const put = (name: string, value: string, secret: boolean) =>
        world.stackStore.putVariable(tx, stack.key, { name, value, secret, access: 'all' });
      for (const [name, value] of Object.entries(subject.variables)) await put(name, value, true);
      for (const [name, value] of Object.entries(secrets)) await put(name, value, true);
    });
    const stateDirectory = join(inDirectory('state'), '21', stateName);

    async function start(
      source: Program | Readonly<Record<string, string>>,
      type: RunType = 'TRACKED',
      command?: string,
    ): Promise<string> {
      for (const name of Object.keys(files)) delete files[name];
      Object.assign(files, isProgram(source) ? subject.source(source) : source);
      const made = await world.commands.create({
        ...{ stackKey: stack.key, type, branch: 'main', commit: aCommit(), by: person('ada') },
        ...{ dedupeKey: null, ...(command === undefined ? {} : { command }) },
      });
      if (made === 'duplicate') throw new Error('without a key there is none');
      await world.scheduler.settled();
      // The files belong to this run alone.
      await watch.until(world.runs, made.id, 'INITIALIZING', ...resting);
      return made.id;
    }

    return {
      start,
      run: async (...given) => rested(await start(...given)),
      async confirm(id) {
        await world.commands.confirm(id, { actor: 'ada', confirmation: stack.settings.name });
        return rested(id, ['FINISHED', 'FAILED']);
      },
      async unlock() {
        const now = await world.stackStore.findByKey(stack.key);
        if (now) await world.stacks.unlock(now);
      },
      inside,
      outside: (name) => join(stateDirectory, 'world', name),
      recorded: () => subject.recorded(stateDirectory),
    };
  }

  /** Opens a pipe once a program of the run has opened its other end. A run that rests before that will not do so. */
  async function opened(id: string, path: string, flags: 'r' | 'w'): Promise<FileHandle> {
    const opening = open(path, flags);
    const ended = watch.until(world.runs, id, ...resting).then(() => null);
    const first = await Promise.race([opening, ended]);
    if (first !== null) return first;
    // Both ends at once: nobody is left waiting for the other.
    await using _ = await open(path, 'r+');
    await (await opening).close();
    throw new Error(`the run ended: ${(await rested(id)).note}`);
  }

  return {
    addStack,
    rested,
    stop: (id: string) => world.commands.stop(id, { actor: 'ada' }),
    /** The server gives every worker up; the worker notices with its next sign of life. */
    loseWorkers: () => world.recovery.start(),
    /** Resolves once every command has ended; new ones are taken on afterwards. */
    async settle() {
      await worker.stop(longMs);
      worker = newWorker();
    },
    opened,
    /** Resolves with what a program of the run has said into the pipe. */
    async heard(id: string, path: string): Promise<string> {
      await using pipe = await opened(id, path, 'r');
      return (await pipe.readFile('utf8')).trim();
    },
    /** Resolves once a program of the run reads the pipe, who waits from then on until it is closed. */
    keepWaiting: (id: string, path: string) => opened(id, path, 'w'),
    /** Of a run, on this host: whatever still has its workspace mounted. */
    processesOf: (runId: string) =>
      readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && mountsOf(pid).includes(runId)),
    /** Where the text stands in what is stored: of runs, of the database on the disk, of log files. */
    async placesOf(secret: string) {
      const texts = formsOf(secret);
      const found = await Promise.all(
        [dirname(world.temp.path), world.logDirectory.path].map((path) => findInDirectory(path, texts)),
      );
      return found.flat();
    },
    async [Symbol.asyncDispose]() {
      // A clean stop waits for an apply; what a failed test has left may never end.
      await world.recovery.start();
      await worker.stop(0);
      await world[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/** A pipe of the host at which programs say something, or wait. */
export function makePipe(path: string): void {
  execFileSync('mkfifo', ['-m', '666', path]);
}

function isProgram(source: Program | Readonly<Record<string, string>>): source is Program {
  return !Object.keys(source).some((name) => name.includes('.'));
}

function mountsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  } catch {
    return ''; // Gone meanwhile.
  }
}
