import { describe, expect, it } from 'vitest';
import type { PlanJudge, PlanVerdict } from '../../src/runs/plan-judge.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;

describe('a worker that has to stop', () => {
  it('hands back a first half that does not end in time, for another to start again', async () => {
    await using world = await openWorkerWorld();
    const started = world.meetingPoint('started');
    const hook = `[ -e ../../again ] || { touch ../../again; echo > ${started.path}; sleep 1000; }`;
    await world.addStack(shellStack({}, { beforePlan: [hook] }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await started.hear();

    await worker.stop(0);
    expect(await world.run(id)).toMatchObject({ state: 'PREPARING', restarts: 0 });

    const next = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    await next.stop(longMs);
    expect((await world.run(id)).restarts).toBe(0);

    // What the first attempt wrote stays, apart from what the second one writes.
    const planning = Buffer.from((await world.logs.read(id, 'planning', 0, 1e6)).bytes).toString();
    const [first = '', second = '', ...more] = planning.split(
      '\n[---------- started again, attempt 2 ----------]\n',
    );
    expect(more).toEqual([]);
    expect(first).toContain('$ [ -e ');
    expect(second).toContain('$ bash -c echo the plan');
  });

  it.each([true, false])(
    'hands back a plan that policies still judge (autodeploy: %s)',
    async (autodeploy) => {
      const begun = Promise.withResolvers<void>();
      let asked = 0;
      const passed: PlanVerdict = {
        ...{ outcome: 'passed', note: null, lines: [] },
        settle: async () => true,
      };
      const judge: PlanJudge = {
        async judge(_, signal) {
          asked += 1;
          if (asked > 1) return passed;
          begun.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          return { ...passed, outcome: 'failed', lines: ['it was not wanted any more'] };
        },
      };
      await using world = await openWorkerWorld(undefined, {}, undefined, judge);
      await world.addStack(shellStack({}, {}, { autodeploy }));
      const id = await world.pushed('a1');
      const worker = world.startWorker();
      await begun.promise;

      await worker.stop(0);
      expect(await world.run(id)).toMatchObject({ state: 'PREPARING', restarts: 0 });
      expect(await world.log(id)).not.toContain('not wanted');

      const next = world.startWorker();
      await world.until(id, autodeploy ? 'FINISHED' : 'UNCONFIRMED');
      await next.stop(longMs);
      expect(asked).toBe(2);
    },
  );

  it('waits for an apply, however long that takes', async () => {
    await using world = await openWorkerWorld();
    const [started, go] = [world.meetingPoint('started'), world.meetingPoint('go')];
    const apply = `echo > ${started.path}; read < ${go.path}; echo applied`;
    await world.addStack(shellStack({ apply }, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await started.hear();

    const stopping = worker.stop(0);
    await drained();
    expect((await world.run(id)).state).toBe('APPLYING');
    go.release();
    await stopping;

    expect((await world.run(id)).state).toBe('FINISHED');
    expect(await world.log(id)).toContain('\napplied\n');
  });

  it('does not begin to apply once it gave up: nothing would say what was done', async () => {
    let giveUp = () => Promise.resolve();
    const gaveUp = new Promise<void>((resolve) => {
      giveUp = async () => {
        resolve(worker.stop(0));
        await drained();
      };
    });
    await using world = await openWorkerWorld((server) => ({
      // The last thing before the plan is reported; exports tell it from the one after preparing.
      async saveFrozen(...given: Parameters<ServerApi['saveFrozen']>) {
        const answer = await server.saveFrozen(...given);
        if ('DONE' in given[1].exports) await giveUp();
        return answer;
      },
    }));
    const hooks = { afterPlan: ['export DONE=1'] };
    const stack = await world.addStack(shellStack({}, hooks, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await gaveUp;

    expect((await world.states(id)).at(-1)).toBe('6 PREPARING');
    expect((await world.stackStore.findByKey(stack.key))?.lock).toBeNull();
  });
});

/** After `stop(0)`: its timer was set before this one, so it has rung when this one does. */
function drained(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
