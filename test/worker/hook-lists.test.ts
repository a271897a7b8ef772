import { describe, expect, it } from 'vitest';
import type { RunState, RunType } from '../../src/runs/run.ts';
import type { Limits } from '../../src/sandbox/sandbox.ts';
import { type HookName, hookNames } from '../../src/stacks/stack.ts';
import { UserError } from '../../src/user-error.ts';
import type { Vendor } from '../../src/worker/vendor.ts';
import { openWorkerWorld, shellStack, type WorkerWorld } from './worker-world.ts';

const longMs = 60_000;
const types: Partial<Record<HookName, RunType>> = {
  ...{ beforeDestroy: 'DESTROY', afterDestroy: 'DESTROY' },
  ...{ beforePerform: 'TASK', afterPerform: 'TASK' },
};

/** Confirms whatever waits, and gives the run once nothing more will happen to it. */
async function toTheEnd(
  world: WorkerWorld,
  id: string,
  vendor: Partial<Vendor> = {},
  limit: Partial<Limits> = {},
) {
  const worker = world.startWorker(vendor, limit);
  const ended = Promise.race(
    (['FINISHED', 'FAILED', 'STOPPED', 'DISCARDED'] as const).map((state) => world.until(id, state)),
  );
  const waits = world.until(id, 'UNCONFIRMED').then(async () => {
    const run = await world.run(id);
    const confirmation = (await world.stackStore.findByKey(run.stackKey))?.settings.name ?? '';
    await world.commands.confirm(id, { actor: 'ada', confirmation });
  });
  await Promise.race([ended, waits.then(() => ended)]);
  await worker.stop(longMs);
  return world.run(id);
}

describe('a hook that fails', () => {
  const failable = hookNames.filter((name) => name !== 'afterRun');

  it.each(failable)('in %s ends the run there, and the run names it', async (list) => {
    await using world = await openWorkerWorld();
    const others = hookNames.map((name) => [name, [`: ${name}`]]);
    const hooks = { ...Object.fromEntries(others), [list]: ['exit 7', ': never'] };
    const stack = await world.addStack(shellStack({}, hooks));
    const id = await world.start(stack, types[list] ?? 'TRACKED', 'true');
    const run = await toTheEnd(world, id);

    expect(run).toMatchObject({
      ...{ state: 'FAILED', outcome: 'hook_failed' },
      note: `The ${list} hook "exit 7" failed with exit code 7.\nIts output stands in the log of the run.`,
    });
    // Nothing of the phase came after it, only the end.
    expect((await world.labels(id)).slice(-2)).toEqual(['exit 7', ': afterRun']);
  });

  it('is named by its beginning, on one line, with secrets hidden also where it is cut', async () => {
    await using world = await openWorkerWorld();
    const secret = 'hunter2-hunter2-hunter2';
    const hook = `echo "${'x'.repeat(75)}"\n\n   echo ${secret}; exit 1`;
    const stack = await world.addStack(shellStack({}, { beforePlan: [hook] }));
    const variable = { name: 'KEY', value: secret, secret: true, access: 'all' } as const;
    await world.database.write((tx) => world.stackStore.putVariable(tx, stack.key, variable));
    const { note } = await toTheEnd(world, await world.start(stack, 'TRACKED'));

    expect(note).toBe(
      `The beforePlan hook "echo "${'x'.repeat(75)}" echo ***; exit 1" failed with exit code 1.\nIts output stands in the log of the run.`,
    );
    await world.database.write((tx) =>
      world.stackStore.updateSettings(tx, stack.key, {
        ...stack.settings,
        hooks: { ...stack.settings.hooks, beforePlan: [`: ${'y'.repeat(90)} ${secret}; exit 1`] },
      }),
    );
    const second = await toTheEnd(world, await world.start(stack, 'TRACKED'));
    expect(second.note).toContain(
      `The beforePlan hook ": ${'y'.repeat(90)} ***; ex…" failed with exit code 1.\n`,
    );
  });

  it('in time or output is named too', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}, { beforePlan: ['sleep 100'] }));
    const run = await toTheEnd(world, await world.start(stack, 'TRACKED'), {}, { wallMs: 300 });
    expect(run).toMatchObject({
      ...{ outcome: 'timeout' },
      note: expect.stringMatching(
        /^The beforePlan hook "sleep 100" was stopped: the phase planning may take 0\.3 seconds in all/,
      ),
    });
  });

  it('is not what a failing task is', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(
      shellStack({}, { afterPerform: ['echo never'], afterRun: ['echo end'] }),
    );
    const id = await world.start(stack, 'TASK', 'exit 4');
    expect(await toTheEnd(world, id)).toMatchObject({
      outcome: 'tool_failed',
      note: 'The command "exit 4" failed with exit code 4.\nIts output stands in the log of the run.',
    });
    expect((await world.labels(id)).slice(-2)).toEqual(['exit 4', 'echo end']);
  });
});

describe('after_plan and after_apply hooks', () => {
  it.each(['plan', 'apply'])('do not run when the %s failed', async (what) => {
    await using world = await openWorkerWorld();
    const hooks = { afterPlan: [': afterPlan'], afterApply: [': afterApply'], afterRun: [': end'] };
    const stack = await world.addStack(shellStack({ [what]: 'exit 1' }, hooks));
    const id = await world.start(stack, 'TRACKED');
    expect(await toTheEnd(world, id)).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
    expect((await world.labels(id)).slice(-2)).toEqual([what, ': end']);
  });
});

describe('after_run hooks', () => {
  const end = { afterRun: ['echo "the end of $SLIPWAY_PHASE"; pwd'] };

  interface Ending {
    readonly scripts?: Parameters<typeof shellStack>[0];
    readonly hooks?: Parameters<typeof shellStack>[1];
    readonly vendor?: Partial<Vendor>;
    readonly limit?: Partial<Limits>;
    readonly type?: RunType;
    readonly outcome?: string;
  }
  const nothing = { kind: 'planned', hasChanges: false, steps: [], planFile: null } as const;
  const none = { added: 0, changed: 0, deleted: 0, resources: 1 };

  it.each<[what: string, state: RunState, phase: string, ending: Ending]>([
    ['an apply', 'FINISHED', 'applying', {}],
    ['a preview', 'FINISHED', 'planning', { type: 'PROPOSED' }],
    ['a task', 'FINISHED', 'performing', { type: 'TASK' }],
    ['a tear-down', 'FINISHED', 'destroying', { type: 'DESTROY' }],
    [
      'nothing to change',
      'FINISHED',
      'planning',
      { vendor: { readPlan: async () => ({ ...nothing, delta: none }) } },
    ],
    ['a missing tool', 'FAILED', 'preparing', { vendor: { tool: null }, outcome: 'tool_missing' }],
    [
      'a missing project',
      'FAILED',
      'preparing',
      { vendor: { projectFile: { called: 'other.txt', matches: () => false } }, outcome: 'project_unusable' },
    ],
    ['a failed login', 'FAILED', 'initializing', { scripts: { login: 'exit 1' }, outcome: 'tool_failed' }],
    ['a failed plan', 'FAILED', 'planning', { scripts: { plan: 'exit 1' }, outcome: 'tool_failed' }],
    ['a failed apply', 'FAILED', 'applying', { scripts: { apply: 'exit 1' }, outcome: 'tool_failed' }],
    [
      'a failed tear-down',
      'FAILED',
      'destroying',
      { scripts: { apply: 'exit 1' }, type: 'DESTROY', outcome: 'tool_failed' },
    ],
    [
      'a time-out',
      'FAILED',
      'planning',
      { scripts: { plan: 'sleep 100' }, limit: { wallMs: 1000 }, outcome: 'timeout' },
    ],
    [
      'a bug of ours',
      'FAILED',
      'planning',
      { vendor: { readPlan: () => Promise.reject(new Error('a bug')) }, outcome: 'internal_error' },
    ],
  ])('run after %s', async (_, state, phase, ending) => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack(ending.scripts ?? {}, { ...end, ...ending.hooks }));
    const id = await world.start(stack, ending.type ?? 'TRACKED', 'true');
    const run = await toTheEnd(world, id, ending.vendor, ending.limit);
    expect(run).toMatchObject({ state, ...(ending.outcome && { outcome: ending.outcome }) });
    expect(await world.log(id)).toContain(`the end of ${phase}\n`);
    expect((await world.runs.commands(id)).at(-1)).toMatchObject({ phase, exitCode: 0 });
    expect(world.workspacesLeft()).toEqual([]);
  });

  it('run in an empty checkout when the source could not be fetched', async () => {
    await using world = await openWorkerWorld(() => ({
      fetchSource: () => Promise.reject(new UserError('gone', 'The commit is gone.')),
    }));
    const stack = await world.addStack(shellStack({}, end));
    const id = await world.start(stack, 'TRACKED');
    expect(await toTheEnd(world, id)).toMatchObject({ outcome: 'source_unavailable' });
    expect(await world.log(id)).toMatch(/the end of preparing\n\/.*\/tree\n/);
  });

  it('run when a person discards the plan, with what hooks had exported', async () => {
    await using world = await openWorkerWorld();
    const hooks = { beforePlan: ['export KEPT=kept'], afterRun: ['echo "the end, $KEPT"'] };
    const stack = await world.addStack(shellStack({}, hooks));
    const id = await world.start(stack, 'TRACKED');
    const worker = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    await world.commands.discard(id, { actor: 'ada' });
    await expect.poll(() => world.workspacesLeft(), { timeout: 15_000 }).toEqual([]);
    await worker.stop(longMs);
    expect((await world.run(id)).state).toBe('DISCARDED');
    expect(await world.log(id)).toContain('the end, kept');
  });

  it('do not run for a run that no worker ever had', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}, end));
    const id = await world.start(stack, 'TRACKED');
    await world.commands.cancel(id, { actor: 'ada' });
    const other = await world.start(stack, 'PROPOSED');
    await toTheEnd(world, other);
    expect((await world.run(id)).state).toBe('CANCELED');
    expect(await world.labels(id)).toEqual([]);
  });

  it('that fail change nothing of how the run ended, and are seen in its log and commands', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}, { afterRun: ['exit 9', 'echo never'] }));
    const id = await world.start(stack, 'TRACKED');
    const run = await toTheEnd(world, id);
    expect(run.state).toBe('FINISHED');
    expect(run).not.toHaveProperty('outcome');
    expect(await world.log(id)).toContain('[The afterRun hook "exit 9" failed with exit code 9.]');
    expect((await world.runs.commands(id)).at(-1)).toMatchObject({ label: 'exit 9', exitCode: 9 });
  });
});
