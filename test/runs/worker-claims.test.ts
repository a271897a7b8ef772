import { describe, expect, it } from 'vitest';
import { noHooks } from '../../src/stacks/stack.ts';
import { stackSettings } from '../support/builders.ts';
import { aPlan, openRunWorld, type RunWorld, undrained } from '../support/run-world.ts';

const never = new AbortController().signal;
/** So long that a test which really waits fails by its own time limit. */
const longMs = 3_600_000;

async function autodeploying(world: RunWorld) {
  await world.addStack({ autodeploy: true });
  return world.pushed('a1');
}

describe('the way of a run through its worker', () => {
  it('waits for a person with a job for nobody, and is taken up again by the confirmation', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');

    const first = await world.plan();
    expect(first).toMatchObject({ half: 'plan', run: { id, state: 'PREPARING', hadWorker: true } });
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
    expect(await world.claim()).toBeNull();

    await world.commands.confirm(id, { actor: 'ada' });
    const second = await world.claimed();
    expect(second).toMatchObject({ half: 'apply', run: { id, state: 'PREPARING_APPLY' } });
    expect(await world.server.prepared(second)).toBe('held');
    expect(await world.server.applied(second)).toBe('held');
    await world.finish(second);

    expect(await world.states(id)).toEqual([
      '1 QUEUED',
      '2 READY',
      '3 PREPARING',
      '4 INITIALIZING',
      '5 PLANNING',
      '6 UNCONFIRMED',
      '7 CONFIRMED',
      '8 PREPARING_APPLY',
      '9 APPLYING',
      '10 FINISHED',
    ]);
    expect(await world.claim()).toBeNull();
  });

  it('goes on to apply with the same worker where the stack deploys by itself', async () => {
    await using world = await openRunWorld();
    const id = await autodeploying(world);

    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.initialized(assignment);
    expect(await world.server.planned(assignment, aPlan({ autodeploy: true }), undrained)).toEqual({
      next: 'apply',
    });

    expect(Buffer.from((await world.server.planFile(assignment)) ?? [])).toEqual(Buffer.from('the plan'));
    expect(await world.claim()).toBeNull();
    expect(await world.server.applied(assignment)).toBe('held');
    expect((await world.run(id)).state).toBe('FINISHED');
  });

  it('ends where there is nothing to change, and its worker clears up', async () => {
    await using world = await openRunWorld();
    const id = await autodeploying(world);
    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.initialized(assignment);

    const plan = aPlan({ hasChanges: false, autodeploy: true });
    expect(await world.server.planned(assignment, plan, undrained)).toEqual({ next: 'end' });

    expect(await world.run(id)).toMatchObject({ state: 'FINISHED', note: 'nothing to change' });
    expect(await world.claim()).toBeNull();
    await world.finish(assignment);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('goes by what was frozen, whatever the stack says by then', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.database.write((tx) =>
      world.stackStore.putVariable(tx, stack.key, {
        ...{ name: 'REGION', value: 'eu', secret: false, access: 'all' },
      }),
    );
    const id = await world.pushed('a1');
    const { frozen } = await world.plan();
    expect(frozen).toEqual({
      settings: stackSettings(),
      variables: [{ name: 'REGION', value: 'eu', secret: false, access: 'all' }],
      exports: {},
    });
    await world.stacks.update(stack, { name: 'Renamed', autodeploy: true });
    await world.database.write((tx) => world.stackStore.removeVariable(tx, stack.key, 'REGION'));

    await world.commands.confirm(id, { actor: 'ada' });

    expect((await world.claimed()).frozen).toEqual(frozen);
  });

  it('carries exports of hooks over the confirmation, but not into a fresh start', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    const first = await world.claimed();
    await world.server.saveFrozen(first, { ...first.frozen, exports: { VENV: '/workspace/.venv' } });
    await world.server.handBack(first);

    const second = await world.plan();
    expect(second.frozen.exports).toEqual({});
    // The worker saves what the hooks of this attempt exported before it reports the plan.
    expect((await world.runs.frozen(id))?.exports).toEqual({});
  });

  it.each([
    ['what a run was frozen with', 'CONFIRMED', 'run_box', 'box'],
    ['a variable of its stack', 'READY', 'stack_variable', 'value'],
  ] as const)('fails when %s cannot be read, and keeps nobody else', async (_, state, table, column) => {
    await using world = await openRunWorld();
    const broken = await world.addStack();
    const variable = { name: 'REGION', value: 'eu', secret: true, access: 'all' } as const;
    await world.database.write((tx) => world.stackStore.putVariable(tx, broken.key, variable));
    const id = await world.pushed('a1');
    if (state === 'CONFIRMED') {
      await world.plan();
      await world.commands.confirm(id, { actor: 'ada' });
    }
    await world.database.write(async (tx) => {
      const damaged = { [column]: Buffer.from('what a bad disk made of it') };
      await world.database.inside(tx).updateTable(table).set(damaged).execute();
    });
    const other = await world.addStack();
    await world.triggers.manual(other, { type: 'TRACKED' }, { kind: 'operator' });
    await world.scheduler.settled();

    const last = await world.claimed();
    expect(last).toMatchObject({ half: 'finish', run: { id, state: 'FAILED', outcome: 'internal_error' } });
    expect(last.run.note).toMatch(/cannot be decrypted.* Nothing was changed\. .*retry the run/);
    expect(last.frozen).toMatchObject({ variables: [], settings: { hooks: noHooks } });
    expect((await world.stackStore.findByKey(broken.key))?.lock).toBeNull();
    expect(await world.claimed()).toMatchObject({ half: 'plan', stack: { key: other.key } });

    // Over and over, should the server die before its workspace was removed.
    await world.recovery.start();
    expect(await world.claimed()).toMatchObject({ half: 'finish', run: { id, state: 'FAILED' } });
  });

  it('gives it no secret of a stack, and nothing that is for others, for what is untrusted', async () => {
    await using world = await openRunWorld();
    const { key } = await world.addStack();
    await world.database.write(async (tx) => {
      for (const access of ['all', 'tracked', 'apply'] as const) {
        for (const secret of [true, false]) {
          const name = `${access}_${secret ? 'secret' : 'plain'}`;
          await world.stackStore.putVariable(tx, key, { name, value: 'something', secret, access });
        }
      }
    });
    await world.push('a1', { branch: 'topic', login: 'evil[bot]', isBot: true });
    const { frozen } = await world.claimed();
    expect(frozen.variables.map(({ name }) => name)).toEqual(['all_plain']);
  });

  it.each([
    ['claimed', false],
    ['begun when there was one', true],
  ])(
    'executes nothing untrusted without a sandbox, no hook either, of a run that is %s',
    async (_, began) => {
      await using former = await openRunWorld();
      await former.addStack({ hooks: { ...noHooks, afterRun: ['./clean-up'] } });
      const push = { branch: 'topic', login: 'evil[bot]', isBot: true };
      const [note] = await former.push('a1', push);
      const id = / run (\w+)/.exec(note ?? '')?.[1] ?? '';
      if (began) await former.claimed();
      await using world = await openRunWorld({ former, isSandboxed: false });
      if (began) await world.recovery.start();

      const given = await world.claimed();

      expect(given).toMatchObject({
        half: 'finish',
        frozen: { variables: [], settings: { hooks: noHooks } },
      });
      expect(given.run).toMatchObject({ id, state: 'FAILED', outcome: 'sandbox_unavailable' });
      expect(given.run.note).toContain('without a sandbox: nothing was executed');
    },
  );

  it('goes on without a sandbox with all that is trusted', async () => {
    await using world = await openRunWorld({ isSandboxed: false });
    await world.addStack();
    await world.pushed('a1', { branch: 'topic' });
    expect(await world.claimed()).toMatchObject({ half: 'plan', run: { state: 'PREPARING' } });
  });

  it('skips the job of a stack that was deleted, and goes on with the next', async () => {
    await using world = await openRunWorld();
    const gone = await world.addStack();
    await world.pushed('a1');
    await world.database.write((tx) => world.stackStore.remove(tx, gone.key));
    await world.addStack();
    const id = await world.pushed('b2');

    expect((await world.claimed()).run.id).toBe(id);
    expect(await world.claim()).toBeNull();
  });

  it('takes blocking runs before previews', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1', { branch: 'topic' });
    const tracked = await world.pushed('b2');

    expect((await world.claimed()).run.id).toBe(tracked);
  });
});

describe('a worker that waits for work', () => {
  it('gets it as soon as there is some', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const waiting = world.server.claim('any', longMs, never);

    const id = await world.pushed('a1');

    expect((await waiting)?.run.id).toBe(id);
  });

  it('goes home with nothing when it is told to stop', async () => {
    await using world = await openRunWorld();
    const stop = new AbortController();
    const waiting = world.server.claim('any', longMs, stop.signal);
    stop.abort();
    expect(await waiting).toBeNull();
  });

  it('never shares an assignment with another', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    for (const hash of ['a1', 'b2', 'c3']) await world.push(hash, { branch: hash });

    const claims = await Promise.all([1, 2, 3, 4, 5].map(() => world.claim()));

    const ids = claims.flatMap((assignment) => (assignment ? [assignment.run.id] : []));
    expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
  });
});

describe('what is left of a run that ended without a worker', () => {
  it('is done by the next one', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    expect(await world.runs.frozen(id)).not.toBeNull();

    await world.commands.discard(id, { actor: 'ada' });
    const assignment = await world.claimed();

    expect(assignment).toMatchObject({ half: 'finish', run: { id, state: 'DISCARDED' } });
    await world.finish(assignment);
    expect([await world.runs.frozen(id), await world.runs.planFile(id)]).toEqual([null, null]);
    expect(await world.claim()).toBeNull();
  });

  it('is nothing when no worker ever had it', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.commands.cancel(id, { actor: 'ada' });
    expect(await world.claim()).toBeNull();
  });
});

describe('the plan that is applied', () => {
  it('is the one with the digest that was confirmed, or none', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const id = await world.pushed('a1');
    await world.plan();
    await world.commands.confirm(id, { actor: 'ada' });
    const assignment = await world.claimed();
    expect(Buffer.from((await world.server.planFile(assignment)) ?? [])).toEqual(Buffer.from('the plan'));

    const file = Buffer.from('another plan');
    const other = await world.runs.sealPlan(id, { hasChanges: true, steps: [], file });
    await world.database.write((tx) => world.runs.savePlan(tx, other));

    expect(await world.server.planFile(assignment)).toBeNull();
  });

  it('is none where the tool saved none', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    await world.pushed('a1');
    const assignment = await world.plan({ file: null });

    expect(await world.server.planFile(assignment)).toBeNull();
    expect((await world.run(assignment.run.id)).planDigest).toBeUndefined();
  });
});
