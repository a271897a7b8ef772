import { describe, expect, test } from 'vitest';
import { baseOfQueueBranch } from '../../src/github/merge-queue-branch.ts';
import { startReceiving } from './receiving.ts';
import { eventually } from './support.ts';

async function opened() {
  const all = await startReceiving();
  const infra = await all.github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  await all.github.commitAndPush(infra, { branch: 'topic', message: 'Two', files: { b: '2' } });
  const { number } = await all.github.openPullRequest(infra, { head: 'topic' });
  const settled = ({ deliveryId }: { deliveryId: string }) =>
    eventually(async () => {
      const record = await all.inboxStore.find(deliveryId);
      expect(record?.state).toMatch(/^(done|ignored|failed)$/);
      return { state: record?.state, note: record?.note };
    });
  const enqueue = (how?: Parameters<typeof all.github.enqueue>[2]) => all.github.enqueue(infra, number, how);
  return { ...all, infra, settled, enqueue };
}

describe('a merge group', () => {
  test('is made known with what it is put on, and by its push for what it left', async () => {
    await using all = await opened();
    const told = all.pushes.length;

    const group = await all.enqueue();

    expect(await all.settled(group.push)).toEqual({ state: 'done', note: 'network: previewed' });
    expect(await all.settled(group.requested)).toEqual({ state: 'done', note: 'network: previewed' });
    const bot = {
      login: 'github-merge-queue[bot]',
      email: expect.stringContaining('github-merge-queue[bot]'),
    };
    const same = { repositoryId: all.infra.id, branch: group.branch, head: group.sha, base: 'main', by: bot };
    expect(all.groups).toEqual([
      { ...same, onto: 'main' },
      { ...same, onto: group.baseSha },
    ]);
    expect(all.pushes).toHaveLength(told);
  });

  test('that is gone is made known with the reason', async () => {
    await using all = await opened();
    const group = await all.enqueue();
    await all.settled(group.requested);

    const gone = await all.github.destroyMergeGroup(group, 'invalidated');

    expect(await all.settled(gone)).toEqual({ state: 'done', note: 'network: stopped' });
    const { branch, sha: head } = group;
    expect(all.groups.at(-1)).toEqual({ repositoryId: all.infra.id, branch, head, reason: 'invalidated' });
  });

  test('whose branch somebody else pushed is a push like any other', async () => {
    await using all = await opened();
    const branch = 'gh-readonly-queue/main/pr-7-abc';
    const sent = await all.github.commitAndPush(all.infra, {
      ...{ branch, message: 'Evil', files: { a: '9' }, pusher: all.github.addBot('evil[bot]').login },
    });

    await all.settled(sent);

    expect(all.pushes.at(-1)?.push).toMatchObject({ branch, pusherIsBot: true });
    expect(all.groups).toEqual([]);
  });

  test.each([
    [{ action: 'started' }, { state: 'ignored', note: 'nothing is done for the action started' }],
    [
      { merge_group: { head_sha: 'a', head_ref: 'main', base_sha: 'b', base_ref: 'refs/heads/main' } },
      { state: 'failed', note: expect.stringMatching(/^payload not understood: merge_group\.head_ref: /) },
    ],
    [
      { sender: undefined, action: 'destroyed', reason: null },
      { state: 'done', note: 'network: stopped' },
    ],
  ])('with %j is %j', async (change, outcome) => {
    await using all = await opened();
    const group = await all.enqueue();
    await all.settled(group.requested);
    const told = all.github.deliveries.find(({ guid }) => guid === group.requested.deliveryId);

    const answer = await all.handle({
      ...{ id: 'changed', event: 'merge_group', attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
      body: Buffer.from(JSON.stringify({ ...told?.payload, ...change })),
    });

    expect(answer).toEqual(outcome);
  });
});

test.each([
  [`gh-readonly-queue/main/pr-7-${'a'.repeat(40)}`, 'main'],
  [`gh-readonly-queue/release/1.x/pr-7-${'a'.repeat(40)}`, 'release/1.x'],
  ['gh-readonly-queue/main', null],
  ['gh-readonly-queue/pr-7-abc', null],
  ['x/gh-readonly-queue/main/pr-7-abc', null],
  ['main', null],
])('the base of the queue branch %s is %j', (branch, base) => {
  expect(baseOfQueueBranch(branch)).toBe(base);
});
