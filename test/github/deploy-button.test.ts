import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/runs/run.ts';
import { openButtons } from './buttons-support.ts';

const ignored = (note: string) => ({ state: 'ignored', note });
type All = Awaited<ReturnType<typeof openButtons>>;

/** A preview of a branch that is done, and the check run that shows it. */
async function aPreview(all: All, change: Parameters<All['aPreview']>[0] = {}) {
  await all.setStack({ promotion: true });
  return all.aPreview(change);
}

/** The run that a press made. */
async function madeBy(all: All, deliveryId: string): Promise<Run | undefined> {
  const { note } = await all.settled({ deliveryId });
  const [, id] = /: run (\w+)$/.exec(note ?? '') ?? [];
  if (id === undefined) throw new Error(`no run in: ${note}`);
  return (await all.runs.find(id)) ?? undefined;
}

describe('deploying by a button', () => {
  test('makes one TRACKED run of the commit that was previewed', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await aPreview(all);

    const sent = await all.github.pressButton(checkRun, 'deploy', 'bob');
    const made = await madeBy(all, sent.deliveryId);
    await all.github.redeliver(sent.deliveryId);

    const { branch, commit } = run;
    expect(made).toMatchObject({ type: 'TRACKED', state: 'QUEUED', branch, commit });
    expect(made?.triggeredBy).toMatch(/\+bob@users\.noreply\.github\.com$/);
    expect(await all.allRuns()).toHaveLength(2);
  });

  test('takes a commit that contains what the stack has, and no other', async () => {
    await using all = await openButtons();
    await all.aRunThatIs('FINISHED');
    const { checkRun } = await aPreview(all, { from: 'main' });
    const behind = await all.aPreview({ branch: 'behind', from: 'main~1' });

    const sent = await all.github.pressButton(checkRun, 'deploy', 'bob');
    const refused = await all.github.pressButton(behind.checkRun, 'deploy', 'bob');

    expect(await madeBy(all, sent.deliveryId)).toMatchObject({ type: 'TRACKED', branch: 'topic' });
    const [hash, has] = [behind.run.commit.hash, all.hash].map((each) => each.slice(0, 7));
    expect(await all.settled(refused)).toEqual(
      ignored(`${hash} does not contain ${has}, which the stack has now or gets`),
    );
  });

  test('is refused when the branch has moved or is gone', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await aPreview(all);
    const other = await all.aPreview({ branch: 'other' });
    const now = await all.github.commit(all.infra, { branch: 'topic', message: 'More', files: { a: '9' } });
    await all.github.push(all.infra, { branch: 'other' });
    await all.github.deleteBranch(all.infra, { branch: 'other' });

    const moved = await all.github.pressButton(checkRun, 'deploy', 'bob');
    const gone = await all.github.pressButton(other.checkRun, 'deploy', 'bob');

    expect(await all.settled(moved)).toEqual(
      ignored(
        `the head of topic is ${now.slice(0, 7)} now, and the preview is of ${run.commit.hash.slice(0, 7)}`,
      ),
    );
    expect(await all.settled(gone)).toEqual(ignored('there is no branch other any more'));
  });

  test('is refused without promotion, for a fork, and to those who may not write', async () => {
    await using all = await openButtons();
    const { checkRun } = await aPreview(all);
    const pullRequest = { number: 7, base: 'main', title: 'Evil', author: 'mallory', isFork: true };
    const fork = await all.aPreview({ branch: 'forked', pullRequest });

    const reader = await all.github.pressButton(checkRun, 'deploy', 'rita');
    // Not shown for it: one that some other version of ours had left there.
    const shown = { ...fork.checkRun, actions: checkRun.actions };
    const ofFork = await all.github.pressButton(shown, 'deploy', 'bob');
    const anew = await all.github.pressButton(shown, 'preview', 'bob');
    await all.settled(anew);
    await all.setStack({ promotion: false });
    const without = await all.github.pressButton(checkRun, 'deploy', 'bob');

    expect(await all.settled(reader)).toEqual(ignored('rita may not deploy: needs the role writer'));
    expect(await all.settled(ofFork)).toEqual(
      ignored('what comes from a fork is never deployed before it is merged'),
    );
    expect(await all.settled(anew)).toEqual(ignored('the branch is one of a fork'));
    expect(await all.settled(without)).toEqual(
      ignored('the stack takes commits of its own branch only: promotion is off'),
    );
    expect(fork.checkRun.actions).toEqual([]);
  });

  test('is refused for a run that is no preview, or not done', async () => {
    await using all = await openButtons();
    const { checkRun } = await aPreview(all);
    const tracked = await all.aRunThatIs('UNCONFIRMED');

    const shown = { ...tracked.checkRun, actions: checkRun.actions };
    const sent = await all.github.pressButton(shown, 'deploy', 'bob');

    expect(await all.settled(sent)).toEqual(
      ignored('the TRACKED run is UNCONFIRMED: only what was previewed can be deployed'),
    );
  });
});

describe('"Re-run" of a deployment of a branch', () => {
  test('undoes nothing that was deployed since, alone or with all others', async () => {
    await using all = await openButtons();
    const preview = await aPreview(all, { from: 'main~1' });
    const { branch, commit } = preview.run;
    const { checkRun } = await all.aRunThatIs('DISCARDED', 'TRACKED', { branch, commit });
    await all.aRunThatIs('FINISHED');
    const before = await all.allRuns();

    const one = await all.settled(await all.github.pressButton(checkRun, 'retry', 'bob'));
    const many = await all.settled(await all.github.rerequestAll(checkRun, 'bob'));

    const [hash, has] = [commit.hash, all.hash].map((each) => each.slice(0, 7));
    const reason = `${hash} does not contain ${has}, which the stack has now or gets`;
    expect(one).toEqual(ignored(reason));
    expect(many.note).toBe(`network-prod: ${reason}`);
    expect(await all.allRuns()).toEqual(before);
  });
});

describe('previewing again by a button', () => {
  test('makes a preview of the branch as it is now', async () => {
    await using all = await openButtons();
    const { checkRun } = await aPreview(all);
    const now = await all.github.commit(all.infra, { branch: 'topic', message: 'More', files: { a: '9' } });

    const { deliveryId } = await all.github.pressButton(checkRun, 'preview', 'bob');

    const made = await madeBy(all, deliveryId);
    expect(made).toMatchObject({ type: 'PROPOSED', branch: 'topic', commit: { hash: now } });
    expect(made?.isUntrusted ?? false).toBe(false);
  });

  test('is without secrets when the commit is, or when a bot that is not trusted wrote it', async () => {
    await using all = await openButtons();
    const bot = all.github.addBot('renovate[bot]');
    const author = { name: bot.login, email: `${bot.id}+${bot.login}@users.noreply.github.com` };
    const untrusted = await aPreview(all, { isUntrusted: true });
    const person = await all.aPreview({ branch: 'moved' });
    await all.github.commit(all.infra, { branch: 'moved', message: 'Up', files: { a: '9' }, author });

    const same = await all.github.pressButton(untrusted.checkRun, 'preview', 'bob');
    const byBot = await all.github.pressButton(person.checkRun, 'preview', 'bob');
    expect(await madeBy(all, same.deliveryId)).toMatchObject({ isUntrusted: true });
    expect(await madeBy(all, byBot.deliveryId)).toMatchObject({ isUntrusted: true });

    await all.setStack({ trustedBots: ['renovate[bot]'] });
    const third = await all.aPreview({ branch: 'third' });
    await all.github.commit(all.infra, { branch: 'third', message: 'Up', files: { a: '9' }, author });
    const trusted = await all.github.pressButton(third.checkRun, 'preview', 'bob');
    expect((await madeBy(all, trusted.deliveryId))?.isUntrusted ?? false).toBe(false);
  });
});

describe('"Re-run all"', () => {
  const rerunAll = async (all: All, checkRun: Parameters<All['github']['rerequestAll']>[0], login: string) =>
    all.settled(await all.github.rerequestAll(checkRun, login));

  test('runs again what failed or ended early, one of a stack and type, once for a press', async () => {
    await using all = await openButtons();
    await all.aRunThatIs('DISCARDED');
    const { run, checkRun } = await all.aRunThatIs('DISCARDED');
    const preview = await all.aRunThatIs('PREVIEWED', 'PROPOSED');

    const sent = await all.github.rerequestAll(checkRun, 'bob');
    const { note } = await all.settled(sent);
    await all.github.redeliver(sent.deliveryId);

    const [again, ...before] = await all.allRuns();
    expect(note).toBe(`network-prod: bob retried run ${run.id}: run ${again?.id}`);
    expect(again).toMatchObject({ type: 'TRACKED', state: 'QUEUED', commit: run.commit });
    expect(before).toHaveLength(3);
    expect(before[0]?.id).toBe(preview.run.id);
  });

  test('does nothing where all went well, or is under way, and for those who may not write', async () => {
    await using all = await openButtons();
    const done = await all.aRunThatIs('PREVIEWED', 'PROPOSED');
    await all.aRunThatIs('PREPARING');

    expect(await rerunAll(all, done.checkRun, 'bob')).toEqual({
      ...{ state: 'done', note: 'no run of the commit failed' },
    });
    expect(await rerunAll(all, done.checkRun, 'rita')).toEqual({
      ...{ state: 'done', note: 'rita may not retry: needs the role writer' },
    });
    expect(await all.allRuns()).toHaveLength(2);
  });

  test.each([
    [{ check_suite: { id: 1, head_sha: 'a1', app: { id: 8 } } }, 'the check suite is not of this App'],
    [{ sender: { id: 5, login: 'robot[bot]', type: 'Bot' } }, 'robot[bot] is not a person'],
    [{ action: 'requested' }, 'nothing is done for the action requested'],
  ])('with %j is ignored', async (change, reason) => {
    await using all = await openButtons();
    const { checkRun } = await all.aRunThatIs('DISCARDED');
    const sent = await all.github.rerequestAll(checkRun, 'rita');
    await all.settled(sent);
    const told = all.github.deliveries.find(({ guid }) => guid === sent.deliveryId);
    const bob = { id: 5, login: 'bob', type: 'User' };

    const outcome = await all.handle({
      ...{ id: 'changed', event: 'check_suite', attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
      body: Buffer.from(JSON.stringify({ ...told?.payload, sender: bob, ...change })),
    });

    expect(outcome).toEqual(ignored(reason));
    expect(await all.allRuns()).toHaveLength(1);
  });
});

test('"Re-run" of the check of a commit that concerns no stack says that there is nothing to run', async () => {
  await using all = await openButtons();
  const { checkRun } = await all.aRunThatIs('DISCARDED');
  const rerun = async (externalId: string) =>
    all.settled(await all.github.rerequest({ ...checkRun, externalId }, 'bob'));

  expect(await rerun(`unaffected:stack-1:PROPOSED:${all.hash}`)).toEqual(
    ignored('the commit does not concern the stack: there is nothing to run'),
  );
  expect(await rerun(`aggregate:1:${all.hash}:deploy`)).toEqual(
    ignored('the check run is of another repository'),
  );
  expect(await rerun(`aggregate:${all.infra.id}:${all.hash}:deploy`)).toEqual({
    ...{ state: 'done', note: 'no stack of the repository is concerned' },
  });
});
