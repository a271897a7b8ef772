import { expect, test } from 'vitest';
import { noHooks } from '../../../src/stacks/stack.ts';
import { openContractWorld } from './contract-world.ts';
import { type Program, type Subject, type Text, value } from './sample.ts';

/** What is secret stands in nothing that Slipway keeps or shows, wherever the tool or a program put it. */
export function secretsContract(subject: Subject): void {
  test('what is secret is kept nowhere: not in plans, diffs, outputs, logs, errors, rows, files', async () => {
    const [before, after] = ['swordfish-of-monday', 'halibut-of-tuesday'];
    // A path, so that whoever cannot write there says it.
    const token = '/etc/passwd/token-of-the-week';
    const tokenOf: Text = { variable: 'token' };
    await using world = await openContractWorld(subject);
    const say = `echo "the token is $${subject.tokenVariable}"`;
    const hooks = { ...noHooks, beforePlan: subject.tokenHooks, afterPlan: [say] };
    const stack = await world.addStack({ autodeploy: false, hooks }, 'one', {
      [subject.tokenVariable]: token,
    });
    const program = (text: string): Program => ({
      resources: [
        value('plain', `shown ${text.length}`),
        value('hidden', { secret: text }),
        value('copied', { of: 'hidden' }),
        { kind: 'value', name: 'replaced', value: { secret: text }, replaced: 'create-first' },
        value('given', tokenOf),
      ],
      outputs: { plain: 'shown', hidden: { secret: text }, copied: { of: 'hidden' }, token: tokenOf },
    });

    const created = await stack.run(program(before));
    expect(created.state).toBe('UNCONFIRMED');
    expect(created.log).toContain('the token is ***');
    const applied = await stack.confirm(created.id);
    expect(applied).toMatchObject({ state: 'FINISHED' });
    const inputsOf = (name: string) =>
      JSON.stringify(applied.plan?.steps.find(({ urn }) => subject.nameOf(urn) === name)?.new?.inputs);
    expect(inputsOf('plain')).toContain('shown');
    expect(inputsOf('hidden')).toContain('[secret]');

    const again = await stack.run(program(before));
    expect(again).toMatchObject({ state: 'FINISHED', plan: { hasChanges: false } });

    const { resources = [], outputs } = program(after);
    const failing: Program = {
      ...(outputs && { outputs }),
      resources: [...resources, { kind: 'file', name: 'failing', path: tokenOf, content: { secret: after } }],
    };
    const changed = await stack.run(failing);
    expect(changed.plan?.changes).toContain('update hidden');
    const failed = await stack.confirm(changed.id);
    expect(failed).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
    const task = await stack.run(failing, 'TASK', say);
    expect(task.state).toBe('FINISHED');
    const destroy = await stack.run(failing, 'DESTROY');
    expect(await stack.confirm(destroy.id)).toMatchObject({ state: 'FINISHED' });

    const runs = [applied, again, failed, task, await world.rested(destroy.id)];
    for (const secret of [before, after, token]) {
      expect(runs.flatMap((run) => linesWith(JSON.stringify(run, null, 1), secret))).toEqual([]);
      expect(await world.placesOf(secret)).toEqual([]);
    }
  });
}

/** For the message of a failure: where it stands, and not all there is. */
const linesWith = (text: string, secret: string): readonly string[] =>
  text.split('\n').filter((line) => line.includes(secret));
