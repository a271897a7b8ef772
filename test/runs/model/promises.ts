import { expect } from 'vitest';
import { phaseQueue } from '../../../src/runs/phase-jobs.ts';
import { isBlocking, isTerminal, maxRestarts, type Run, type RunState } from '../../../src/runs/run.ts';
import type { StoredEvent } from '../../../src/runs/run-store.ts';
import type { Assignment } from '../../../src/worker/server-api.ts';
import { aPlan, undrained } from '../../support/run-world.ts';
import { runsOfStack } from '../../support/runs-of-stack.ts';
import { type Lives, stackOf } from './lives.ts';

/** The tables of docs/runs.md, written down a second time: what may follow what. */
const common: Steps = {
  QUEUED: ['READY', 'CANCELED'],
  READY: ['PREPARING', 'CANCELED'],
  PREPARING: ['PREPARING', 'INITIALIZING', 'FAILED', 'STOPPED'],
};
const confirmed: Steps = { UNCONFIRMED: ['CONFIRMED', 'DISCARDED'], CONFIRMED: ['PREPARING_APPLY'] };
const lookedAt: readonly RunState[] = ['PREPARING', 'FINISHED', 'FAILED', 'STOPPED'];
const initialized: readonly RunState[] = ['PREPARING', 'PLANNING', 'FAILED', 'STOPPED'];
const steps: Readonly<Record<Run['type'], Steps>> = {
  PROPOSED: { ...common, INITIALIZING: initialized, PLANNING: lookedAt },
  TRACKED: {
    ...{ ...common, INITIALIZING: initialized, PLANNING: [...lookedAt, 'APPLYING', 'UNCONFIRMED'] },
    ...{ ...confirmed, PREPARING_APPLY: ['APPLYING', 'FAILED'], APPLYING: ['FINISHED', 'FAILED'] },
  },
  DESTROY: {
    ...{ ...common, INITIALIZING: initialized, PLANNING: [...lookedAt, 'UNCONFIRMED'] },
    ...{ ...confirmed, PREPARING_APPLY: ['DESTROYING', 'FAILED'], DESTROYING: ['FINISHED', 'FAILED'] },
  },
  TASK: {
    ...{ ...common, INITIALIZING: ['PREPARING', 'PERFORMING', 'FAILED', 'STOPPED'] },
    PERFORMING: ['FINISHED', 'FAILED'],
  },
};
type Steps = Partial<Record<RunState, readonly RunState[]>>;

/** Runs may change the world in one of these, once. */
const changing: ReadonlySet<RunState> = new Set(['APPLYING', 'DESTROYING', 'PERFORMING']);
const unclear: ReadonlySet<RunState> = new Set([...changing, 'PREPARING_APPLY']);

/** What was seen before, for promises about the course of time. */
export interface Memory {
  readonly ended: Map<string, RunState>;
  /** Stack keys with the id of the run whose loss locked them. */
  readonly locks: Map<string, string>;
  readonly started: Set<string>;
}
export const newMemory = (): Memory => ({ ended: new Map(), locks: new Map(), started: new Set() });

export async function allRuns({ world, stackKeys }: Lives): Promise<Run[]> {
  const lists = stackKeys.map((key) => runsOfStack(world.database, key));
  return (await Promise.all(lists)).flat();
}

/** Fails when a promise of docs/runs.md is broken. `unlocked`: somebody may just have taken a lock off. */
export async function check(
  lives: Lives,
  memory: Memory,
  { unlocked }: { unlocked: boolean },
): Promise<void> {
  const runs = await allRuns(lives);
  for (const key of lives.stackKeys) {
    const active = runs.filter((run) => run.stackKey === key && isActive(run));
    expect(active.length, 'blocking runs of a stack').toBeLessThanOrEqual(1);
    const { lock } = await stackOf(lives, key);
    const queued = runs.filter((run) => run.stackKey === key && run.state === 'QUEUED');
    const forNothing = queued.filter(
      ({ type }) => !isBlocking(type) || (active.length === 0 && lock === null),
    );
    expect(forNothing, 'runs that wait for nothing').toEqual([]);
  }
  const jobs = await lives.world.database.read.selectFrom('job').selectAll().execute();
  for (const run of runs) {
    const events = await lives.world.runs.events(run.id);
    checkCourse(run, events);
    if (memory.ended.has(run.id)) expect(run.state).toBe(memory.ended.get(run.id));
    else if (!unlocked) await checkLock(lives, run, events);
    if (isTerminal(run.state)) memory.ended.set(run.id, run.state);

    const ofRun = jobs.filter((job) => job.queue === phaseQueue && job.key.endsWith(run.id));
    const holders = lives.held.filter((assignment) => assignment.run.id === run.id);
    expect(holders.length, 'workers of a run').toBeLessThanOrEqual(1);
    if (['QUEUED', 'UNCONFIRMED'].includes(run.state)) expect(ofRun).toEqual([]);
    else if (!isTerminal(run.state) || holders.length > 0) expect(ofRun).toHaveLength(1);
    else expect(ofRun.length).toBeLessThanOrEqual(1);
  }
  await checkLocks(lives, memory, runs);
  await checkTold(lives);
  for (const key of lives.stackKeys) await checkSummary(lives, key);
}

/** What lists show is what the runs say, written down a second time. */
export async function checkSummary({ world }: Pick<Lives, 'world'>, stackKey: string): Promise<void> {
  const all = await runsOfStack(world.database, stackKey);
  const blocking = all.filter(({ type }) => isBlocking(type));
  const run = blocking.find(isActive) ?? blocking[0];
  const summary = await world.runs.summary(stackKey);
  if (!run) {
    expect(summary).toBeNull();
    return;
  }
  const { hash, message, authorName } = run.commit;
  expect(summary).toEqual({
    ...{ runId: run.id, type: run.type, state: run.state, triggeredBy: run.triggeredBy },
    sinceMs: (await world.runs.events(run.id)).at(-1)?.timestampMs,
    commit: { hash, subject: message.split('\n')[0], authorName },
    delta: run.delta ?? null,
    note: run.note ?? null,
    queued: blocking.filter(({ state }) => state === 'QUEUED').length,
  });
}

const isActive = ({ type, state }: Run) => isBlocking(type) && state !== 'QUEUED' && !isTerminal(state);

function checkCourse(run: Run, events: readonly StoredEvent[]): void {
  expect(events.map(({ stateVersion }) => stateVersion)).toEqual(events.map((_, n) => n + 1));
  expect(events[0]?.state).toBe('QUEUED');
  expect(events.at(-1)).toMatchObject({ state: run.state, stateVersion: run.stateVersion });
  for (const [n, { state }] of events.slice(0, -1).entries()) {
    expect(steps[run.type][state] ?? [], `after ${state} of a ${run.type} run`).toContain(
      events[n + 1]?.state,
    );
  }
  expect(events.filter(({ state }) => changing.has(state)).length).toBeLessThanOrEqual(1);
  const began = events.filter(({ state }) => state === 'PREPARING').length;
  const handedBack = events.filter(({ note }) => note === 'the server stopped; started again').length;
  expect(began).toBe((run.hadWorker ? 1 : 0) + run.restarts + handedBack);
  expect(run.restarts).toBeLessThanOrEqual(maxRestarts);
}

/** Nobody knows what was done: then the stack is locked. */
async function checkLock(lives: Lives, run: Run, events: readonly StoredEvent[]): Promise<void> {
  const was = events.at(-2)?.state ?? 'QUEUED';
  const isLost = run.outcome === 'worker_lost' || run.outcome === 'internal_error';
  if (run.state !== 'FAILED' || !isLost || !unclear.has(was)) return;
  expect((await stackOf(lives, run.stackKey)).lock).toMatchObject({ kind: 'system', run: run.id });
}

/** While such a lock is on, no blocking run of the stack starts. */
async function checkLocks(lives: Lives, memory: Memory, runs: readonly Run[]): Promise<void> {
  const active = runs.filter(isActive);
  for (const run of active) {
    const lockedBy = memory.locks.get(run.stackKey);
    const lock = (await stackOf(lives, run.stackKey)).lock;
    const isStillLocked = lockedBy !== undefined && lock?.run === lockedBy;
    if (isStillLocked && !memory.started.has(run.id)) expect.fail(`${run.id} started in spite of the lock`);
  }
  memory.started.clear();
  for (const { id } of active) memory.started.add(id);
  memory.locks.clear();
  for (const key of lives.stackKeys) {
    const { lock } = await stackOf(lives, key);
    if (lock?.kind === 'system' && lock.run) memory.locks.set(key, lock.run);
  }
}

/** Each state change has its body, and one delivery for the only webhook of its stack. */
async function checkTold({ world }: Lives): Promise<void> {
  const { read } = world.database;
  const version = ({ run_id, state_version }: { run_id: string; state_version: number | null }) =>
    `${run_id} ${state_version}`;
  const of = async (table: 'run_event' | 'payload' | 'delivery') =>
    (await read.selectFrom(table).select(['run_id', 'state_version']).execute()).map(version).sort();
  const events = await of('run_event');
  expect(await of('payload')).toEqual(events);
  expect(await of('delivery')).toEqual(events);
}

/** Whoever lost a run is told so, whatever it reports, and changes nothing any more. */
export async function checkGhosts({ world, ghosts }: Lives, turn: number): Promise<void> {
  const { server } = world;
  const reports: readonly ((ghost: Assignment) => Promise<unknown>)[] = [
    (ghost) => server.saveFrozen(ghost, { ...ghost.frozen, exports: { OF: 'a ghost' } }),
    (ghost) => server.prepared(ghost),
    (ghost) => server.initialized(ghost),
    async (ghost) => (await server.planned(ghost, aPlan(), undrained)).next,
    (ghost) => server.applied(ghost),
    (ghost) => server.failed(ghost, { outcome: 'internal_error', note: 'a ghost' }),
    (ghost) => server.handBack(ghost),
    (ghost) => server.heartbeat(ghost, 0, AbortSignal.abort()),
  ];
  for (const [n, ghost] of ghosts.entries()) {
    expect(await reports[(turn + n) % reports.length]?.(ghost)).toBe('lost');
    await server.finished(ghost);
  }
}
