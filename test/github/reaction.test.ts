import { expect, test } from 'vitest';
import { reactionId, reactionOn } from '../../src/github/feedback/reaction.ts';
import { openOutbox } from './outbox-support.ts';
import { eventually } from './support.ts';

async function open() {
  const all = await openOutbox();
  const run = await all.addRun('run-1');
  const { github, infra, repository, database, store, clock } = all;
  github.addUser({ login: 'bob', name: 'Bob', email: 'bob@example.com' });
  github.setPermission(infra, 'bob', 'write');
  await github.commitAndPush(infra, { branch: 'topic', message: 'One', files: { b: '1' }, pusher: 'bob' });
  const { number } = await github.openPullRequest(infra, { head: 'topic', author: 'bob' });
  const { comment } = await github.comment(infra, number, { login: 'bob', body: '/slipway help' });
  return {
    ...all,
    run,
    item: reactionId(comment.id),
    async react(content: 'eyes' | '-1') {
      const item = reactionOn({ repositoryId: repository.id, commentId: comment.id }, content);
      await database.write((tx) => store.want(tx, item, clock.ms));
      all.outbox().wake();
    },
    reactions: () => comment.reactions,
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

test('a reaction is shown once, although the answer to it was lost', async () => {
  await using all = await open();
  all.github.failNext({ method: 'POST', pathPattern: /reactions$/, status: 0, dropAnswer: true });
  all.outbox().start();

  await all.react('eyes');
  await eventually(async () => expect(await all.store.find(all.item)).toMatchObject({ attempts: 1 }));
  all.clock.ms += 2000;
  all.outbox().wake();
  await all.settled(all.item);

  expect(all.reactions()).toMatchObject([{ content: 'eyes' }]);
});

test('a reaction does not wait for the check runs of its repository', async () => {
  await using all = await open();
  const never = Promise.withResolvers<void>();
  all.outbox().start();
  let held = 0;
  all.beforeEach(async () => {
    held += 1;
    if (held === 1) await never.promise;
  });

  await all.tell(all.run, 'QUEUED');
  await eventually(() => expect(all.underWay()).toBe(1));
  await all.react('-1');
  await all.settled(all.item);

  expect(all.reactions()).toMatchObject([{ content: '-1' }]);
  expect(all.shown()).toEqual([]);
  never.resolve();
  await all.settled('run-1');
});
