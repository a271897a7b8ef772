import { describe, expect, it } from 'vitest';
import { blockerOf, type Line } from '../../src/runs/blocker.ts';
import type { Run } from '../../src/runs/run.ts';
import type { StackLock } from '../../src/stacks/stack.ts';
import { aRun, aStack, person } from '../support/builders.ts';
import { openRunWorld } from '../support/run-world.ts';

const adas: StackLock = {
  ...{ holder: 'ada', holderKey: 'person:ada', kind: 'person' },
  ...{ reason: 'audit', run: null, sinceMs: 0 },
};
const system: StackLock = { ...adas, holder: 'slipway', holderKey: '', kind: 'system', reason: 'lost' };
const ofAda = { kind: 'lock', holder: 'ada', reason: 'audit' } as const;
const run = (id: string, change: Partial<Run> = {}) => aRun({ id, ...change });
const me = run('5');

describe('what keeps a run back', () => {
  const nobody = { active: null, first: null };

  it.each<[string, Run, Line, StackLock | null, ReturnType<typeof blockerOf>]>([
    ['nothing', me, nobody, null, null],
    ['not itself', me, { active: null, first: me }, null, null],
    [
      'a run that is active',
      me,
      { active: run('9', { state: 'APPLYING' }), first: me },
      null,
      { kind: 'run', run: '9', state: 'APPLYING' },
    ],
    [
      'the first of the queue',
      me,
      { active: null, first: run('4') },
      null,
      { kind: 'run', run: '4', state: 'QUEUED' },
    ],
    [
      'the active one before the first',
      me,
      { active: run('9', { state: 'READY' }), first: run('1') },
      null,
      { kind: 'run', run: '9', state: 'READY' },
    ],
    [
      'a lock of somebody else, whoever may go before',
      me,
      { active: null, first: run('4', { startedBy: 'person:bob' }) },
      { ...adas, holder: 'bob', holderKey: 'person:bob' },
      { kind: 'lock', holder: 'bob', reason: 'audit' },
    ],
    ['not its own starter', me, { active: null, first: me }, adas, null],
    [
      'a lock of a token that is called like its starter',
      me,
      nobody,
      { ...adas, holderKey: 'token:1' },
      ofAda,
    ],
    ['the lock of the server', me, nobody, system, { kind: 'lock', holder: 'slipway', reason: 'lost' }],
    [
      'of a preview: nothing',
      run('5', { type: 'PROPOSED' }),
      { active: run('4', { state: 'APPLYING' }), first: run('3') },
      system,
      null,
    ],
  ])('%s', (_, waiting, line, lock, expected) => {
    expect(blockerOf(waiting, line, aStack({ lock }))).toEqual(expected);
  });

  it('is the lock of the server even for somebody of its name', () => {
    const named = run('5', { startedBy: 'person:slipway' });
    expect(blockerOf(named, nobody, aStack({ lock: system }))).toMatchObject({ kind: 'lock' });
    expect(blockerOf({ ...named, startedBy: '' }, nobody, aStack({ lock: system }))).toMatchObject({
      kind: 'lock',
    });
  });
});

describe('the scheduler', () => {
  it('goes by priority, then by age', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const ids = [];
    for (const hash of ['a1', 'b2', 'c3', 'd4']) ids.push(await world.pushed(hash));
    const [first = '', second = '', third = '', fourth = ''] = ids;
    await world.database.write((tx) => world.runs.setPriority(tx, third, 1));

    const order = [];
    for (let n = 0; n < 4; n += 1) {
      const [ready] = await world.runs.inState(['READY']);
      order.push(ready?.id);
      await world.commands.cancel(ready?.id ?? '', { actor: 'ada' });
      await world.scheduler.settled();
    }

    expect(order).toEqual([first, third, second, fourth]);
  });

  it('lets stacks go their own ways', async () => {
    await using world = await openRunWorld();
    await world.addStack({ name: 'One' });
    await world.addStack({ name: 'Two' });
    await world.push('a1');

    expect(await world.runs.inState(['READY'])).toHaveLength(2);
  });

  it('lets the holder of a lock go first, past whom the lock keeps back', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.stacks.lock(stack, person('ada'), 'audit');
    const bobs = await world.pushed('a1', { login: 'bob' });
    expect((await world.run(bobs)).state).toBe('QUEUED');

    const adas = await world.pushed('b2', { login: 'ada' });
    expect((await world.run(adas)).state).toBe('READY');

    await world.commands.cancel(adas, { actor: 'ada' });
    await world.scheduler.settled();
    expect((await world.run(bobs)).state).toBe('QUEUED');
  });

  it('holds an autodeployed apply back while somebody else has locked the stack', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack({ autodeploy: true });
    const id = await world.pushed('a1', { login: 'bob' });
    await world.stacks.lock(stack, person('ada'), 'audit');

    await world.plan({ autodeploy: true });

    expect((await world.run(id)).state).toBe('UNCONFIRMED');
  });

  it('finds waiting runs by itself when it starts', async () => {
    await using world = await openRunWorld();
    const stack = await world.addStack();
    await world.stacks.lock(stack, person('bob'), '');
    const id = await world.pushed('a1');
    await world.database.write((tx) => world.stackStore.setLock(tx, stack.key, null));

    await world.scheduler.sweep();
    await world.scheduler.settled();

    expect((await world.run(id)).state).toBe('READY');
  });

  it('is not stopped by one stack that fails', async () => {
    let failing = '';
    const reactor = (_: unknown, event: { stack: { key: string }; run: Run }) =>
      event.stack.key === failing && event.run.state === 'READY'
        ? Promise.reject(new Error('broken'))
        : Promise.resolve();
    await using world = await openRunWorld({ reactors: [reactor] });
    const broken = await world.addStack({ name: 'Broken' });
    await world.addStack({ name: 'Fine' });
    failing = broken.key;

    await world.push('a1');
    expect(await world.runs.inState(['READY'])).toHaveLength(1);

    failing = '';
    await world.scheduler.sweep();
    await world.scheduler.settled();
    expect(await world.runs.inState(['READY'])).toHaveLength(2);
  });

  it('keeps no preview waiting behind a run that came with it', async () => {
    await using world = await openRunWorld();
    const { key: stackKey } = await world.addStack();
    await world.database.write(async (tx) => {
      const stack = await world.stackStore.findByKey(stackKey, tx);
      for (const type of ['TRACKED', 'PROPOSED'] as const) {
        const run = {
          id: world.newId(),
          stackKey,
          type,
          branch: 'main',
          commit: aRun().commit,
          createdAtMs: 0,
        };
        const input = { ...run, triggeredBy: 'ada', startedBy: 'person:ada', priority: 0, dedupeKey: type };
        if (stack) await world.transitions.create(tx, stack, input, { actor: 'ada', note: null });
      }
    });
    await world.scheduler.settled();

    expect(await world.runs.inState(['READY'])).toHaveLength(2);
  });

  it('keeps one run of a stack going, whatever comes in at once', async () => {
    await using world = await openRunWorld();
    await world.addStack();
    const wakes = Array.from({ length: 5 }, () => world.scheduler.sweep());
    await Promise.all([...['a1', 'b2', 'c3', 'd4'].map((hash) => world.push(hash)), ...wakes]);

    expect(await world.runs.inState(['READY'])).toHaveLength(1);
    expect(await world.runs.inState(['QUEUED'])).toHaveLength(3);
  });
});
