import { expect, test } from 'vitest';
import { openButtons } from './buttons-support.ts';

const names = (actions: readonly { identifier: string }[]) => actions.map(({ identifier }) => identifier);

test.each([
  ['UNCONFIRMED', ['approve', 'reject', 'discard']],
  ['QUEUED', ['approve-start', 'reject-start', 'cancel']],
] as const)('a check shows what can be done about approval: %s', async (state, buttons) => {
  await using all = await openButtons();
  all.guards.push('p1 1');

  const { run, checkRun } = await all.aRunThatIs(state);
  expect(names(checkRun.actions)).toEqual(buttons);
  expect(checkRun.output?.summary).toContain('waited for approval');

  const sent = await all.github.pressButton(checkRun, buttons[0], 'bob');

  expect(await all.settled(sent)).toEqual({
    state: 'done',
    note: `approve by bob: run ${run.id} is ${state}`,
  });
  expect(await all.reviews.ofRun(run.id)).toMatchObject([
    { verdict: 'approve', reviewer: { name: 'bob' }, role: 'writer', via: 'check', state },
  ]);
});

test('what was pressed before a run began does not count for its plan', async () => {
  await using all = await openButtons();
  all.guards.push('p1 1');
  const { checkRun: before } = await all.aRunThatIs('QUEUED');
  const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');

  const late = { ...checkRun, actions: before.actions };
  const sent = await all.github.pressButton(late, 'approve-start', 'bob');
  const reader = await all.github.pressButton(checkRun, 'approve', 'rita');

  expect(await all.settled(sent)).toEqual({ state: 'ignored', note: 'the run is UNCONFIRMED' });
  expect(await all.settled(reader)).toMatchObject({ state: 'ignored' });
  expect(await all.reviews.ofRun(run.id)).toEqual([]);
});

test('a plan that waits for approval is not confirmed by a button that was shown before', async () => {
  await using all = await openButtons();
  const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');
  expect(names(checkRun.actions)).toEqual(['confirm', 'discard']);
  all.guards.push('p1 1');

  const sent = await all.github.pressButton(checkRun, 'confirm', 'bob');

  expect(await all.settled(sent)).toEqual({
    state: 'ignored',
    note: 'The run waits for approval: the approval policies of the stack have not judged it yet.',
  });
  expect(await all.stateOf(run)).toBe('UNCONFIRMED');
});
