import { describe, expect, test } from 'vitest';
import { checkRunOf } from '../../src/github/feedback/check-run.ts';
import { createNoteOnRun, type RunNote, withNotes } from '../../src/github/feedback/run-notes.ts';
import type { Stack } from '../../src/stacks/stack.ts';
import { aRepository, aRun, aStack, stackSettings } from '../support/builders.ts';
import { anEvent } from './builders.ts';
import { openOutbox } from './outbox-support.ts';

const note = (key: string): RunNote => ({
  key,
  text: `Webhook ${key} is disabled.`,
  detailedText: `Webhook ${key} at receiver.example is disabled.`,
});

async function opened(stack: Stack = aStack()) {
  const all = await openOutbox();
  const noteOnRun = createNoteOnRun({
    store: all.store,
    runs: { find: async (id) => (id === 'nobody' ? null : aRun({ id })) },
    stacks: { findByKey: async () => stack },
    clock: all.clock,
    onWanted: () => all.outbox().wake(),
  });
  return {
    ...all,
    add: (runId: string, key: string) => all.database.write((tx) => noteOnRun(tx, runId, note(key))),
    summary: () => all.github.checkRuns[0]?.output?.summary ?? '',
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

describe('a note on a run', () => {
  test('is shown by its check run, once, and stays when the run goes on', async () => {
    await using all = await opened();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'PLANNING');
    await all.settled('run-1');
    expect(all.summary()).not.toContain('Webhook');

    await all.add('run-1', 'A');
    await all.settled('run-1');
    expect(all.summary()).toMatch(/The tool works out .*\n\nWebhook A at receiver\.example is disabled\.$/s);
    await all.add('run-1', 'A');
    await all.add('run-1', 'B');
    await all.tell(run, 'FINISHED');
    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
    const summary = all.summary();
    expect(summary.match(/Webhook \w/g)).toEqual(['Webhook A', 'Webhook B']);
  });

  test('reaches a check run of a run that has long been over', async () => {
    await using all = await opened();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'FINISHED');
    await all.settled('run-1');
    all.clock.ms += 3 * 24 * 60 * 60 * 1000;

    await all.add('run-1', 'A');
    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
    expect(all.summary()).toContain('Webhook A');
  });

  test.each([
    [false, false],
    [true, true],
  ])('on a public repository says details: %j when publicDetails is %j', async (shows, publicDetails) => {
    const repository = aRepository({ isPrivate: false });
    await using all = await opened(aStack({ repository, settings: stackSettings({ publicDetails }) }));
    await all.tell(await all.addRun('run-1'), 'FINISHED');

    await all.add('run-1', 'A');
    all.outbox().start();
    await all.settled('run-1');

    expect(all.summary()).toContain('Webhook A');
    expect(all.summary().includes('receiver.example')).toBe(shows);
  });

  test('is nothing for a run that is gone, or has no check run', async () => {
    await using all = await opened();

    await all.add('nobody', 'A');
    await all.add('run-1', 'A');

    expect(await all.store.due(9e15, [])).toBeNull();
  });

  test('is undone with the transaction that it was made in', async () => {
    await using all = await opened();
    await all.tell(await all.addRun('run-1'), 'FINISHED');

    const work = all.database.write(async (tx) => {
      await all.store.addNote(tx, 'run-1', { key: 'A', text: 'A' }, 0);
      throw new Error('somebody was faster');
    });

    await expect(work).rejects.toThrow('somebody was faster');
    expect(await all.store.due(9e15, [])).toMatchObject({ notes: [] });
  });
});

describe('many notes', () => {
  test('are counted from the twenty-first on', () => {
    const body = checkRunOf(anEvent(), { publicUrl: 'https://slipway.example.com', isSandboxed: true });
    const notes = Array.from({ length: 23 }, (_, index) => `note ${index + 1}`);

    const { summary } = withNotes(body, notes).output;

    expect(summary.split('\n\n').slice(-2)).toEqual(['note 20', 'And 3 more of this kind.']);
  });
});
