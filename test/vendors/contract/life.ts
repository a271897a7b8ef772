import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openContractWorld } from './contract-world.ts';
import { type Program, type Resource, type Subject, value } from './sample.ts';

/** What a stack goes through while all is well. */
export function lifeContract(subject: Subject): void {
  const { rootResources } = subject;
  const delta = (added: number, changed: number, deleted: number, resources: number) => ({
    ...{ added, changed, deleted },
    resources: resources + rootResources,
  });
  const created = (count: number) => ({ ...delta(count, 0, 0, count), added: count + rootResources });

  describe('a stack', () => {
    test('gets what is new in its program, and nothing is done the second time', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const program: Program = { resources: [value('one', '1'), value('two', { of: 'one' })] };

      const preview = await stack.run(program, 'PROPOSED');
      expect(preview).toMatchObject({ state: 'FINISHED', plan: { hasChanges: true, delta: created(2) } });
      expect(preview.plan?.changes).toEqual(['create one', 'create two']);

      const first = await stack.run(program);
      expect(first).toMatchObject({ state: 'FINISHED', plan: { hasChanges: true, delta: created(2) } });
      expect(stack.recorded()).toEqual({ one: '1', two: '1' });

      const second = await stack.run(program);
      expect(second).toMatchObject({ state: 'FINISHED', note: 'nothing to change' });
      expect(second.plan).toMatchObject({ hasChanges: false, delta: delta(0, 0, 0, 2), changes: [] });
    });

    test('is changed, with replacements in both orders and deletions, as a person confirmed it', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack({ autodeploy: false });
      const replaced = (name: string, text: string, order: 'create-first' | 'delete-first'): Resource => ({
        ...{ kind: 'value', name, value: text, replaced: order },
      });
      const program = (text: string, ...more: readonly Resource[]): Program => ({
        resources: [
          value('changed', text),
          replaced('created-first', text, 'create-first'),
          replaced('deleted-first', text, 'delete-first'),
          value('kept', 'the same'),
          ...more,
        ],
      });
      const planned = await stack.run(program('before', value('deleted', 'x')));
      expect(planned.state).toBe('UNCONFIRMED');
      expect(await stack.confirm(planned.id)).toMatchObject({ state: 'FINISHED' });

      const change = await stack.run(program('after'));
      expect(change).toMatchObject({ state: 'UNCONFIRMED', plan: { delta: delta(2, 1, 3, 4) } });
      expect(change.plan?.changes).toEqual([
        'create-replacement created-first',
        'create-replacement deleted-first',
        'delete deleted',
        'delete-replaced created-first',
        'delete-replaced deleted-first',
        'update changed',
      ]);
      const orderOf = (name: string) =>
        change.plan?.steps
          .filter(({ op, urn }) => op !== 'refresh' && subject.nameOf(urn) === name)
          .map(({ op }) => op);
      expect(orderOf('created-first')).toEqual(['create-replacement', 'delete-replaced']);
      expect(orderOf('deleted-first')).toEqual(['delete-replaced', 'create-replacement']);

      expect(await stack.confirm(change.id)).toMatchObject({ state: 'FINISHED' });
      const after = { changed: 'after', 'created-first': 'after', 'deleted-first': 'after' };
      expect(stack.recorded()).toEqual({ ...after, kept: 'the same' });
    });

    test('is changed by a change of its outputs alone', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const resources = [value('one', '1')];
      await stack.run({ resources, outputs: { greeting: 'hello', gone: 'x' } });

      const change = await stack.run({ resources, outputs: { greeting: 'good day', fresh: { of: 'one' } } });

      expect(change).toMatchObject({ state: 'FINISHED', plan: { hasChanges: true, changes: [] } });
      expect(change.plan?.delta).toEqual(delta(0, 0, 0, 1));
      const outputs = change.plan?.steps.find(({ op, new: now }) => op === 'same' && now?.custom === false);
      expect(outputs?.old?.outputs).toEqual({ greeting: 'hello', gone: 'x' });
      expect(outputs?.new?.outputs).toEqual({ greeting: 'good day', fresh: '1' });
      const task = await stack.run({ resources }, 'TASK', subject.printOutput('greeting'));
      expect(task).toMatchObject({ state: 'FINISHED' });
      expect(task.log).toMatch(/^"?good day"?$/m);
    });

    test('may have names and values in every script', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const texts = { größe: 'Übergröße', 名前: '東京 🗼', имя: 'quo"te \\n 👩‍🚒' };
      const resources = Object.entries(texts).map(([name, text]) => value(name, text));

      const run = await stack.run({ resources, outputs: { ort: '京都' } });

      expect(run).toMatchObject({ state: 'FINISHED' });
      expect(run.plan?.changes).toEqual(
        Object.keys(texts)
          .map((name) => `create ${name}`)
          .toSorted(),
      );
      const inputs = run.plan?.steps.flatMap(({ new: now }) => Object.values(now?.inputs ?? {}));
      expect(inputs).toEqual(expect.arrayContaining(Object.values(texts)));
      expect(stack.recorded()).toEqual(texts);
      expect(run.log).toContain('東京 🗼');
    });

    test('is torn down as it was previewed, once a person has confirmed that', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const program: Program = { resources: [value('one', '1'), value('two', { of: 'one' })] };
      await stack.run(program);

      const planned = await stack.run(program, 'DESTROY');
      expect(planned.state).toBe('UNCONFIRMED');
      expect(planned.plan).toMatchObject({
        hasChanges: true,
        delta: { added: 0, changed: 0, deleted: 2 + rootResources, resources: 0 },
        changes: ['delete one', 'delete two'],
      });
      expect(stack.recorded()).toEqual({ one: '1', two: '1' });

      expect(await stack.confirm(planned.id)).toMatchObject({ state: 'FINISHED' });
      expect(stack.recorded()).toEqual({});
      const again = await stack.run(program, 'DESTROY');
      expect(again).toMatchObject({ state: 'FINISHED', plan: { hasChanges: false } });
    });

    test('is mended where the world is not as it was left', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();
      const program: Program = {
        resources: [
          { kind: 'file', name: 'edited', path: stack.inside('edited'), content: 'as wanted' },
          value('other', 'x'),
        ],
      };
      expect(await stack.run(program)).toMatchObject({ state: 'FINISHED' });
      writeFileSync(stack.outside('edited'), 'by hand');

      const found = await stack.run(program, 'PROPOSED');
      expect(found.plan?.hasChanges).toBe(true);
      const seen = found.plan?.steps.find(
        ({ op, urn }) => op === 'refresh' && subject.nameOf(urn) === 'edited',
      );
      expect(JSON.stringify(seen?.old)).toContain('as wanted');

      expect(await stack.run(program)).toMatchObject({ state: 'FINISHED' });
      expect((await stack.run(program)).plan?.hasChanges).toBe(false);
    });
  });
}
