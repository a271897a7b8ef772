import { describe, expect, it } from 'vitest';
import type { JudgedPlan, PlanJudge, PlanVerdict } from '../../src/runs/plan-judge.ts';
import { aPlan, openRunWorld, type RunWorldOptions, undrained } from '../support/run-world.ts';

const saying = (verdict: Partial<PlanVerdict>): PlanJudge => ({
  judge: async () => ({
    outcome: 'passed',
    note: null,
    lines: [],
    settle: async () => true,
    ...verdict,
  }),
});

async function opened(options: RunWorldOptions, settings = {}) {
  const world = await openRunWorld(options);
  await world.addStack({ autodeploy: true, ...settings });
  return world;
}

describe('a reported plan', () => {
  it.each<[PlanVerdict['outcome'], 'main' | 'topic', string, string | undefined]>([
    ['passed', 'main', 'APPLYING', undefined],
    ['warned', 'main', 'UNCONFIRMED', undefined],
    ['denied', 'main', 'FAILED', 'policy_denied'],
    ['failed', 'main', 'FAILED', 'policy_failed'],
    ['passed', 'topic', 'FINISHED', undefined],
    ['warned', 'topic', 'FINISHED', undefined],
    ['denied', 'topic', 'FAILED', 'policy_denied'],
    ['failed', 'topic', 'FAILED', 'policy_failed'],
  ])('that policies have %s leaves a run of %s %s', async (outcome, branch, state, ended) => {
    await using world = await opened({ judge: saying({ outcome, note: 'what they said' }) });
    const id = await world.pushed('a1', { branch });

    await world.plan({ autodeploy: true });

    expect(await world.run(id)).toMatchObject({ state, note: 'what they said', delta: aPlan().delta });
    expect((await world.run(id)).outcome).toBe(ended);
  });

  it('waits for a review when it was warned of and approval policies guard the stack', async () => {
    const guards = () => ['p 1'];
    await using world = await opened({ judge: saying({ outcome: 'warned' }), guards });
    const id = await world.pushed('a1', { branch: 'topic' });
    const run = await world.run(id);
    const verdict = { outcome: 'approved', guards: guards(), note: null } as const;
    await world.database.write((tx) => world.settleApproval(tx, run, verdict));
    await world.scheduler.settled();

    await world.plan();

    expect((await world.run(id)).state).toBe('PENDING_REVIEW');
  });

  it('is judged with the delta and the digest of its changes', async () => {
    const seen: JudgedPlan[] = [];
    const judge: PlanJudge = {
      judge: async (about, signal) => {
        seen.push(about);
        return saying({}).judge(about, signal);
      },
    };
    await using world = await opened({ judge });
    const id = await world.pushed('a1');

    await world.plan({ custom: { scanner: { high: 2 } } });

    const { changesDigest, delta } = await world.run(id);
    expect(changesDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(seen).toMatchObject([{ run: { state: 'PLANNING', changesDigest, delta }, stack: {} }]);
    expect(seen[0]?.custom).toEqual({ scanner: { high: 2 } });
  });

  it('is stored with what was said about it, or not at all', async () => {
    const judge = saying({
      outcome: 'denied',
      settle: () => Promise.reject(new Error('no room for the decision')),
    });
    await using world = await opened({ judge });
    const id = await world.pushed('a1');

    await expect(world.plan()).rejects.toThrow('no room');

    expect((await world.run(id)).state).toBe('PLANNING');
    expect(await world.runs.plan(id)).toBeNull();
  });

  it('is judged anew when other policies judge the stack by then', async () => {
    const verdicts = [
      { outcome: 'passed', note: null, lines: ['passed'], settle: async () => false },
      { outcome: 'denied', note: 'the new one says no', lines: [], settle: async () => true },
    ] as const;
    let judged = 0;
    const judge: PlanJudge = { judge: async () => verdicts[judged++ ? 1 : 0] };
    await using world = await opened({ judge });
    const id = await world.pushed('a1');

    await world.plan({ autodeploy: true });

    expect(judged).toBe(2);
    expect(await world.run(id)).toMatchObject({ state: 'FAILED', note: 'the new one says no' });
  });

  it('goes no further while policies change all the time', async () => {
    const tries: string[] = [];
    const judge = saying({ settle: async () => tries.push('settled') === 0 });
    await using world = await opened({ judge });
    const id = await world.pushed('a1');

    await world.plan({ autodeploy: true });

    expect(tries).toHaveLength(3);
    expect(await world.run(id)).toMatchObject({ state: 'FAILED', outcome: 'policy_failed' });
  });

  it('has what policies said in its log', async () => {
    await using world = await opened({ judge: saying({ lines: ['policy no-deletes: denied'] }) });
    const id = await world.pushed('a1');
    const assignment = await world.claimed();
    for (const report of ['prepared', 'initialized'] as const) await world.server[report](assignment);
    await world.server.log(assignment, 'planning', 0, Buffer.from('$ pulumi preview\n'));

    await world.server.planned(assignment, aPlan(), undrained);

    const { bytes } = await world.logs.read(id, 'planning', 0, 1000);
    expect(Buffer.from(bytes).toString()).toBe('$ pulumi preview\n[policy no-deletes: denied]\n');
  });

  it('is judged and told of once, however often the full disk has it reported', async () => {
    let asked = 0;
    let isFull = true;
    const verdict = {
      ...saying({ outcome: 'warned', lines: ['policy sizes: warned'] }),
      settle: async () => {
        if (isFull) throw new Error('the disk is full');
        return true;
      },
    };
    const judge: PlanJudge = {
      judge: async (about, signal) => {
        asked += 1;
        return { ...(await verdict.judge(about, signal)), settle: verdict.settle };
      },
    };
    await using world = await opened({ judge });
    const id = await world.pushed('a1');
    const assignment = await world.claimed();
    for (const report of ['prepared', 'initialized'] as const) await world.server[report](assignment);

    for (const _ of [1, 2]) {
      await expect(world.server.planned(assignment, aPlan(), undrained)).rejects.toThrow('full');
    }
    isFull = false;
    expect(await world.server.planned(assignment, aPlan(), undrained)).toEqual({ next: 'wait' });

    expect(asked).toBe(1);
    const { bytes } = await world.logs.read(id, 'planning', 0, 1000);
    expect(Buffer.from(bytes).toString()).toBe('[policy sizes: warned]\n');
  });

  it('is judged no further once the run was stopped', async () => {
    const began = Promise.withResolvers<void>();
    const judge: PlanJudge = {
      judge: async (_, signal) => {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return { outcome: 'failed', note: 'stopped', lines: [], settle: async () => true };
      },
    };
    await using world = await opened({ judge });
    const id = await world.pushed('a1');
    const planning = world.plan();
    await began.promise;

    await world.commands.stop(id, { actor: 'ada' });
    await planning;

    expect(await world.run(id)).toMatchObject({ state: 'STOPPED' });
    expect((await world.run(id)).outcome).toBeUndefined();
  });

  it('changes nothing when the worker lost its lease while policies judged', async () => {
    const recorded: string[] = [];
    const began = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const judge: PlanJudge = {
      judge: async () => {
        began.resolve();
        await go.promise;
        return {
          ...{ outcome: 'passed', note: null, lines: [] },
          settle: async () => recorded.push('recorded') > 0,
        };
      },
    };
    await using world = await opened({ judge });
    const id = await world.pushed('a1');
    const planning = world.plan();
    await began.promise;

    await world.recovery.start();
    go.resolve();
    await planning;

    expect(await world.run(id)).toMatchObject({ state: 'PREPARING', restarts: 1 });
    expect(recorded).toEqual([]);
    expect(await world.runs.plan(id)).toBeNull();
  });
});
