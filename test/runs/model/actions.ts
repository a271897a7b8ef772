import { expect } from 'vitest';
import { leaseMs } from '../../../src/engine/sqlite-engine.ts';
import { isTerminal } from '../../../src/runs/run.ts';
import { UserError } from '../../../src/user-error.ts';
import type { Assignment, LeaseStatus } from '../../../src/worker/server-api.ts';
import { person } from '../../support/builders.ts';
import { fc } from '../../support/fast-check.ts';
import { aPlan, undrained } from '../../support/run-world.ts';
import { runsOfStack } from '../../support/runs-of-stack.ts';
import { type Lives, stackOf } from './lives.ts';

/** What may happen to a server, in any order; `pick` chooses a stack, run or worker, `flag` between two ways. */
const weights = {
  ...{ push: 2, 'push topic': 1, task: 2, destroy: 2, claim: 8, work: 24, fail: 1, 'hand back': 1 },
  ...{ confirm: 8, discard: 1, cancel: 1, stop: 1, lock: 1, unlock: 3 },
  ...{ silence: 1, 'clock jump': 1, crash: 1, doom: 2 },
};
export type Kind = keyof typeof weights;
export interface Action {
  readonly kind: Kind;
  readonly pick: number;
  readonly flag: boolean;
}

const kinds = Object.entries(weights).map(([kind, weight]) => ({
  weight,
  arbitrary: fc.constant(kind as Kind),
}));
const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.oneof(...kinds),
  pick: fc.nat(60),
  flag: fc.boolean(),
});
/** What happens at the same time. */
export const group = fc.array(action, { minLength: 1, maxLength: 3 });

/** These say what becomes of everybody who is at work, so nobody may be in the middle of something. */
const alone: ReadonlySet<Kind> = new Set(['silence', 'clock jump', 'crash']);
const operator = { kind: 'operator' } as const;
const ada = { actor: 'ada', confirmation: 'Network Prod' };

export async function happen(lives: Lives, actions: readonly Action[]): Promise<void> {
  const busy = new Set<Assignment>();
  const together = actions.filter(({ kind }) => !alone.has(kind));
  await lives.survive(async () => {
    const results = await Promise.allSettled(together.map((one) => act(lives, one, busy)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  });
  for (const one of actions.filter(({ kind }) => alone.has(kind))) {
    await lives.survive(() => act(lives, one, busy));
  }
}

/** What a worker does next, as far as the run's state goes. */
export async function work({ world, held, ghosts }: Lives, assignment: Assignment, flag: boolean) {
  const { server } = world;
  const drop = () => {
    const at = held.indexOf(assignment);
    if (at !== -1) held.splice(at, 1);
  };
  const { state, stateVersion } = await world.run(assignment.run.id);
  if (isTerminal(state)) {
    drop();
    await server.finished(assignment);
    return;
  }
  let status: LeaseStatus = 'held';
  if (state === 'PREPARING' || state === 'PREPARING_APPLY') {
    await server.saveFrozen(assignment, assignment.frozen);
    status = await server.prepared(assignment);
  } else if (state === 'INITIALIZING') {
    status = await server.initialized(assignment);
  } else if (state === 'PLANNING') {
    const plan = aPlan({ hasChanges: stateVersion % 7 !== 0, autodeploy: flag });
    const { next } = await server.planned(assignment, plan, undrained);
    if (next === 'wait') drop();
    status = next === 'lost' ? 'lost' : 'held';
  } else {
    status = await server.applied(assignment);
  }
  // Nobody takes a lease from a worker that is not silent.
  if (status === 'lost') expect(ghosts).toContain(assignment);
}

async function act(lives: Lives, { kind, pick, flag }: Action, busy: Set<Assignment>): Promise<void> {
  const { world, life, held, ghosts } = lives;
  const idle = held.filter((assignment) => !busy.has(assignment));
  const worker = idle[pick % Math.max(idle.length, 1)];
  const stackKey = lives.stackKeys[pick % lives.stackKeys.length] ?? '';
  switch (kind) {
    case 'push':
    case 'push topic':
      await world.push(`commit-${pick % 20}`, kind === 'push' ? {} : { branch: 'topic' });
      return;
    case 'task':
    case 'destroy': {
      const type = kind === 'task' ? 'TASK' : 'DESTROY';
      const stack = await stackOf(lives, stackKey);
      await world.triggers.manual(stack, { type, command: 'ls' }, operator).catch(unless('commit-not-found'));
      return;
    }
    case 'claim': {
      const assignment = await world.claim();
      if (assignment) held.push(assignment);
      return;
    }
    case 'work':
    case 'fail':
    case 'hand back':
      if (!worker) return;
      busy.add(worker);
      if (kind === 'work') await work(lives, worker, flag);
      else if (kind === 'fail') await fail(lives, worker, flag);
      else await handBack(lives, worker);
      return;
    case 'confirm':
    case 'discard':
    case 'cancel':
    case 'stop': {
      // Mostly a run that is under way: on the others every command is refused.
      const unfinished = await world.runs.unfinished(stackKey);
      const all = await runsOfStack(world.database, stackKey);
      const run = pick % 5 === 0 ? all[pick % Math.max(all.length, 1)] : unfinished[0];
      if (run) await world.commands[kind](run.id, flag ? { ...ada, stateVersion: run.stateVersion } : ada);
      return;
    }
    case 'lock':
      await world.stacks
        .lock(await stackOf(lives, stackKey), person(flag ? 'ada' : 'bob'), '')
        .catch(unless('locked'));
      return;
    case 'unlock':
      await world.stacks.unlock(await stackOf(lives, stackKey)).catch(unless('locked'));
      return;
    case 'silence':
      ghosts.push(...held.splice(0));
      world.clock.advance(leaseMs);
      await world.recovery.sweep();
      await world.recovery.sweep();
      return;
    case 'clock jump':
      world.clock.advance((flag ? 1 : -1) * pick * 3_600_000);
      await world.recovery.sweep();
      // Whoever speaks up after the first look keeps what it has.
      for (const each of held) {
        expect(await world.server.heartbeat(each, 0, AbortSignal.abort())).not.toBe('lost');
      }
      await world.recovery.sweep();
      for (const each of held) {
        expect(await world.server.heartbeat(each, 0, AbortSignal.abort())).not.toBe('lost');
      }
      return;
    case 'crash':
      if (flag) lives.doomNext(pick * 2);
      life.end();
      return;
    case 'doom':
      life.endAfter(pick * 3);
  }
}

async function fail({ world }: Lives, worker: Assignment, flag: boolean): Promise<void> {
  const outcome = flag ? 'internal_error' : 'tool_failed';
  await world.server.failed(worker, { outcome, note: 'n' });
}

async function handBack({ world, held }: Lives, worker: Assignment): Promise<void> {
  const { state } = await world.run(worker.run.id);
  if (!['PREPARING', 'INITIALIZING', 'PLANNING'].includes(state)) return;
  // A person may have stopped it meanwhile: then its worker still has to clear up.
  if ((await world.server.handBack(worker)) === 'held') held.splice(held.indexOf(worker), 1);
}

const unless = (code: string) => (error: unknown) => {
  if (!(error instanceof UserError && error.code === code)) throw error;
};
