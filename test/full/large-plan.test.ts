import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const number = 2000;
const withinMs = 300_000;
const resources = (isChanged: (index: number) => boolean) =>
  Array.from({ length: number }, (_, index) =>
    stash(`r${index}`, `${isChanged(index) ? 'other' : 'value'} ${index}`),
  );

/** Multiplies the only resource of the state: Pulumi itself would write the state 4,000 times. */
const multiply = `const state = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const { resources } = state.deployment;
const first = JSON.stringify(resources.find(({ urn }) => urn.endsWith('::r0')));
for (let n = 1; n < ${number}; n++)
  resources.push({ ...JSON.parse(first.replaceAll('::r0"', '::r' + n + '"').replaceAll('value 0', 'value ' + n)), id: 'id-' + n });
console.log(JSON.stringify(state));`;

test(
  'a plan of 2,000 resources holds, and a change of one of them is found before anything is touched',
  async () => {
    const { api } = scenario;
    const { stack, push } = await scenario.addStack('large', { autodeploy: true });
    await api.waitForState((await push(program(stash('r0', 'value 0')))).id, 'FINISHED', withinMs);
    const command = `set -o pipefail; pulumi stack export | node -e "$MULTIPLY" | pulumi stack import`;
    await api.setVariable(stack, 'MULTIPLY', { value: multiply, secret: false });
    const task = await api.startRun(stack, { type: 'TASK', command });
    await api.waitForState(task.id, 'FINISHED', withinMs);

    const edit = '[ "$EDIT" = no ] || sed -i "s/value 1999/edited/" Pulumi.yaml';
    await api.changeStack(stack, { autodeploy: false, hooks: { beforeApply: [edit] } });
    const { id } = await push(program(...resources((index) => index % 100 === 0)));
    const waiting = await api.waitForState(id, 'UNCONFIRMED', withinMs);
    expect(waiting.delta).toEqual({ added: 0, changed: number / 100, deleted: 0, resources: number + 1 });
    await api.act(id, 'confirm');
    const refused = await api.waitForState(id, 'FAILED', withinMs);
    expect(refused.outcome).toBe('plan_changed');
    expect(refused.note).toContain('- r1999 (pulumi:index:Stash): properties changed (input)');

    await api.setVariable(stack, 'EDIT', { value: 'no', secret: false });
    const again = await api.act(id, 'retry');
    // Nothing of the first was done.
    const planned = await api.waitForState(again.id, 'UNCONFIRMED', withinMs);
    expect(planned.delta).toEqual(waiting.delta);
    await api.act(again.id, 'confirm');
    await api.waitForState(again.id, 'FINISHED', withinMs);
  },
  4 * withinMs,
);
