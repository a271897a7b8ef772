import { describe, expect, test } from 'vitest';
import { openFeedback } from '../feedback-world.ts';
import { eventually } from '../support.ts';

type World = Awaited<ReturnType<typeof openFeedback>>;

const planned = (likeness: string) => ({
  delta: { added: 3, changed: 2, deleted: 1, resources: 9 },
  planLikeness: likeness,
});

/** A stack with a preview that is done, and the comment about it. */
async function opened() {
  const world = await openFeedback();
  await world.addStack('network');
  const run = await world.addRun('network');
  await world.move(run, 'planned', planned('a'));
  world.outbox().start();
  await shown(world, 'Previewed');
  return { ...world, run, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** The comment says that, and there is but one. */
async function shown(world: World, text: string) {
  await eventually(() => {
    expect(world.written()).toHaveLength(1);
    expect(world.written()[0]?.body).toContain(text);
  });
  await world.settled(world.commentItem);
}

const creates = (world: World) => world.requestsTo('POST', /\/comments$/).length;
const edits = (world: World) => world.requestsTo('PATCH', /\/comments\/\d+$/).length;

function later(world: World, ms: number): void {
  world.clock.ms += ms;
  world.outbox().wake();
}

describe('the comment of a pull request', () => {
  test('is written once a preview is done, and edited from then on', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    const run = await world.addRun('network');
    world.outbox().start();
    await world.move(run, 'PLANNING');
    expect((await world.store.find(world.commentItem))?.nextAtMs).toBe(world.clock.ms + 10_000);

    await world.move(run, { kind: 'planned', ...facts }, planned('a'));

    await shown(world, '<code>+3 ~2 -1</code>');
    await world.addRun('network', 'TRACKED', world.hash);
    later(world, 10_000);
    await shown(world, 'deployment</td><td>Queued');
    expect([creates(world), edits(world)]).toEqual([1, 1]);
    expect(world.written()[0]?.body).toMatch(
      new RegExp(`^<!-- slipway:pull-request:${world.infra.id}:${world.number} -->\n`),
    );
  });

  test('shows what is under way when that takes ten seconds', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    await world.addRun('network');
    world.outbox().start();

    later(world, 9_999);
    await eventually(async () => expect(await world.store.nextDueMs([])).toBe(world.clock.ms + 1));
    expect(creates(world)).toBe(0);
    later(world, 1);

    await shown(world, 'Queued');
  });

  test('is written every ten seconds at most, and then says what is the case', async () => {
    await using world = await opened();
    await world.addStack('database');
    for (const [at, text] of ['One', 'Two', 'Three'].entries()) {
      await world.answer(text);
      await world.move(await world.addRun('database'), 'planned', planned(`${at}`));
    }
    await eventually(async () =>
      expect((await world.store.find(world.commentItem))?.nextAtMs).toBe(world.clock.ms + 10_000),
    );
    expect([creates(world), edits(world)]).toEqual([1, 0]);

    later(world, 10_000);

    await shown(world, 'Three');
    expect(edits(world)).toBe(1);
    expect(world.said().join()).not.toMatch(/One|Two/);
  });

  test('shows stacks whose plans are alike in one row', async () => {
    await using world = await openFeedback();
    for (const stack of ['dev', 'prod', 'other']) {
      await world.addStack(stack);
      await world.move(await world.addRun(stack), 'planned', planned(stack === 'other' ? 'b' : 'a'));
    }
    world.outbox().start();

    await shown(world, '2 stacks: ');
    expect(world.written()[0]?.body.match(/<tr><td>/g)).toHaveLength(2);
  });

  test('says that a preview is not of the newest commit, though that concerns no stack', async () => {
    await using world = await opened();
    expect(world.written()[0]?.body).not.toContain('not the newest');

    await world.push('Two');
    await world.comments.changed(world.place);
    later(world, 10_000);

    await shown(world, '(not the newest)');
  });

  test('is written for a run of a push that became one of the pull request when it was over', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    const run = await world.addRun('network');
    await world.move(run, 'planned', planned('a'));
    const id = world.commentItem;
    await world.database.write((tx) =>
      world.database.inside(tx).deleteFrom('outbox_item').where('id', '=', id).execute(),
    );
    world.outbox().start();

    await world.comments.changed(world.place);

    await shown(world, 'Previewed');
  });

  test('is not written for a pull request without runs', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    world.outbox().start();

    await world.comments.changed(world.place);

    expect(await world.store.find(world.commentItem)).toBeNull();
  });

  test('answers where there are no runs', async () => {
    await using world = await openFeedback();
    world.outbox().start();

    await world.answer('This is the help.');

    await shown(world, 'This is the help.');
  });

  test('keeps an answer that may wait for what comes of it', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    const run = await world.addRun('network');
    world.outbox().start();
    await world.answer('Soon there is more.');
    expect((await world.store.find(world.commentItem))?.nextAtMs).toBe(world.clock.ms + 10_000);

    await world.move(run, 'planned', planned('a'));

    await shown(world, 'Previewed');
    expect(world.written()[0]?.body).toContain('Soon there is more.');
    expect(world.said()).toHaveLength(1);
  });

  test('does not put an answer off because of a run that goes on', async () => {
    await using world = await openFeedback();
    await world.addStack('network');
    await world.answer('At once.');
    const run = await world.addRun('network');
    await world.move(run, 'PLANNING');

    world.outbox().start();

    await shown(world, 'At once.');
  });
});

describe('a comment that GitHub', () => {
  test('has no more is made again', async () => {
    await using world = await opened();
    const [first] = world.written();
    if (first) await world.github.removeComment(first, 'bob');

    await world.answer('Again.');
    later(world, 10_000);

    await shown(world, 'Again.');
    expect(world.written()[0]?.id).not.toBe(first?.id);
    expect(creates(world)).toBe(2);
  });

  test('made without telling is found by its marker, and none of anybody else', async () => {
    await using world = await openFeedback();
    const body = `<!-- slipway:pull-request:${world.infra.id}:${world.number} -->\nMine`;
    const { comment } = await world.github.comment(world.infra, world.number, { login: 'bob', body });
    for (let at = 0; at < 120; at += 1) {
      await world.github.comment(world.infra, world.number, { login: 'bob', body: `${at}` });
    }
    world.github.failNext({ method: 'POST', pathPattern: /\/comments$/, dropAnswer: true });
    world.outbox().start();
    await world.answer('The answer.');
    await world.fails(world.commentItem);

    later(world, 10_000);

    await shown(world, 'The answer.');
    expect(creates(world)).toBe(1);
    expect(comment.body).toBe(body);
  });

  test('fails to take is sent again', async () => {
    await using world = await openFeedback();
    world.github.failNext({ method: 'POST', pathPattern: /\/comments$/, status: 500 });
    world.outbox().start();
    await world.answer('The answer.');
    await world.fails(world.commentItem);

    later(world, 10_000);

    await shown(world, 'The answer.');
  });

  test('limits is sent when it may be', async () => {
    await using world = await openFeedback();
    const headers = { 'retry-after': '60' };
    world.github.failNext({ method: 'POST', pathPattern: /\/comments$/, status: 403, headers });
    world.outbox().start();
    await world.answer('The answer.');
    await eventually(async () =>
      expect(await world.store.find(world.commentItem)).toMatchObject({
        ...{ isSettled: false, attempts: 0, nextAtMs: world.clock.ms + 60_000 },
      }),
    );

    later(world, 60_000);

    await shown(world, 'The answer.');
  });

  test('refuses in a locked conversation is given up with words, until there is more to say', async () => {
    await using world = await openFeedback();
    world.github.setConversationLocked(world.infra, world.number, true);
    world.outbox().start();
    await world.answer('The answer.');

    await eventually(async () =>
      expect(await world.store.find(world.commentItem)).toMatchObject({
        isSettled: true,
        lastError: expect.stringContaining('refuses a comment on the pull request: Unable to create comment'),
      }),
    );
    expect(creates(world)).toBe(1);
    world.github.setConversationLocked(world.infra, world.number, false);
    await world.answer('Another answer.');
    later(world, 10_000);

    await shown(world, 'Another answer.');
    expect(await world.store.find(world.commentItem)).toMatchObject({ lastError: null });
  });

  test('is not allowed to write is given up with words', async () => {
    await using world = await openFeedback();
    await world.github.uninstallApp('acme');
    const installed = await world.github.installApp('acme', {
      permissions: { checks: 'write', pull_requests: 'read' },
    });
    await world.database.write((tx) =>
      world.repositories.saveRepository(tx, { ...world.repository, installationId: installed.id }),
    );
    world.outbox().start();
    await world.answer('The answer.');

    await eventually(async () =>
      expect((await world.store.find(world.commentItem))?.lastError).toContain(
        'Resource not accessible by integration',
      ),
    );
    expect(creates(world)).toBe(1);
  });
});

const facts = {
  ...{ hasChanges: true, autodeploy: false, hasWarnings: false },
  ...{ hasApprovalPolicies: false, stackLocked: false },
};
