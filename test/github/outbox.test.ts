import { describe, expect, test } from 'vitest';
import { createFeedbackReactor } from '../../src/github/feedback/reactor.ts';
import { anEvent } from './builders.ts';
import { openOutbox } from './outbox-support.ts';

describe('the feedback outbox', () => {
  test('makes one check run for a run and brings it along from state to state', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.outbox().start();

    for (const state of ['QUEUED', 'PLANNING', 'UNCONFIRMED'] as const) {
      await all.tell(run, state);
      await all.settled('run-1');
    }

    expect(all.shown()).toEqual([
      { externalId: 'run-1', status: 'completed', conclusion: 'action_required' },
    ]);
    const [check] = all.github.checkRuns;
    expect(check).toMatchObject({ name: 'slipway/network-prod', headSha: run.commit.hash });
    expect(check?.actions.map(({ identifier }) => identifier)).toEqual(['confirm', 'discard']);
    await all.tell(run, 'APPLYING');
    await all.settled('run-1');
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'in_progress', conclusion: null }]);
    expect(check?.actions).toEqual([]);
  });

  test('sends the newest state only', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    for (const state of ['QUEUED', 'READY', 'PREPARING', 'PLANNING', 'FINISHED'] as const) {
      await all.tell(run, state);
    }

    all.outbox().start();
    await all.settled('run-1');

    expect(all.writes()).toHaveLength(1);
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });

  test('sends what was wanted while it was sending', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.tell(run, 'PREPARING');
    await all.tell(run, 'FINISHED');

    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
    const statuses = all.writes().map(({ body }) => (body as { status: string }).status);
    expect(statuses.at(-1)).toBe('completed');
  });

  test('writes nothing when the state change is rolled back', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    const reactor = createFeedbackReactor({
      calmMs: 0,
      store: all.store,
      clock: all.clock,
      publicUrl: () => 'https://slipway.example.com',
      isSandboxed: true,
      onWanted: () => undefined,
    });

    const work = all.database.write(async (tx) => {
      await reactor(tx, anEvent(run));
      throw new Error('somebody was faster');
    });

    await expect(work).rejects.toThrow('somebody was faster');
    expect(await all.store.find('run-1')).toBeNull();
  });

  test('sends what a run only passes through when it has been calm for a moment, and the rest at once', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    const reactor = createFeedbackReactor({
      calmMs: 1000,
      store: all.store,
      clock: all.clock,
      publicUrl: () => 'https://slipway.example.com',
      isSandboxed: true,
      onWanted: () => undefined,
    });
    const states = ['QUEUED', 'READY', 'PLANNING', 'UNCONFIRMED', 'APPLYING', 'FINISHED'] as const;

    const waits: number[] = [];
    for (const [index, state] of states.entries()) {
      const event = anEvent({ ...run, state, stateVersion: index + 1 });
      await all.database.write((tx) => reactor(tx, event));
      waits.push(((await all.store.find('run-1'))?.nextAtMs ?? 0) - all.clock.nowMs());
    }

    expect(waits).toEqual([0, 1000, 1000, 0, 1000, 0]);
  });
});
