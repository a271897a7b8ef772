import { describe, expect, test } from 'vitest';
import { openCommands } from './commands-support.ts';

const made = { kind: 'acted', outcomes: [{ stack: 'network', kind: 'made' }] };

describe('a comment that is a command', () => {
  test('is done as the person who wrote it, and reacted to', async () => {
    await using all = await openCommands();

    const { comment, note } = await all.say('/slipway preview');

    const [run] = await all.allRuns();
    expect(note).toBe(`done: preview by bob: network: PROPOSED run ${run?.id}`);
    expect(all.reactions.get(comment.id)).toBe('eyes');
    expect(run).toMatchObject({
      ...{ type: 'PROPOSED', branch: 'topic', commit: { hash: all.head, message: 'Two' } },
      triggeredBy: expect.stringMatching(/^\d+\+bob@users\.noreply\.github\.com$/),
      pullRequest: { number: all.number, base: 'main', author: 'bob' },
    });
  });

  test('is one run, however often and under whatever id it is told', async () => {
    await using all = await openCommands();
    const { deliveryId } = await all.say('/slipway preview');
    const sent = all.github.deliveries.find(({ guid }) => guid === deliveryId);

    await all.github.redeliver(deliveryId);
    const again = await all.handle({
      ...{ id: 'another', event: 'issue_comment', body: Buffer.from(sent?.body ?? '') },
      ...{ attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
    });

    expect(again).toEqual({ state: 'done', note: 'the comment was answered before' });
    expect(await all.allRuns()).toHaveLength(1);
    expect(all.answers).toHaveLength(1);
  });

  test('is about what the pull request changes', async () => {
    await using all = await openCommands();
    await all.addStack('dns', { projectRoot: 'dns' });

    expect(await all.ask('/slipway preview')).toMatchObject(made);
    expect(await all.ask('/slipway explain', 'rita')).toMatchObject({
      stacks: [
        { stack: 'dns', isConcerned: false },
        { stack: 'network', isConcerned: true },
      ],
    });
  });

  test('of a person that GitHub does not let do it is refused, for each role', async () => {
    await using all = await openCommands();

    expect(await all.ask('/slipway preview', 'rita')).toMatchObject({ kind: 'forbidden', role: 'reader' });
    expect(await all.ask('/slipway status', 'rita')).toMatchObject({ kind: 'status' });
    expect(await all.ask('/slipway status', 'mallory')).toMatchObject({ kind: 'forbidden', role: null });
    expect([...all.reactions.values()]).toEqual(['-1', 'eyes', '-1']);
    expect(await all.allRuns()).toEqual([]);
    expect(await all.ask('/slipway preview', 'bob')).toMatchObject(made);
    expect(await all.ask('/slipway preview', 'ada')).toMatchObject(made);
    // An administrator of the instance, who is nobody in the repository.
    expect(await all.ask('/slipway preview', 'root')).toMatchObject(made);
  });

  test('on a public repository wants more than what everybody has', async () => {
    await using all = await openCommands({ isPublic: true });

    expect(await all.ask('/slipway help', 'mallory')).toMatchObject({ kind: 'forbidden', role: null });
    expect(await all.ask('/slipway help', 'rita')).toMatchObject({ kind: 'help' });
  });

  test('goes by the rights of the moment, not by those of its writing', async () => {
    await using all = await openCommands();
    await all.ask('/slipway status');
    all.github.setPermission(all.infra, 'bob', 'read');

    expect(await all.ask('/slipway preview')).toMatchObject({ kind: 'forbidden', role: 'reader' });
  });

  test('acts on the commit that was previewed before it, and on no other', async () => {
    await using all = await openCommands();
    await all.preview();

    expect(await all.ask('/slipway deploy')).toMatchObject(made);
    expect(await all.allRuns()).toMatchObject([{ type: 'TRACKED', commit: { hash: all.head } }, {}]);

    await all.github.forcePush(all.infra, {
      ...{ branch: 'topic', onto: 'main', commits: [{ message: 'Forced', files: { a: '3' } }] },
    });
    expect(await all.ask('/slipway deploy')).toMatchObject({
      outcomes: [{ refusal: { code: 'head-moved', seen: all.head } }],
    });
  });

  test('compares with what the stack has got', async () => {
    await using all = await openCommands();
    await all.preview();
    await all.ask('/slipway deploy');
    const [deployed] = await all.allRuns();
    await all.finish(deployed?.id ?? '');
    // The topic goes on from an older commit than the one that is applied.
    await all.github.forcePush(all.infra, {
      ...{ branch: 'topic', onto: 'main', commits: [{ message: 'Other', files: { a: '4' } }] },
    });
    await all.preview();

    expect(await all.ask('/slipway deploy')).toMatchObject({
      outcomes: [{ refusal: { code: 'behind', deployed: all.head, run: { id: deployed?.id } } }],
    });
  });

  test('below one that is merged deploys the branch that it was merged into', async () => {
    await using all = await openCommands();
    const { sha } = await all.github.mergePullRequest(all.infra, all.number, 'bob');

    expect(await all.ask('/slipway preview')).toMatchObject({
      outcomes: [{ refusal: { code: 'pull-request-merged' } }],
    });
    expect(await all.ask('/slipway deploy')).toMatchObject(made);
    expect(await all.allRuns()).toMatchObject([{ type: 'TRACKED', branch: 'main', commit: { hash: sha } }]);
  });

  test('below one that is closed does nothing', async () => {
    await using all = await openCommands();
    await all.github.closePullRequest(all.infra, all.number);

    expect(await all.ask('/slipway deploy')).toMatchObject({
      outcomes: [{ refusal: { code: 'pull-request-closed' } }],
    });
  });
});

describe('a comment that is none for us', () => {
  test.each([
    ['LGTM', 'the comment is not a command'],
    ['\n/slipway preview', 'the comment is not a command'],
    ['> /slipway preview', 'the comment is not a command'],
  ])('%j', async (body, reason) => {
    await using all = await openCommands();

    expect((await all.say(body)).note).toBe(`ignored: ${reason}`);
    expect(all.reactions.size).toBe(0);
    expect(all.github.requests.filter(({ path }) => path.endsWith('/permission'))).toEqual([]);
  });

  test('of a bot, and of ourselves', async () => {
    await using all = await openCommands();
    const bot = all.github.addBot('renovate[bot]').login;
    const octokit = await all.app.asInstallation(all.installation.id);
    const target = { owner: 'acme', repo: 'infra', issue_number: all.number };
    await octokit.rest.issues.createComment({ ...target, body: '/slipway preview' });
    await all.github.settled();
    const ours = all.github.deliveries.findLast(({ event }) => event === 'issue_comment');

    expect((await all.say('/slipway preview', bot)).note).toBe('ignored: renovate[bot] is not a person');
    expect(await all.settled(ours?.guid ?? '')).toBe('ignored: slipway[bot] is not a person');
    expect(await all.allRuns()).toEqual([]);
    expect(all.answers).toEqual([]);
  });

  test('edited or deleted', async () => {
    await using all = await openCommands();
    const { comment } = await all.say('nothing');

    const edited = await all.github.editComment(comment, { body: '/slipway preview', login: 'bob' });
    expect(await all.settled(edited.deliveryId)).toBe('ignored: nothing is done for the action edited');
    const deleted = await all.github.removeComment(comment, 'bob');
    expect(await all.settled(deleted.deliveryId)).toBe('ignored: nothing is done for the action deleted');
    expect(await all.allRuns()).toEqual([]);
  });

  test('below a plain issue', async () => {
    await using all = await openCommands();
    const issue = all.github.openIssue(all.infra, 'A question', 'bob');

    const sent = await all.github.comment(all.infra, issue, { body: '/slipway preview', login: 'bob' });

    expect(await all.settled(sent.deliveryId)).toBe(`ignored: #${issue} is not a pull request`);
  });

  test('in a repository that the App does not see any more, or without what we read', async () => {
    await using all = await openCommands();
    const { deliveryId } = await all.say('nothing');
    const sent = all.github.deliveries.find(({ guid }) => guid === deliveryId);
    const told = (change: Record<string, unknown>) =>
      all.handle({
        ...{ id: 'again', event: 'issue_comment', attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
        body: Buffer.from(JSON.stringify({ ...sent?.payload, ...change })),
      });
    const comment = { id: 1, body: '/slipway preview', created_at: '2026-11-21T10:00:00Z' };

    expect(await told({ comment: { ...comment, created_at: 'yesterday' } })).toMatchObject({
      state: 'failed',
      note: expect.stringContaining('comment.created_at'),
    });
    expect(await told({ comment, installation: undefined })).toMatchObject({
      state: 'failed',
      note: expect.stringContaining('installation'),
    });
    expect(await told({ comment: { ...comment, body: null } })).toMatchObject({ state: 'ignored' });
    const issue = { number: 999, pull_request: {} };
    expect(await told({ comment, issue })).toEqual({
      state: 'ignored',
      note: 'there is no pull request #999 any more',
    });
    await all.github.setInstalled(all.infra, false);
    await all.reconciler.all();
    expect(await told({ comment })).toMatchObject({ state: 'ignored' });
  });
});

describe('while GitHub cannot be asked', () => {
  test.each([
    ['who may', /\/permission$/, '/slipway preview'],
    ['about the pull request', /\/pulls\/\d+$/, '/slipway preview'],
    ['what it changes', /\/files$/, '/slipway preview'],
    ['where its commits stand', /\/compare\//, '/slipway deploy'],
  ])('%s, a comment waits, and is done once', async (what, pathPattern, body) => {
    await using all = await openCommands();
    await all.preview();
    if (what.startsWith('where')) {
      await all.ask('/slipway deploy');
      await all.finish((await all.allRuns())[0]?.id ?? '');
    }
    const before = await all.allRuns();
    all.github.failNext({ pathPattern, status: 502, times: 2 });

    const { comment, deliveryId } = await all.github.comment(all.infra, all.number, { body, login: 'bob' });
    await all.failedOnce(deliveryId);
    expect(await all.allRuns()).toHaveLength(before.length);
    // Seen, once it is known who may.
    const isSeen = pathPattern.source.includes('files') || pathPattern.source.includes('compare');
    expect(all.reactions.get(comment.id)).toBe(isSeen ? 'eyes' : undefined);

    await all.passUntilSettled(deliveryId);
    expect(await all.allRuns()).toHaveLength(before.length + 1);
    expect(all.reactions.get(comment.id)).toBe('eyes');
    expect(all.answers.filter(({ commentId }) => commentId === comment.id)).toHaveLength(1);
  });
});
