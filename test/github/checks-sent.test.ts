import { describe, expect, test } from 'vitest';
import { aggregateId } from '../../src/github/feedback/aggregate-check.ts';
import { createNoteOnRun } from '../../src/github/feedback/run-notes.ts';
import { createShowUnaffected } from '../../src/github/feedback/show-unaffected.ts';
import type { Run, RunState } from '../../src/runs/run.ts';
import type { Unaffected } from '../../src/runs/unaffected.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { aRun, stackSettings } from '../support/builders.ts';
import { anEvent, insertRun } from './builders.ts';
import { openOutbox } from './outbox-support.ts';
import { eventually } from './support.ts';

/** Runs of several stacks of one repository, and what GitHub shows of them. */
async function opened({ isPrivate = true } = {}) {
  const all = await openOutbox();
  const { database, store, clock, github } = all;
  const repository = { ...all.repository, isPrivate };
  const box = createSecretBox(Buffer.alloc(32, 7));
  const runs = createRunStore(database, box);
  const stacks = createStackStore(database, box);
  const onWanted = () => all.outbox().wake();
  const publicUrl = () => 'https://slipway.example.com';
  const show = createShowUnaffected({ store, clock, publicUrl, onWanted });
  const noteOnRun = createNoteOnRun({ store, runs, stacks, clock, onWanted });
  const commit = (await all.addRun('01JSETUP0000000000000000A')).commit;
  await database.write(async (tx) => {
    await database.inside(tx).deleteFrom('stack').execute();
    const at = database
      .inside(tx)
      .updateTable('repository')
      .set({ is_private: isPrivate ? 1 : 0 });
    await at.where('id', '=', repository.id).execute();
  });
  all.outbox().start();

  const stackOf = async (key: string) => {
    const stack = await stacks.findByKey(key);
    if (!stack) throw new Error(`no stack ${key}`);
    return stack;
  };

  return {
    ...all,
    runs,
    commit,
    async addStack(key: string, change: Partial<StackSettings> = {}) {
      const row = { key, id: key, accountId: repository.accountId, repositoryId: repository.id };
      const settings = stackSettings(change);
      await database.write((tx) => stacks.insert(tx, { ...row, settings, createdAtMs: 0 }));
    },
    change: (key: string, change: Partial<StackSettings>) =>
      database.write((tx) => stacks.updateSettings(tx, key, stackSettings(change))),
    addRun: async (id: string, stackKey: string, change: Partial<Run> = {}) => {
      const run = aRun({ id, stackKey, commit, type: 'PROPOSED', state: 'FINISHED', ...change });
      await database.write((tx) => insertRun(database, tx, run, repository));
      return run;
    },
    /** Its row is in that state from then on, and everybody is told. */
    async tell(run: Run, state: RunState) {
      const stack = await stackOf(run.stackKey);
      await database.write(async (tx) => {
        await database.inside(tx).updateTable('run').set({ state }).where('id', '=', run.id).execute();
        await all.react(tx, anEvent({ ...run, state }, { stack }));
      });
    },
    async unaffected(
      key: string,
      reason = 'no changed path belongs to the stack',
      policies?: Unaffected['policies'],
    ) {
      const stack = await stackOf(key);
      const about = { stack, commit: commit.hash, type: 'PROPOSED', reason } as const;
      await database.write((tx) => show(tx, { ...about, ...(policies ? { policies } : {}) }));
    },
    note: (run: Run, key: string, text: string) =>
      database.write((tx) => noteOnRun(tx, run.id, { key, text, detailedText: `${text} in detail` })),
    /** All that GitHub was told of a check, once it was told everything. */
    async check(externalId: string) {
      await all.settled(externalId);
      const found = github.checkRuns.filter((each) => each.externalId === externalId);
      expect(found).toHaveLength(1);
      return found[0];
    },
  };
}

const steps = [
  {
    ...{
      op: 'update',
      type: 'aws:s3/bucket:Bucket',
      urn: 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs',
    },
    old: { inputs: { acl: 'private' } },
    new: { inputs: { acl: 'public' } },
  },
];

async function planned(all: Awaited<ReturnType<typeof opened>>, run: Run) {
  const plan = await all.runs.sealPlan(run.id, { hasChanges: true, steps, file: null });
  await all.database.write((tx) => all.runs.savePlan(tx, plan));
}

describe('the check of a run', () => {
  test('shows the plan that there is when it is sent', async () => {
    await using all = await opened();
    await all.addStack('net');
    const run = await all.addRun('run-1', 'net');
    await all.tell(run, 'PLANNING');
    expect((await all.check('run-1'))?.output?.text).toBe('');

    await planned(all, run);
    await all.tell(run, 'FINISHED');

    expect((await all.check('run-1'))?.output?.text).toContain('- acl: "private"\n+ acl: "public"');
  });

  test.each([
    [false, 'nothing'],
    [true, 'the plan'],
  ])('on a public repository with publicDetails %j shows %s', async (publicDetails) => {
    await using all = await opened({ isPrivate: false });
    await all.addStack('net', { publicDetails });
    const run = await all.addRun('run-1', 'net');
    await planned(all, run);

    await all.tell(run, 'FINISHED');

    const text = (await all.check('run-1'))?.output?.text;
    if (publicDetails) expect(text).toContain('acl');
    else expect(text).toBe('');
  });

  test('names what a queued run waits for, as of when it is sent', async () => {
    await using all = await opened();
    await all.addStack('net');
    await all.addRun('run-1', 'net', { type: 'TRACKED', state: 'UNCONFIRMED' });
    const run = await all.addRun('run-2', 'net', { type: 'TRACKED', state: 'QUEUED' });

    await all.tell(run, 'QUEUED');

    const at = new Date(all.clock.nowMs()).toISOString().slice(0, 10);
    const summary = (await all.check('run-2'))?.output?.summary ?? '';
    expect(summary).toMatch(
      new RegExp(
        `^At ${at} \\S+ UTC \\[run run-1\\]\\(https://\\S+/runs/run-1\\) was before it \\(UNCONFIRMED\\)\\.\n\n`,
      ),
    );
  });
});

describe('a commit that does not concern a stack', () => {
  test('gets a neutral check under the name of a run’s, once', async () => {
    await using all = await opened();
    await all.addStack('net');
    const id = `unaffected:net:PROPOSED:${all.commit.hash}`;

    await all.unaffected('net');
    await all.check(id);
    await all.unaffected('net');

    expect(await all.check(id)).toMatchObject({
      ...{ name: 'slipway/net (preview)', status: 'completed', conclusion: 'neutral', actions: [] },
      output: { summary: 'The commit starts nothing for this stack: no changed path belongs to the stack.' },
    });
    expect(all.writes()).toHaveLength(1);
  });

  test('is not shown any more when a run of it was made before GitHub was told', async () => {
    await using all = await opened();
    await all.addStack('net');
    all.github.failNext({ pathPattern: /check-runs$/, status: 502 });
    await all.unaffected('net');
    const id = `unaffected:net:PROPOSED:${all.commit.hash}`;
    await eventually(async () => expect(await all.store.find(id)).toMatchObject({ attempts: 1 }));
    const run = await all.addRun('run-1', 'net');
    await all.tell(run, 'FINISHED');
    await all.check('run-1');

    all.clock.ms += 60_000;
    all.outbox().wake();
    await all.settled(id);

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });
});

describe('stacks that share one check', () => {
  const shared = { checks: 'aggregate' } as const;
  const summaryOf = (check: { output: { summary: string } | null } | undefined) =>
    (check?.output?.summary ?? '').split('\n').slice(2);

  test('are listed there, each with its newest run of the commit, and have no check of their own', async () => {
    await using all = await opened();
    for (const key of ['a', 'b', 'c']) await all.addStack(key, shared);
    await all.addStack('other');
    const id = aggregateId(all.repository.id, all.commit.hash, 'preview');

    await all.tell(await all.addRun('run-a1', 'a'), 'FAILED');
    await all.tell(await all.addRun('run-a2', 'a'), 'FINISHED');
    await all.tell(await all.addRun('run-b', 'b'), 'PLANNING');
    await all.tell(await all.addRun('run-x', 'other'), 'FAILED');
    await all.unaffected('c', 'nothing there');

    expect(await all.check(id)).toMatchObject({ name: 'slipway/preview', status: 'in_progress' });
    await all.settled('run-x');
    const link = (run: string) => `[run](https://slipway.example.com/runs/${run})`;
    expect(summaryOf(await all.check(id))).toEqual([
      `| b | Previewing |  | ${link('run-b')} |`,
      `| a | Previewed |  | ${link('run-a2')} |`,
      '| c | Not concerned | nothing there | |',
    ]);
    expect(
      all
        .shown()
        .map(({ externalId }) => externalId)
        .sort(),
    ).toEqual([id, 'run-x'].sort());
  });

  test('share another one for what applies', async () => {
    await using all = await opened();
    await all.addStack('a', shared);
    await all.tell(await all.addRun('run-1', 'a', { type: 'TRACKED' }), 'FINISHED');
    await all.tell(await all.addRun('run-2', 'a', { type: 'TASK' }), 'FAILED');
    const check = await all.check(aggregateId(all.repository.id, all.commit.hash, 'deploy'));
    expect(check).toMatchObject({ name: 'slipway/deploy', conclusion: 'failure' });
  });

  test('keep why they are not concerned when another one is told of', async () => {
    await using all = await opened();
    await all.addStack('a', shared);
    await all.addStack('b', shared);
    await all.unaffected('a', 'one');
    await all.unaffected('b', 'two');
    const check = await all.check(aggregateId(all.repository.id, all.commit.hash, 'preview'));
    expect(check?.conclusion).toBe('neutral');
    expect(summaryOf(check)).toEqual(['| a | Not concerned | one | |', '| b | Not concerned | two | |']);
  });

  test('show notes on a run there, with the name of the stack', async () => {
    await using all = await opened();
    await all.addStack('a', shared);
    const run = await all.addRun('run-1', 'a');
    await all.tell(run, 'FINISHED');
    await all.note(run, 'webhook', 'A webhook failed');
    await all.note(run, 'webhook', 'A webhook failed');
    const check = await all.check(aggregateId(all.repository.id, all.commit.hash, 'preview'));
    expect(check?.output?.summary.split('\n\n').slice(1)).toEqual(['a: A webhook failed in detail']);
  });

  test('leave it for checks of their own, and what was begun goes on to its end', async () => {
    await using all = await opened();
    await all.addStack('a', shared);
    await all.addStack('b', shared);
    const run = await all.addRun('run-a', 'a');
    await all.tell(run, 'PLANNING');
    await all.tell(await all.addRun('run-b', 'b'), 'FINISHED');
    const id = aggregateId(all.repository.id, all.commit.hash, 'preview');
    await all.check(id);

    await all.change('a', { checks: 'each' });
    await all.tell(run, 'FAILED');

    expect(await all.check(id)).toMatchObject({ status: 'completed', conclusion: 'success' });
    expect(await all.check('run-a')).toMatchObject({ conclusion: 'failure' });
    await all.change('a', shared);
    await all.tell(run, 'FINISHED');
    expect(await all.check('run-a')).toMatchObject({ conclusion: 'success' });
    expect(await all.check(id)).toMatchObject({ output: { title: '2 done' } });
  });
});

describe('a commit that starts nothing by push policies', () => {
  const stopped = { isFailure: true, messages: ['deploys: @everybody | no `deploys` on Fridays'] };
  const reason = 'push policies ignore it';

  test('gets a failed check with their messages, which a later event may take back', async () => {
    await using all = await opened();
    await all.addStack('net');
    const id = `unaffected:net:PROPOSED:${all.commit.hash}`;

    await all.unaffected('net', reason, stopped);
    const failed = await all.check(id);
    await all.unaffected('net', reason, { isFailure: false, messages: [] });

    expect(failed).toMatchObject({ conclusion: 'failure', output: { title: 'Stopped by push policies' } });
    expect(failed?.output?.summary).toContain('```text\ndeploys: @everybody | no `deploys` on Fridays\n```');
    expect(await all.check(id)).toMatchObject({ conclusion: 'neutral' });
  });

  test('makes the one check of the commit fail', async () => {
    await using all = await opened();
    await all.addStack('net', { checks: 'aggregate' });
    await all.addStack('dns', { checks: 'aggregate' });
    const id = aggregateId(all.repository.id, all.commit.hash, 'preview');

    await all.unaffected('dns');
    await all.unaffected('net', reason, stopped);

    const check = await all.check(id);
    expect(check).toMatchObject({ conclusion: 'failure', output: { title: '1 failed, 1 not concerned' } });
    expect(check?.output?.summary).toContain('| net | Stopped by push policies | ``push policies ignore it');
    expect(check?.output?.summary).toContain('@everybody \\| no');
    await all.unaffected('net', reason, { isFailure: false, messages: [] });
    expect(await all.check(id)).toMatchObject({ conclusion: 'neutral' });
  });

  test('does not tell the world what policies say', async () => {
    await using all = await opened({ isPrivate: false });
    await all.addStack('net');
    await all.unaffected('net', reason, stopped);
    const check = await all.check(`unaffected:net:PROPOSED:${all.commit.hash}`);
    expect(check?.conclusion).toBe('failure');
    expect(check?.output?.summary).toBe(
      'The commit starts nothing for this stack: so say its push policies.',
    );
  });
});
