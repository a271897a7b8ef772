import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leaseMs } from '../../src/engine/sqlite-engine.ts';
import { phaseQueue } from '../../src/runs/phase-jobs.ts';
import { isBlocking, isTerminal, maxRestarts, type Run } from '../../src/runs/run.ts';
import type { Assignment } from '../../src/worker/server-api.ts';
import { person } from '../support/builders.ts';
import { aPlan, openRunWorld, type RunWorld } from '../support/run-world.ts';

/** What may happen to a server, in any order; `pick` chooses a run or a worker, `flag` between two ways. */
const weights = {
  ...{ push: 2, 'push topic': 1, task: 1, destroy: 1, claim: 6, work: 20, fail: 1, 'hand back': 1 },
  ...{ confirm: 5, discard: 1, cancel: 1, stop: 1, lock: 1, unlock: 3, silence: 1, crash: 1 },
};
const actions = Object.entries(weights).map(([kind, weight]) => ({
  weight,
  arbitrary: fc.constant(kind as keyof typeof weights),
}));
const action = fc.record({ kind: fc.oneof(...actions), pick: fc.nat(50), flag: fc.boolean() });
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** Runs may change the world in one of these, once. */
const changing = new Set(['APPLYING', 'DESTROYING', 'PERFORMING']);
const operator = { kind: 'operator' } as const;
const ada = { actor: 'ada', confirmation: 'Network Prod' };

/** A world with one stack, the workers that hold something, and those that lost it and do not know. */
async function start() {
  const world = await openRunWorld();
  const { key } = await world.addStack();
  const held: Assignment[] = [];
  const ghosts: Assignment[] = [];
  const ended = new Map<string, string>();
  let pushes = 0;

  const allRuns = () => world.runs.listOfStack(key, { before: null, limit: 1000 });
  const stack = async () => {
    const found = await world.stackStore.findByKey(key);
    if (!found) throw new Error('the stack is gone');
    return found;
  };
  const drop = (assignment: Assignment) => held.splice(held.indexOf(assignment), 1);

  /** What a worker does next, as far as the run's state goes. */
  async function work(assignment: Assignment, flag: boolean): Promise<void> {
    const { server } = world;
    const { state } = await world.run(assignment.run.id);
    if (isTerminal(state)) {
      drop(assignment);
      await server.finished(assignment);
    } else if (state === 'PREPARING' || state === 'PREPARING_APPLY') {
      await server.saveFrozen(assignment, assignment.frozen);
      expect(await server.prepared(assignment)).toBe('held');
    } else if (state === 'INITIALIZING') {
      expect(await server.initialized(assignment)).toBe('held');
    } else if (state === 'PLANNING') {
      const plan = aPlan({ hasChanges: assignment.run.stateVersion % 5 !== 0, autodeploy: flag });
      if ((await server.planned(assignment, plan)).next === 'wait') drop(assignment);
    } else {
      expect(await server.applied(assignment)).toBe('held');
    }
  }

  async function lose(): Promise<void> {
    ghosts.push(...held.splice(0));
  }

  async function act({ kind, pick, flag }: Action): Promise<void> {
    const worker = held[pick % Math.max(held.length, 1)];
    // Mostly of runs that are under way: on the others every command is refused.
    const unfinished = await world.runs.unfinished(key);
    const runs = pick % 5 === 0 || unfinished.length === 0 ? await allRuns() : unfinished;
    const run = runs[pick % Math.max(runs.length, 1)];
    switch (kind) {
      case 'push':
      case 'push topic':
        pushes += flag ? 1 : 0;
        await world.push(`commit-${pushes}`, kind === 'push' ? {} : { branch: 'topic' });
        return;
      case 'task':
      case 'destroy': {
        if (!world.commits.has('main')) return;
        const type = kind === 'task' ? 'TASK' : 'DESTROY';
        await world.triggers.manual(await stack(), { type, command: 'ls' }, operator);
        return;
      }
      case 'claim': {
        const assignment = await world.claim();
        if (assignment) held.push(assignment);
        return;
      }
      case 'work':
        if (worker) await work(worker, flag);
        return;
      case 'fail':
        if (worker) await world.server.failed(worker, { outcome: 'tool_failed', note: 'n' });
        return;
      case 'hand back':
        if (
          worker &&
          ['PREPARING', 'INITIALIZING', 'PLANNING'].includes((await world.run(worker.run.id)).state)
        ) {
          drop(worker);
          expect(await world.server.handBack(worker)).toBe('held');
        }
        return;
      case 'confirm':
      case 'discard':
      case 'cancel':
      case 'stop':
        if (run) await world.commands[kind](run.id, ada);
        return;
      case 'lock':
        if (!(await stack()).lock) await world.stacks.lock(await stack(), person(flag ? 'ada' : 'bob'), '');
        return;
      case 'unlock':
        await world.stacks.unlock(await stack());
        return;
      case 'silence':
        world.clock.advance(leaseMs);
        await lose();
        await world.recovery.sweep();
        await world.recovery.sweep();
        return;
      case 'crash':
        await lose();
        await world.recovery.start();
        await world.scheduler.sweep();
    }
  }

  async function check(): Promise<void> {
    await world.scheduler.settled();
    const runs = await allRuns();
    const jobs = await world.database.read.selectFrom('job').selectAll().execute();
    const jobsOf = (run: Run) => jobs.filter((job) => job.queue === phaseQueue && job.key.endsWith(run.id));

    const active = runs.filter(
      ({ type, state }) => isBlocking(type) && state !== 'QUEUED' && !isTerminal(state),
    );
    expect(active.length).toBeLessThanOrEqual(1);
    for (const run of runs) {
      const events = await world.runs.events(run.id);
      expect(events.map(({ stateVersion }) => stateVersion)).toEqual(events.map((_, n) => n + 1));
      expect(events.at(-1)).toMatchObject({ state: run.state, stateVersion: run.stateVersion });
      expect(events.filter(({ state }) => changing.has(state)).length).toBeLessThanOrEqual(1);
      expect(run.restarts).toBeLessThanOrEqual(maxRestarts);

      if (ended.has(run.id)) expect(run.state).toBe(ended.get(run.id));
      if (isTerminal(run.state)) ended.set(run.id, run.state);

      const hasHolder = held.some((assignment) => assignment.run.id === run.id);
      expect(held.filter((assignment) => assignment.run.id === run.id).length).toBeLessThanOrEqual(1);
      const idle = ['QUEUED', 'UNCONFIRMED'].includes(run.state);
      const wanted = idle ? 0 : isTerminal(run.state) ? jobsOf(run).length : 1;
      expect([run.state, jobsOf(run).length]).toEqual([run.state, wanted]);
      expect(jobsOf(run).length).toBeLessThanOrEqual(1);
      if (hasHolder) expect(jobsOf(run)).toHaveLength(1);
    }
    for (const ghost of ghosts) {
      expect(await world.server.failed(ghost, { outcome: 'internal_error', note: 'a ghost' })).toBe('lost');
    }
  }

  return {
    world,
    held,
    act,
    check,
    work,
    allRuns,
    stack,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Nothing is stuck: with workers that work and a person who confirms, every run comes to its end. */
async function bringToAnEnd(started: Awaited<ReturnType<typeof start>>): Promise<void> {
  const { world, held } = started;
  for (let turn = 0; turn < 500; turn += 1) {
    await world.stacks.unlock(await started.stack());
    await world.scheduler.settled();
    const assignment = held[0] ?? (await world.claim());
    if (assignment && !held.includes(assignment)) held.push(assignment);
    if (assignment) await started.work(assignment, false);
    else if (!(await confirmOne(world))) break;
  }
  const runs = await started.allRuns();
  expect(runs.filter(({ state }) => !isTerminal(state))).toEqual([]);
  expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  expect(await world.database.read.selectFrom('run_box').select('run_id').execute()).toEqual([]);
  const files = world.database.read.selectFrom('run_plan').select('run_id').where('file', 'is not', null);
  expect(await files.execute()).toEqual([]);
}

async function confirmOne(world: RunWorld): Promise<boolean> {
  const [waiting] = await world.runs.inState(['UNCONFIRMED']);
  if (waiting) await world.commands.confirm(waiting.id, ada);
  return waiting !== undefined;
}

it('keeps its promises whatever people, workers and crashes do, and brings every run to an end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 60, size: 'max' }), async (sequence) => {
      await using started = await start();
      for (const one of sequence) {
        await started.act(one);
        await started.check();
      }
      await bringToAnEnd(started);
    }),
    { numRuns: 12 },
  );
});
