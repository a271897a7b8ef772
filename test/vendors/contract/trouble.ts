import { describe, expect, test } from 'vitest';
import { noHooks } from '../../../src/stacks/stack.ts';
import { makePipe, openContractWorld } from './contract-world.ts';
import { type Program, type Subject, value } from './sample.ts';

/** What a stack goes through when something is wrong. */
export function troubleContract(subject: Subject): void {
  describe('a run', () => {
    test('that fails half-way keeps what it made, says why, and the next one goes on from there', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const program = (path: string): Program => ({
        resources: [
          value('first', '1'),
          { kind: 'file', name: 'second', path, content: 'x', after: 'first' },
        ],
      });

      const failed = await stack.run(program('/etc/passwd/second'));
      expect(failed).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
      expect(failed.note).toContain('second');
      expect(failed.note).toMatch(/not a directory/i);
      expect(stack.recorded()).toMatchObject({ first: '1' });

      const next = await stack.run(program(stack.inside('second')));
      expect(next).toMatchObject({ state: 'FINISHED' });
      expect(next.plan?.changes.filter((change) => change.endsWith(' first'))).toEqual([]);
    });

    test('of a program with an error says where it is, and changes nothing', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      await stack.run({ resources: [value('one', '1')] });

      const failed = await stack.run(subject.brokenSource.files);

      expect(failed).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
      expect(failed.note).toContain(Object.keys(subject.brokenSource.files)[0]);
      expect(failed.note).toMatch(subject.brokenSource.place);
      expect(stack.recorded()).toEqual({ one: '1' });
    });

    test('ends with the first hook that fails, and changes nothing', async () => {
      await using world = await openContractWorld(subject);
      const hooks = { afterPlan: ['echo "not today" >&2; exit 3', 'echo never'], afterRun: ['echo the end'] };
      const stack = await world.addStack({ hooks: { ...noHooks, ...hooks } });

      const failed = await stack.run({ resources: [value('one', '1')] });

      expect(failed).toMatchObject({ state: 'FAILED', outcome: 'hook_failed' });
      expect(failed.note).toMatch(/The afterPlan hook .* failed with exit code 3/);
      await world.settle();
      const { log, labels } = await world.rested(failed.id);
      expect(log).toContain('not today');
      expect(labels.slice(-2)).toEqual([hooks.afterPlan[0], 'echo the end']);
      expect(stack.recorded()).toEqual({});
    });

    test('that finds the state changed since its plan fails, and applies nothing of it', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack({ autodeploy: false });
      const other = await world.addStack();
      await other.run({ resources: [value('one', '1'), value('two', '2')] });
      const planned = await stack.run({ resources: [value('one', 'as confirmed'), value('two', '2')] });
      expect(planned.plan?.changes).toEqual(['update one']);

      await other.run({ resources: [value('one', 'by another'), value('three', '3')] });
      const refused = await stack.confirm(planned.id);

      expect(refused).toMatchObject({ state: 'FAILED', outcome: 'plan_changed' });
      expect(refused.note).toMatch(/new run/i);
      expect(stack.recorded()).toEqual({ one: 'by another', three: '3' });
    });

    test('that is stopped while it plans changes nothing, and nothing of it goes on', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      await stack.run({ resources: [value('one', '1')] });
      makePipe(stack.outside('pipe'));

      const id = await stack.start({ resources: [value('one', '2')], reads: stack.inside('pipe') });
      await using _ = await world.keepWaiting(id, stack.outside('pipe'));
      expect(world.processesOf(id)).not.toEqual([]);
      await world.stop(id);
      await world.settle();

      expect(await world.rested(id)).toMatchObject({ state: 'STOPPED', plan: null });
      expect(world.processesOf(id)).toEqual([]);
      expect(stack.recorded()).toEqual({ one: '1' });
      expect(await stack.run({ resources: [value('one', '3')] })).toMatchObject({ state: 'FINISHED' });
    });

    test('that is interrupted while it applies records what is done; until then others are locked out', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const other = await world.addStack();
      await stack.run({ resources: [value('first', '1')] });
      makePipe(stack.outside('pipe'));
      const program: Program = {
        resources: [
          value('first', '2'),
          { kind: 'endless', name: 'endless', pipe: stack.inside('pipe'), after: 'first' },
          { kind: 'file', name: 'last', path: stack.inside('last'), content: 'x', after: 'endless' },
        ],
      };

      const id = await stack.start(program);
      expect(await world.heard(id, stack.outside('pipe'))).toBe('began');
      const locked = await other.run({ resources: [value('first', '3')] });
      expect(locked).toMatchObject({ state: 'FAILED', outcome: 'state_locked' });
      expect(locked.note).toMatch(/runner@sandbox/);
      expect(locked.note).toMatch(/retry/);

      await world.loseWorkers();
      await world.settle();
      const interrupted = await world.rested(id);
      expect(interrupted).toMatchObject({ state: 'FAILED', outcome: 'worker_lost' });
      expect(interrupted.note).toContain('check the real state');
      expect(world.processesOf(id)).toEqual([]);
      const recorded = stack.recorded();
      expect(recorded).toMatchObject({ first: '2' });
      expect(Object.keys(recorded)).not.toContain('last');

      await stack.unlock();
      expect(await stack.run({ resources: [value('first', '4')] })).toMatchObject({ state: 'FINISHED' });
      expect(stack.recorded()).toEqual({ first: '4' });
    });
  });
}
