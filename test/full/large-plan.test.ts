import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const number = 2000;
const resources = Array.from({ length: number }, (_, index) => stash(`r${index}`, `value ${index}`));
// Pulumi writes the whole state twice for each resource: most of the time is that.
const applyWithinMs = 15 * 60_000;

test(
  'a plan of 2,000 resources holds, and a change of one of them is found before anything is touched',
  async () => {
    const { api } = scenario;
    const edit = '[ "$EDIT" = no ] || sed -i "s/value 1999/value other/" Pulumi.yaml';
    const { stack, push } = await scenario.addStack('large', { hooks: { beforeApply: [edit] } });
    const { id } = await push(program(...resources));
    const waiting = await api.waitForState(id, 'UNCONFIRMED', 180_000);
    expect(waiting.delta).toEqual({ added: number + 1, changed: 0, deleted: 0, resources: number + 1 });
    await api.act(id, 'confirm');
    const refused = await api.waitForState(id, 'FAILED', 180_000);
    expect(refused.outcome).toBe('plan_changed');
    expect(refused.note).toContain('- r1999 (pulumi:index:Stash): properties changed (input)');

    await api.setVariable(stack, 'EDIT', { value: 'no', secret: false });
    const again = await api.act(id, 'retry');
    const planned = await api.waitForState(again.id, 'UNCONFIRMED', 180_000);
    // Nothing of the first is there.
    expect(planned.delta).toEqual(waiting.delta);
    await api.act(again.id, 'confirm');
    await api.waitForState(again.id, 'FINISHED', applyWithinMs);
  },
  applyWithinMs + 10 * 60_000,
);
