import { expect, it } from 'vitest';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;

it('what a hook masks is hidden from that line on, over the confirmation, and what looks like a credential always', async () => {
  await using world = await openWorkerWorld();
  const token = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
  // Put together by the shell: the log shows the hook itself before it runs.
  const value = 'hunter2-$((40 + 2))-tail';
  const hooks = {
    beforePlan: [`echo "before ${value}"; echo "::add-mask::${value}"; echo "after ${value}"`],
    afterPlan: [`echo "later ${value}"; printf "gh%s" "${token.slice(2)}"`],
    afterApply: [`echo "applied ${value}"; exit 1`],
  };
  await world.addStack(shellStack({ apply: `echo "tool ${value}"` }, hooks));
  const id = await world.pushed('a1');
  const worker = world.startWorker();
  await world.until(id, 'UNCONFIRMED');
  await world.commands.confirm(id, { actor: 'ada' });
  await world.until(id, 'FAILED');
  await worker.stop(longMs);

  const log = await world.log(id);
  expect(log.match(/hunter2-42-tail/g)).toHaveLength(1);
  expect(log).toMatch(/^before hunter2-42-tail\nafter \*\*\*$/m);
  for (const where of ['later', 'tool', 'applied'])
    expect(log).toMatch(new RegExp(`^${where} \\*\\*\\*$`, 'm'));
  expect(log).not.toMatch(/^::add-mask/m);
  expect(log).not.toContain(token);
});

it('a run that masks without end is told so, and its log goes on', async () => {
  await using world = await openWorkerWorld();
  const hooks = {
    beforePlan: [
      'for i in $(seq 1 300); do echo "::add-mask::value-$i-end"; done; echo "value-7-end value-299-end"',
    ],
  };
  await world.addStack(shellStack({}, hooks));
  const id = await world.pushed('a1');
  const worker = world.startWorker();
  await world.until(id, 'UNCONFIRMED');
  await worker.stop(longMs);

  const log = await world.log(id);
  expect(log).toContain('[::add-mask: that is more than a run can mask; it is not hidden]');
  expect(log).toMatch(/^\*\*\* value-299-end$/m);
});
