import { describe, expect, it, test } from 'vitest';
import {
  isOvertaken,
  policyCommentItem,
  shownMarkdown,
} from '../../../src/github/feedback/comment/policy-comment.ts';
import { createPullRequestNotes } from '../../../src/github/feedback/pull-request-notes.ts';
import type { PullRequestNote } from '../../../src/runs/pull-request-notes.ts';
import { openFeedback } from '../feedback-world.ts';

const noteOf = (change: Partial<PullRequestNote> = {}): PullRequestNote => ({
  ...{ repositoryId: 21, number: 7, runId: '01JRUN0000000000000000000A', stateVersion: 3 },
  ...{ policyId: 'policy-1', key: 'state', body: 'It is planned.' },
  ...change,
});

async function opened() {
  const world = await openFeedback();
  await world.addStack('network');
  world.outbox().start();
  const { store, clock, database, app } = world;
  const notes = createPullRequestNotes({ app, store, clock, onWanted: () => world.outbox().wake() });
  const place = { repositoryId: world.infra.id, number: world.number };
  async function write(change: Partial<PullRequestNote>) {
    const note = noteOf({ ...place, ...change });
    await database.write((tx) => notes.write(tx, note));
    // Edits keep their distance.
    world.clock.ms += 10_000;
    world.outbox().wake();
    await world.settled(policyCommentItem(note).id);
  }
  const texts = () => world.written().map(({ body }) => body.split('\n').slice(1).join('\n'));
  return { ...world, notes, write, texts, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('a comment that a policy wants', () => {
  test('is edited in place under the same key, and made anew under another one', async () => {
    await using world = await opened();
    await world.write({ body: 'planning' });
    await world.write({ body: 'planned', stateVersion: 4 });
    expect(world.texts()).toEqual(['planned']);

    await world.write({ body: 'of another policy', policyId: 'policy-2' });
    await world.write({ body: 'under another key', key: 'cost' });
    expect(world.texts().toSorted()).toEqual(['of another policy', 'planned', 'under another key']);
  });

  test('does not take the place of what a later state or run has said', async () => {
    await using world = await opened();
    await world.write({ body: 'later', stateVersion: 4 });
    await world.write({ body: 'earlier', stateVersion: 3 });
    expect(world.texts()).toEqual(['later']);

    await world.write({ body: 'of the next run', runId: '01JRUN0000000000000000000B', stateVersion: 1 });
    expect(world.texts()).toEqual(['of the next run']);
  });

  test('is given up where the number is no pull request', async () => {
    await using world = await opened();
    await world.write({ number: 999, body: 'nowhere' });

    const { id } = policyCommentItem(noteOf({ repositoryId: world.infra.id, number: 999 }));
    expect(await world.store.find(id)).toMatchObject({
      isSettled: true,
      lastError: 'there is no pull request 999',
    });
    expect(world.texts()).toEqual([]);
  });

  test('finds the pull requests of a commit and of a branch', async () => {
    await using world = await opened();
    const { notes, repository, hash, number } = world;
    const find = (by: Parameters<typeof notes.find>[1]) => notes.find(repository, by);

    expect(await find({ commit: hash })).toEqual([number]);
    expect(await find({ intoBranch: 'main' })).toEqual([number]);
    expect(await find({ intoBranch: 'nowhere' })).toEqual([]);
    expect(await find({ commit: '0'.repeat(40) })).toEqual([]);
  });
});

describe('what a policy writes', () => {
  it.each([
    ['**done** by @ada', '**done** by @\u200bada'],
    ['@acme/admins and a@b', '@\u200bacme/admins and a@\u200bb'],
    ['3 @ 4', '3 @ 4'],
    ['&#64;ada &#0064;ada &#x40;ada &#X0040;ada &commat;ada', '@\u200bada '.repeat(5).trim()],
    ['@&#97;da @&#x61;da', '@\u200b&#97;da @\u200b&#x61;da'],
    ['half \ud83d', 'half \ufffd'],
  ])('%j mentions nobody', (text, shown) => {
    expect(shownMarkdown(text, 100)).toBe(shown);
  });

  it('is cut to what GitHub takes, with nothing left open', () => {
    const text = `\`\`\`\n${'@x line\n'.repeat(20_000)}`;
    const shown = shownMarkdown(text, 1000);
    expect(shown.length).toBeLessThanOrEqual(1000);
    expect(shown).toMatch(/\n```\n\nThe text is longer than a comment may be; its end is left out\.$/);
  });
});

it('goes with its run unless it is edited later', () => {
  const [kept, once] = [policyCommentItem(noteOf()), policyCommentItem(noteOf({ key: null }))];
  expect([kept.runId, once.runId]).toEqual([null, noteOf().runId]);
  expect(policyCommentItem(noteOf({ key: null, stateVersion: 4 })).id).not.toBe(once.id);
  expect(policyCommentItem(noteOf({ stateVersion: 4, body: 'else' })).id).toBe(kept.id);
  expect(isOvertaken(noteOf(), kept.desired)).toBe(false);
});
