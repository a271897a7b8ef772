import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSqliteEngine } from '../../src/engine/sqlite-engine.ts';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import type { JudgedEvents } from '../../src/runs/judged-events.ts';
import type { MissedPushMode } from '../../src/runs/missed-pushes.ts';
import type { Offer } from '../../src/runs/offers.ts';
import type { PlanJudge } from '../../src/runs/plan-judge.ts';
import type { Run } from '../../src/runs/run.ts';
import type { Reactor } from '../../src/runs/run-event.ts';
import { createRuns } from '../../src/runs/runs.ts';
import type { Source } from '../../src/runs/source.ts';
import type { Unaffected } from '../../src/runs/unaffected.ts';
import type { PushJudge } from '../../src/stacks/push-judge.ts';
import type { Commit } from '../../src/stacks/repository.ts';
import type { Stack, StackSettings } from '../../src/stacks/stack.ts';
import { createStacks } from '../../src/stacks/stacks.ts';
import type { Push } from '../../src/stacks/trigger.ts';
import { createBackupMark } from '../../src/storage/backup-mark.ts';
import { createBranchHeadStore } from '../../src/storage/branch-head-store.ts';
import type { Database } from '../../src/storage/database.ts';
import { createFileLogStore } from '../../src/storage/file-log-store.ts';
import { createGateStore } from '../../src/storage/gate-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createReviewStore } from '../../src/storage/review-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackList } from '../../src/storage/stack-list.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import type { Assignment, PlanReport, ServerApi } from '../../src/worker/server-api.ts';
import { aCommit, anAccount, aRepository, stackSettings } from './builders.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { type TempDatabase, type TempDirectory, tempDatabase, tempDirectory } from './temp-database.ts';

export interface RunWorldOptions {
  readonly reactors?: readonly Reactor[] | ((on: ReactorParts) => readonly Reactor[]);
  /** A further life of a server on what this one left. The first one is closed by whoever opened it. */
  readonly former?: Remains;
  /** Stands between the server and its database. */
  readonly intercept?: (database: Database) => Database;
  /** What every commit holds, by path; looked up when it is fetched. */
  readonly files?: Readonly<Record<string, string>>;
  /** What GitHub says was changed, by `base...head`; of nothing else it knows. */
  readonly changes?: Readonly<Record<string, readonly string[]>>;
  readonly missedPushes?: MissedPushMode;
  /** GitHub answers no question. */
  readonly sourceFails?: boolean;
  /** Left out: there are no plan policies. */
  readonly judge?: PlanJudge;
  /** "id version" of the approval policies; left out: there are none. */
  readonly guards?: () => readonly string[];
  /** False: as with SANDBOX=none. */
  readonly isSandboxed?: boolean;
  /** Left out: no stack has push policies. */
  readonly pushJudge?: PushJudge;
}

/** What outlives a server. */
export interface Remains {
  readonly temp: TempDatabase;
  readonly logDirectory: TempDirectory;
  readonly clock: ManualClock;
  readonly commits: Map<string, Commit[]>;
}

export interface ReactorParts {
  readonly database: Database;
  readonly clock: ManualClock;
  readonly newId: () => string;
}

interface PushChange {
  readonly branch?: string;
  readonly delivery?: string;
  readonly login?: string;
  readonly isBot?: boolean;
  /** What the repository file says about the push. */
  readonly first?: Pick<Push, 'newStacks' | 'headNow'>;
  /** Where the branch was before; the push before this one when left out. */
  readonly before?: string;
  readonly isForced?: boolean;
  readonly paths?: Push['changedPaths'];
  /** It happened before what the branch has got since: the branch stays as it is. */
  readonly isLate?: boolean;
}

/** Of a worker that does not stop. */
export const undrained = new AbortController().signal;

/** Everything from a push to a worker's reports on a real database. */
export async function openRunWorld(options: RunWorldOptions = {}) {
  const { temp, logDirectory, clock, commits } = options.former ?? {
    temp: tempDatabase(),
    logDirectory: tempDirectory(),
    clock: manualClock(),
    commits: new Map<string, Commit[]>(),
  };
  const newId = createIds(clock);
  const database = options.intercept?.(temp.database) ?? temp.database;
  const { reactors = [] } = options;
  const parts = wire({
    ...{ database, clock, newId, commits, logDirectory: logDirectory.path },
    reactors: typeof reactors === 'function' ? reactors({ database, clock, newId }) : reactors,
    files: options.files ?? {},
    changes: options.changes ?? {},
    sourceFails: options.sourceFails ?? false,
    pushJudge: options.pushJudge ?? noPushPolicies,
    missedPushes: options.missedPushes ?? 'offer',
    judge: options.judge ?? passesAll,
    isSandboxed: options.isSandboxed ?? true,
    guards: options.guards ?? (() => []),
  });

  if (!options.former) {
    await database.write(async (tx) => {
      await parts.repositories.saveAccount(tx, anAccount());
      await parts.repositories.saveRepository(tx, aRepository());
    });
  }

  async function addStack(change: Partial<StackSettings> = {}): Promise<Stack> {
    const settings = stackSettings(change);
    const key = newId();
    const stack = { key, id: key.toLowerCase(), accountId: 11, repositoryId: 21, settings, createdAtMs: 0 };
    await database.write((tx) => parts.stackStore.insert(tx, stack));
    return present(await parts.stackStore.findByKey(key));
  }

  /** What the push started, newest run of the only stack first; the notes when it started nothing. */
  async function push(hash: string, change: PushChange = {}) {
    const head = aCommit({ hash });
    const branch = change.branch ?? 'main';
    const ofBranch = commits.get(branch) ?? [];
    if (!change.isLate) commits.set(branch, [...ofBranch, head]);
    const { login = 'ada' } = change;
    const notes = await parts.triggers.push(
      {
        repositoryId: 21,
        branch,
        head,
        before: change.before ?? ofBranch.at(-1)?.hash ?? null,
        isForced: change.isForced ?? false,
        pusher: `${login}@example.com`,
        pusherLogin: login,
        pusherIsBot: change.isBot ?? false,
        changedPaths: change.paths === undefined ? ['x'] : change.paths,
        ...change.first,
      },
      change.delivery ?? `delivery-${newId()}`,
    );
    await parts.scheduler.settled();
    return notes;
  }

  /** The id of the run that a push started. */
  async function pushed(...input: Parameters<typeof push>): Promise<string> {
    const [note = ''] = await push(...input);
    return present(/ run (\S+)$/.exec(note)?.[1]);
  }

  async function run(id: string): Promise<Run> {
    return present(await parts.runs.find(id));
  }

  /** The states it went through, as everybody is told of them. */
  async function states(id: string): Promise<readonly string[]> {
    return (await parts.runs.events(id)).map(({ state, stateVersion }) => `${stateVersion} ${state}`);
  }

  async function claim(what: 'any' | 'finish' = 'any'): Promise<Assignment | null> {
    return parts.server.claim(what, 0, new AbortController().signal);
  }
  const claimed = async (): Promise<Assignment> => present(await claim());

  /** Claims the next assignment and takes it up to the answer to its plan. */
  async function plan(report: Partial<PlanReport> = {}): Promise<Assignment> {
    const assignment = await claimed();
    await parts.server.saveFrozen(assignment, assignment.frozen);
    await parts.server.prepared(assignment);
    await parts.server.initialized(assignment);
    await parts.server.planned(assignment, aPlan(report), undrained);
    await parts.scheduler.settled();
    return assignment;
  }

  async function finish(assignment: Assignment): Promise<void> {
    await parts.server.finished(assignment);
    await parts.scheduler.settled();
  }

  return {
    ...{ database, clock, newId, commits, temp, logDirectory, ...parts },
    ...{ addStack, push, pushed, run, states, claim, claimed, plan, finish },
    async [Symbol.asyncDispose]() {
      await parts.scheduler.settled();
      await temp[Symbol.asyncDispose]();
      logDirectory[Symbol.dispose]();
    },
  };
}

/** As it is where no policy judges plans. */
const passesAll: PlanJudge = {
  judge: async () => ({ outcome: 'passed', note: null, lines: [], settle: async () => true }),
};

export type RunWorld = Awaited<ReturnType<typeof openRunWorld>>;

function wire(parts: {
  database: Database;
  clock: ManualClock;
  newId: () => string;
  commits: ReadonlyMap<string, readonly Commit[]>;
  logDirectory: string;
  reactors: readonly Reactor[];
  files: Readonly<Record<string, string>>;
  changes: Readonly<Record<string, readonly string[]>>;
  sourceFails: boolean;
  pushJudge: PushJudge;
  missedPushes: MissedPushMode;
  judge: PlanJudge;
  isSandboxed: boolean;
  guards: () => readonly string[];
}) {
  const { clock, newId, database } = parts;
  const logger = createLogger('silent');
  const box = createSecretBox(Buffer.alloc(32, 7));
  const runs = createRunStore(database, box);
  const stackStore = createStackStore(database, box);
  const repositories = createRepositoryStore(database);
  const logs = createFileLogStore(parts.logDirectory);
  const queue = createSqliteEngine({ database, clock, newId });
  const branchHeads = createBranchHeadStore(database);
  const offered: Offer[] = [];
  /** GitHub, as far as runs know it: branches with their commits, the newest last. */
  const source: Source = {
    resolve: async (_, branch, sha) => {
      const ofBranch = parts.commits.get(branch) ?? [];
      return (sha === null ? ofBranch.at(-1) : ofBranch.find(({ hash }) => hash === sha)) ?? null;
    },
    compare: async (_, base, head) => {
      if (parts.sourceFails) throw new Error('GitHub does not answer');
      const found = [...parts.commits.values()].map((ofBranch) =>
        [base, head].map((hash) => ofBranch.findIndex((commit) => commit.hash === hash)),
      );
      const line = found.find((places) => !places.includes(-1));
      if (!line) return found.flat().some((place) => place !== -1) ? 'diverged' : null;
      const [ofBase = 0, ofHead = 0] = line;
      return ofBase === ofHead ? 'identical' : ofBase < ofHead ? 'ahead' : 'behind';
    },
    changedPaths: async (_, base, head) => {
      if (parts.sourceFails) throw new Error('GitHub does not answer');
      return parts.changes[`${base}...${head}`] ?? null;
    },
    fetch: async (_repository, _sha, { workTree }) => {
      for (const [path, text] of Object.entries(parts.files)) {
        // As git would keep a script.
        await writeFile(join(workTree, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
      }
    },
  };

  const regated: string[] = [];
  const [reviews, runGates] = [createReviewStore(database), createGateStore(database)];
  const unaffected: (Omit<Unaffected, 'stack'> & { readonly stack: string })[] = [];
  const made = createRuns({
    ...{ runs, stacks: stackStore, logs, queue, source, clock, newId, logger },
    branchHeads,
    stackList: createStackList(database),
    backupMark: createBackupMark(database),
    offers: {
      offer: async (_, offer) => void offered.push(offer),
    },
    missedPushes: parts.missedPushes,
    judge: parts.judge,
    isSandboxed: parts.isSandboxed,
    guards: { guardsOf: async () => parts.guards() },
    pushJudge: parts.pushJudge,
    reviews,
    runGates,
    onGateChanged: async (_, { id }) => void regated.push(id),
    showUnaffected: async (_tx, { stack, ...told }) => void unaffected.push({ stack: stack.key, ...told }),
    reactors: parts.reactors,
    transactions: database,
  });
  const stacks = createStacks({
    store: stackStore,
    directory: { lookUp: async () => ({ account: anAccount(), repository: aRepository() }) },
    vendors: [],
    onUnlock: (key) => made.scheduler.wake(key),
    onRelabeled: (tx, key) => made.approvalJobs.policiesChanged(tx, [key]),
    ...{ repositories, transactions: database, clock, newId },
  });
  // Also the proof that the service is what workers expect.
  const server: ServerApi = made.workerService;
  const opened = {
    unaffected,
    regated,
    reviews,
    runGates,
    runs,
    stackStore,
    repositories,
    branchHeads,
    offered,
    logs,
    queue,
    server,
    source,
    stacks,
  };
  return { ...made, ...opened };
}

export const noneJudged: JudgedEvents = {
  judge: async () => new Map(),
  act: () => Promise.reject(new Error('no push policies in this test')),
};
const noPushPolicies: PushJudge = { judged: async () => new Set(), judge: async () => new Map() };

export function aPlan(change: Partial<PlanReport> = {}): PlanReport {
  return {
    hasChanges: true,
    delta: { added: 1, changed: 0, deleted: 0, resources: 1 },
    steps: [{ op: 'create' }],
    file: Buffer.from('the plan'),
    autodeploy: false,
    ...change,
  };
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('expected a value');
  return value;
}
