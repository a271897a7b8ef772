import { describe, expect, it } from 'vitest';
import type { Vendor } from '../../src/worker/vendor.ts';
import type { PlanStep } from '../../src/worker/vendor-results.ts';
import { openWorkerWorld, shellStack, type WorkerWorld } from './worker-world.ts';

const longMs = 60_000;

const step = (name: string): PlanStep => ({
  ...{ op: 'delete', provider: '', type: 't', urn: name, new: null },
  old: { custom: true, id: name, inputs: {}, outputs: {}, parent: '', provider: '', type: 't', urn: name },
});

/** A tool whose tear-down takes no plan: each plan lists the words that its command wrote. */
const tearsDownUnbound: Partial<Vendor> = {
  destroyBinding: {
    kind: 'second-plan',
    compare: (confirmed, now) => {
      const names = (steps: readonly PlanStep[]) => steps.map(({ urn }) => urn).join(' ');
      if (names(confirmed) === names(now)) return null;
      return {
        kind: 'plan-changed',
        message: `${names(confirmed)}, then ${names(now)}`,
        hint: 'Start again.',
      };
    },
  },
  readPlan: async ([{ exitCode, stdoutTail }]) =>
    exitCode === 0
      ? {
          ...{ kind: 'planned', hasChanges: true, planFile: null },
          delta: { added: 0, changed: 0, deleted: 1, resources: 0 },
          steps: stdoutTail.trim().split(' ').map(step),
        }
      : { kind: 'failed', message: 'the shell failed' },
};

describe('a plan', () => {
  it('is found where the arguments of the command said that it goes', async () => {
    await using world = await openWorkerWorld();
    await world.addStack(shellStack({}));
    const id = await world.pushed('a1');
    const worker = world.startWorker({
      plan: ({ paths }) => [
        {
          label: 'plan',
          argv: ['cp', 'project.txt', `${paths.output}/plan`],
          environment: {},
          writesOutput: true,
        },
      ],
    });
    await world.until(id, 'UNCONFIRMED');
    await worker.stop(longMs);

    expect(await world.runs.planFile(id)).toEqual(Buffer.from('x'));
  });
});

describe('an apply', () => {
  it.each([
    ['is another than what was confirmed', { file: Buffer.from('forged') }],
    ['is gone', { file: null }],
  ])('does not begin when the plan %s', async (_, { file }) => {
    await using world = await openWorkerWorld();
    const hooks = { beforeApply: ['echo never'], afterRun: ['echo the end'] };
    await world.addStack(shellStack({}, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    const sealed = await world.runs.sealPlan(id, { hasChanges: true, steps: [], file });
    await world.database.write((tx) => world.runs.savePlan(tx, sealed));
    await world.commands.confirm(id, { actor: 'ada' });
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.run(id)).toMatchObject({
      outcome: 'plan_changed',
      note: 'The confirmed plan is missing or was altered; nothing was applied.\nStart a new run and confirm its plan.',
    });
    expect((await world.states(id)).at(-2)).toBe('8 PREPARING_APPLY');
    expect(await world.labels(id)).toEqual(['login', 'plan', 'echo the end']);
  });

  it('does not begin when the plan cannot be opened any more, and the stack is not locked for that', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    await world.database.write((tx) =>
      world.database
        .inside(tx)
        .updateTable('run_plan')
        .set({ file: Buffer.alloc(64, 1) })
        .execute(),
    );
    await world.commands.confirm(id, { actor: 'ada' });
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.run(id)).toMatchObject({ outcome: 'plan_changed' });
    expect((await world.stackStore.findByKey(stack.key))?.lock).toBeNull();
  });

  it('has the plan where no hook had it, and leaves it nowhere', async () => {
    await using world = await openWorkerWorld();
    const look = 'cat ../plan 2>/dev/null || echo "no plan here"';
    const hooks = { beforeApply: [look], afterApply: [look], afterRun: [look] };
    await world.addStack(shellStack({ apply: 'cat "$PLAN"' }, hooks, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    const said = (await world.log(id)).split('\n').filter((line) => /^(the plan|no plan here)$/.test(line));
    expect(said).toEqual(['no plan here', 'the plan', 'no plan here', 'no plan here']);
  });
});

describe('a tear-down that takes no plan', () => {
  interface Story {
    readonly confirmed: string;
    readonly later?: string;
    readonly planBinding?: boolean;
    readonly secret?: string;
    /** Happens while the run waits. */
    meanwhile?(world: WorkerWorld, id: string): Promise<void>;
  }

  /** Plans to tear down what `confirmed` says, then `later`, and is confirmed in between. */
  async function tearDown(world: WorkerWorld, story: Story) {
    const { confirmed, later = confirmed, planBinding = true, secret } = story;
    const hooks = { beforePlan: ['true'], afterPlan: [`echo "${later}" > names`], beforeDestroy: ['true'] };
    const scripts = {
      plan: `if [ -e names ]; then cat names; ! grep -q broken names; else echo "${confirmed}"; fi`,
      apply: 'echo torn down',
    };
    const stack = await world.addStack(shellStack(scripts, hooks, { planBinding }));
    if (secret !== undefined) {
      const variable = { name: 'SECRET', value: secret, secret: true, access: 'all' } as const;
      await world.database.write((tx) => world.stackStore.putVariable(tx, stack.key, variable));
    }
    const id = await world.start(stack, 'DESTROY');
    const worker = world.startWorker(tearsDownUnbound);
    await world.until(id, 'UNCONFIRMED');
    await story.meanwhile?.(world, id);
    const confirmation = stack.settings.name;
    await world.commands.confirm(id, { actor: 'ada', confirmation });
    await Promise.race([world.until(id, 'FINISHED'), world.until(id, 'FAILED')]);
    await worker.stop(longMs);
    return {
      run: await world.run(id),
      labels: await world.labels(id),
      phases: (await world.runs.commands(id)).map(({ phase }) => phase),
      states: (await world.states(id)).slice(7),
      stack: await world.stackStore.findByKey(stack.key),
    };
  }

  it('is planned once more before anything runs, and done when that is what was confirmed', async () => {
    await using world = await openWorkerWorld();
    const { run, labels, phases, states } = await tearDown(world, { confirmed: 'one two' });
    expect(run.state).toBe('FINISHED');
    expect(labels.slice(-4)).toEqual(['echo "one two" > names', 'plan', 'true', 'apply']);
    expect(phases.slice(-3)).toEqual(['preparing', 'destroying', 'destroying']);
    expect(states).toEqual(['8 PREPARING_APPLY', '9 DESTROYING', '10 FINISHED']);
  });

  it('is not begun when something else would be torn down now', async () => {
    await using world = await openWorkerWorld();
    const { run, labels, states, stack } = await tearDown(world, { confirmed: 'one', later: 'one two' });
    expect(run).toMatchObject({ outcome: 'plan_changed', note: 'one, then one two\nStart again.' });
    expect(states).toEqual(['8 PREPARING_APPLY', '9 FAILED']);
    expect(labels.slice(-2)).toEqual(['echo "one two" > names', 'plan']);
    expect(stack?.lock).toBeNull();
  });

  it('is done whatever it is now where the stack does not bind plans', async () => {
    await using world = await openWorkerWorld();
    const story = { confirmed: 'one', later: 'one two', planBinding: false };
    const { run, labels } = await tearDown(world, story);
    expect(run.state).toBe('FINISHED');
    expect(labels.filter((label) => label === 'plan')).toHaveLength(1);
  });

  it('is compared as it was stored: with secrets hidden', async () => {
    await using world = await openWorkerWorld();
    const { run } = await tearDown(world, { confirmed: 'one hunter2hunter2-two', secret: 'hunter2hunter2' });
    expect(JSON.stringify(await world.runs.plan(run.id))).not.toContain('hunter2');
    expect(run.state).toBe('FINISHED');
  });

  it('is not begun when what was confirmed is not there to compare with', async () => {
    await using world = await openWorkerWorld();
    const { run, labels } = await tearDown(world, {
      confirmed: 'one',
      meanwhile: async ({ database }) => {
        const steps = Buffer.alloc(64, 1);
        await database.write((tx) => database.inside(tx).updateTable('run_plan').set({ steps }).execute());
      },
    });
    expect(run).toMatchObject({ outcome: 'plan_changed' });
    expect(labels.filter((label) => label === 'plan')).toHaveLength(1);
  });

  it('is not begun when it cannot be planned any more', async () => {
    await using world = await openWorkerWorld();
    const { run, states } = await tearDown(world, {
      confirmed: 'one',
      later: 'broken',
    });
    expect(run).toMatchObject({ outcome: 'tool_failed', note: 'the shell failed' });
    expect(states).toEqual(['8 PREPARING_APPLY', '9 FAILED']);
  });
});
