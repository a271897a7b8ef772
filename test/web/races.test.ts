import { describe, expect, it } from 'vitest';
import type { Run } from '../../src/runs/run.ts';
import { aCommit } from '../support/builders.ts';
import { aPlan, undrained } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';
import { type Answer, inEveryOrder, type RaceWorld } from './race-world.ts';

const timeout = 30_000;
const head = 'a1'.repeat(20);

async function oneStack(world: RaceWorld) {
  const stack = await world.addStack();
  world.commits.set('main', [aCommit({ hash: head })]);
  return { stack, path: `/stacks/acme/${stack.id}` };
}

/** A run that was planned and waits for a person: version 6. */
async function unconfirmed(world: RaceWorld): Promise<string> {
  await world.addStack();
  const id = await world.pushed('a1');
  await world.plan();
  return id;
}

const act = (world: RaceWorld, who: 'ada' | 'bob', id: string, verb: string, body = {}) =>
  world.ask(who, 'POST', `/runs/${id}/${verb}`, body);

/** The other was too late, and is told where the run stands. */
function expectConflict({ status, body }: Answer, now: Pick<Run, 'state' | 'stateVersion'>): void {
  expect({ status, ...body }).toMatchObject({ status: 409, code: 'state-conflict', ...now });
}

async function versions(world: RaceWorld, id: string): Promise<readonly string[]> {
  const states = await world.states(id);
  expect(states.map((state) => Number.parseInt(state, 10))).toEqual(states.map((_, n) => n + 1));
  return states;
}

describe('of two who act on a run at once', { timeout }, () => {
  it.each([
    ['confirm', 'confirm', {}],
    ['confirm', 'confirm', { stateVersion: 6 }],
    ['discard', 'discard', {}],
    ['confirm', 'discard', {}],
    ['discard', 'confirm', { stateVersion: 6 }],
  ])('one wins and the other is told: %s and %s with %j', (first, second, body) =>
    inEveryOrder(['ada won', 'bob won'], async (world) => {
      const id = await unconfirmed(world);

      const [ada, bob] = await world.race(() => [
        act(world, 'ada', id, first, body),
        act(world, 'bob', id, second, body),
      ]);

      const hasAdaWon = ada.status === 200;
      const [winner, loser] = hasAdaWon ? [ada, bob] : [bob, ada];
      const to = (hasAdaWon ? first : second) === 'confirm' ? 'CONFIRMED' : 'DISCARDED';
      expect(winner).toMatchObject({ status: 200, body: { id, state: to, stateVersion: 7 } });
      expectConflict(loser, { state: to, stateVersion: 7 });
      expect((await versions(world, id)).slice(6)).toEqual([`7 ${to}`]);
      return hasAdaWon ? 'ada won' : 'bob won';
    }),
  );

  it('whoever looked at an older version loses, first or not', () =>
    inEveryOrder(['stale first', 'stale last'], async (world) => {
      const id = await unconfirmed(world);

      const [stale, fresh] = await world.race(() => [
        act(world, 'ada', id, 'discard', { stateVersion: 5 }),
        act(world, 'bob', id, 'confirm', { stateVersion: 6 }),
      ]);

      expect(fresh).toMatchObject({ status: 200, body: { state: 'CONFIRMED', stateVersion: 7 } });
      const isFirst = stale.body.stateVersion === 6;
      expectConflict(
        stale,
        isFirst ? { state: 'UNCONFIRMED', stateVersion: 6 } : { state: 'CONFIRMED', stateVersion: 7 },
      );
      expect((await versions(world, id)).at(-1)).toBe('7 CONFIRMED');
      return isFirst ? 'stale first' : 'stale last';
    }));
});

describe('of a person and a worker who act at once', { timeout }, () => {
  it('either the run is canceled and nobody gets it, or it is claimed and can only be stopped', () =>
    inEveryOrder(['canceled', 'claimed'], async (world) => {
      await world.addStack();
      const id = await world.pushed('a1');

      const [cancel, claimed] = await world.race(() => [act(world, 'ada', id, 'cancel'), world.claim()]);

      if (cancel.status === 200) {
        expect(claimed).toBeNull();
        expect((await versions(world, id)).at(-1)).toBe('3 CANCELED');
        expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
        return 'canceled';
      }
      expectConflict(cancel, { state: 'PREPARING', stateVersion: 3 });
      expect(claimed).toMatchObject({ half: 'plan', run: { id, state: 'PREPARING' } });
      expect(await act(world, 'ada', id, 'stop')).toMatchObject({ status: 200 });
      return 'claimed';
    }));

  it.each([
    [false, 'UNCONFIRMED', 'wait'],
    [true, 'APPLYING', 'apply'],
  ])('either the run is stopped or its plan counts (autodeploy: %s)', (autodeploy, state, next) =>
    inEveryOrder(['stopped', 'planned'], async (world) => {
      await world.addStack();
      const id = await world.pushed('a1');
      const assignment = await world.claimed();
      await world.server.prepared(assignment);
      await world.server.initialized(assignment);

      const [stop, planned] = await world.race(() => [
        act(world, 'ada', id, 'stop'),
        world.server.planned(assignment, aPlan({ autodeploy }), undrained),
      ]);

      const isStopped = stop.status === 200;
      expect(planned).toEqual({ next: isStopped ? 'end' : next });
      if (!isStopped) expectConflict(stop, { state: state as Run['state'], stateVersion: 6 });
      expect((await versions(world, id)).slice(5)).toEqual([isStopped ? '6 STOPPED' : `6 ${state}`]);
      return isStopped ? 'stopped' : 'planned';
    }),
  );

  it('a run ends once, by the person or by its failure', () =>
    inEveryOrder(['STOPPED', 'FAILED'], async (world) => {
      await world.addStack();
      const id = await world.pushed('a1');
      const assignment = await world.claimed();

      const [stop, failed] = await world.race(() => [
        act(world, 'ada', id, 'stop'),
        world.server.failed(assignment, { outcome: 'source_unavailable', note: 'gone' }),
      ]);

      const { state } = await world.run(id);
      expect(failed).toBe(state === 'FAILED' ? 'held' : 'ended');
      if (state === 'FAILED') expectConflict(stop, { state, stateVersion: 4 });
      else expect(stop).toMatchObject({ status: 200, body: { state: 'STOPPED' } });
      expect(await versions(world, id)).toHaveLength(4);
      return state;
    }));
});

describe('of runs that start at once', { timeout }, () => {
  it('one of two has its turn, and the other knows whom it waits for', () =>
    inEveryOrder(['ada first', 'bob first'], async (world) => {
      const { path } = await oneStack(world);
      const start = { type: 'TRACKED' };

      const answers = await world.race(() => [
        world.ask('ada', 'POST', `${path}/runs`, start),
        world.ask('bob', 'POST', `${path}/runs`, start),
      ]);

      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      const ids = answers.map(({ body }) => body.id ?? '');
      const states = await Promise.all(ids.map(async (id) => (await world.run(id)).state));
      expect(states.toSorted()).toEqual(['QUEUED', 'READY']);
      const first = states.indexOf('READY');
      const waiting = await world.ask('ada', 'GET', `/runs/${ids[1 - first]}`);
      expect(waiting.body.blockedBy).toEqual({ kind: 'run', run: ids[first], state: 'READY' });
      return first === 0 ? 'ada first' : 'bob first';
    }));

  it.each([
    ['of one commit', ['c1', 'c1'], ['one', 'two']],
    ['of one commit that are the same delivery', ['c1', 'c1'], ['one', 'one']],
  ])('two pushes %s make one run', (_, [one = '', two = ''], deliveries) =>
    inEveryOrder(['the first', 'the second'], async (world) => {
      const { stack } = await oneStack(world);

      const notes = await world.race(() => [
        world.push(one, { delivery: deliveries[0] ?? '' }),
        world.push(two, { delivery: deliveries[1] ?? '' }),
      ]);

      const made = await runsOfStack(world.database, stack.key);
      expect(made.map(({ state }) => state)).toEqual(['READY']);
      const first = notes.findIndex(([note]) => note?.includes(`TRACKED run ${made[0]?.id}`));
      expect(notes[1 - first]?.[0]).toContain('there is a run for this commit already');
      return first === 0 ? 'the first' : 'the second';
    }),
  );

  it('a lock comes in time or too late, and the run says which', () =>
    inEveryOrder(['READY', 'QUEUED'], async (world) => {
      const { path } = await oneStack(world);

      const [lock, started] = await world.race(() => [
        world.ask('bob', 'PUT', `${path}/lock`, {}),
        world.ask('ada', 'POST', `${path}/runs`, { type: 'TRACKED' }),
      ]);

      expect([lock.status, started.status]).toEqual([204, 201]);
      const run = await world.ask('ada', 'GET', `/runs/${started.body.id}`);
      if (run.body.state === 'QUEUED') {
        expect(run.body.blockedBy).toMatchObject({ kind: 'lock', holder: 'bob' });
        await world.ask('bob', 'DELETE', `${path}/lock`);
        await world.scheduler.settled();
        expect((await world.run(started.body.id ?? '')).state).toBe('READY');
      }
      return run.body.state ?? '';
    }));

  it('one of two gets the lock, and the other is told the holder', () =>
    inEveryOrder(['ada', 'bob'], async (world) => {
      const { stack, path } = await oneStack(world);

      const answers = await world.race(() => [
        world.ask('ada', 'PUT', `${path}/lock`, {}),
        world.ask('bob', 'PUT', `${path}/lock`, {}),
      ]);

      expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
      const holder = (await world.stackStore.findByKey(stack.key))?.lock?.holder ?? '';
      expect(answers[holder === 'ada' ? 1 : 0]?.body).toMatchObject({ code: 'locked', holder });
      return holder;
    }));
});

describe('of a stack that is deleted', { timeout }, () => {
  it('either a run that starts keeps it, or there is nothing to start', () =>
    inEveryOrder(['kept', 'deleted'], async (world) => {
      const { stack, path } = await oneStack(world);

      const [removed, started] = await world.race(() => [
        world.ask('ada', 'DELETE', path),
        world.ask('bob', 'POST', `${path}/runs`, { type: 'TRACKED' }),
      ]);

      const isKept = (await world.stackStore.findByKey(stack.key)) !== null;
      if (isKept) expect(removed).toMatchObject({ status: 409, body: { code: 'stack-busy' } });
      else expect(removed.status).toBe(204);
      expect(started.status).toBe(isKept ? 201 : 404);
      return isKept ? 'kept' : 'deleted';
    }));

  it('a run under way keeps it, and one that has just ended ends with it', () =>
    inEveryOrder(['kept', 'deleted'], async (world) => {
      const { stack, path } = await oneStack(world);
      await world.pushed('a1');
      const assignment = await world.claimed();
      await world.server.prepared(assignment);
      await world.server.initialized(assignment);
      await world.server.planned(assignment, aPlan({ autodeploy: true }), undrained);

      const [removed, applied] = await world.race(() => [
        world.ask('ada', 'DELETE', path),
        world.server.applied(assignment),
      ]);

      expect(applied).toBe('held');
      const isKept = (await world.stackStore.findByKey(stack.key)) !== null;
      if (isKept) expect(removed).toMatchObject({ status: 409, body: { code: 'stack-busy' } });
      else expect(removed.status).toBe(204);
      await world.finish(assignment);
      expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
      return isKept ? 'kept' : 'deleted';
    }));
});
