import { describe, expect, test } from 'vitest';
import { backoffMs, maxAttempts } from '../../src/github/backoff.ts';
import { type CheckRunBody, checkRunItem } from '../../src/github/feedback/check-run.ts';
import { maxRefusals } from '../../src/github/feedback/outbox.ts';
import { everyMs } from '../../src/github/reconcile/pace.ts';
import { fileCheckOf } from '../../src/github/repository-file/file-check.ts';
import { openOutbox } from './outbox-support.ts';
import { eventually } from './support.ts';

const collection = /\/check-runs$/;
const member = /\/check-runs\/\d+$/;

describe('the feedback outbox, when something fails,', () => {
  test.each([500, 502, 403, 404, 422])('tries again after a %i, later each time', async (status) => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status, times: 2 });
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    const firstMs = all.clock.ms;

    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 1, nextAtMs: firstMs + 2000 }),
    );
    all.clock.ms += 2000;
    all.outbox().wake();
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 2, nextAtMs: firstMs + 10_000 }),
    );
    all.clock.ms += 8000;
    all.outbox().wake();
    await all.settled('run-1');

    expect(all.shown()).toHaveLength(1);
    expect(await all.store.find('run-1')).toMatchObject({ lastError: null, attempts: 0 });
  });

  test('makes no second check run when the answer to the first was lost', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    // Another run of the stack on the same commit has a check of the same name.
    const other = await all.addRun('run-0');
    all.outbox().start();
    await all.tell(other, 'FINISHED');
    await all.settled('run-0');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 0, dropAnswer: true });

    await all.tell(run, 'QUEUED');
    await eventually(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));
    // The state goes on meanwhile: attempts are counted anew, the lost create is not forgotten.
    await all.tell(run, 'PLANNING');
    await all.settled('run-1');

    expect(all.shown()).toEqual([
      { externalId: 'run-0', status: 'completed', conclusion: 'success' },
      { externalId: 'run-1', status: 'in_progress', conclusion: null },
    ]);
    expect((await all.store.find('run-1'))?.remoteId).toBe(all.github.checkRuns[1]?.id);
  });

  test('makes no second check run when the process died between request and answer', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    await all.tell(run, 'QUEUED');
    // What a kill leaves: the create was announced and sent, nothing was written after it.
    await all.database.write((tx) => all.store.setCreateTried(tx, 'run-1'));
    const { desired } = (await all.store.find('run-1')) ?? {};
    const octokit = await all.app.asInstallation(all.installation.id);
    await octokit.request('POST /repos/acme/infra/check-runs', { ...(desired as CheckRunBody) });

    all.outbox().start();
    await all.settled('run-1');

    expect(all.shown()).toHaveLength(1);
  });

  test('shows the lines of a file once, when the answer to the first request was lost', async () => {
    await using all = await openOutbox();
    const commit = (await all.addRun('run-1')).commit.hash;
    const problems = [{ line: 3, column: 5, message: 'unknown key nmae; did you mean name?' }];
    const about = { id: 'file:1', commit, fileUrl: 'https://github.example/x', nowMs: all.clock.ms };
    const desired = fileCheckOf({ kind: 'refused', problems }, about);
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 0, dropAnswer: true });
    const wanted = checkRunItem(desired, { runId: null, repositoryId: all.repository.id });
    await all.database.write((tx) => all.store.want(tx, wanted, all.clock.ms));

    all.outbox().start();
    await eventually(async () => expect(await all.store.find('file:1')).toMatchObject({ attempts: 1 }));
    all.clock.ms += 2000;
    all.outbox().wake();
    await all.settled('file:1');

    expect(all.shown()).toEqual([{ externalId: 'file:1', status: 'completed', conclusion: 'failure' }]);
    expect(all.github.checkRuns[0]?.annotations).toMatchObject([
      { start_line: 3, annotation_level: 'failure' },
    ]);
  });

  test('goes on after a restart with what was not sent', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 500 });
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await eventually(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));

    await all.restart();
    all.clock.ms += 2000;
    all.outbox().start();

    await all.settled('run-1');
    expect(all.shown()).toHaveLength(1);
  });

  test('makes a new check run when GitHub has dropped the old one', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.settled('run-1');
    all.github.checkRuns.splice(0);

    await all.tell(run, 'FINISHED');
    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });

  test('lets GitHub alone for as long as it asks, for all runs of the installation', async () => {
    await using all = await openOutbox();
    const [first, second] = [await all.addRun('run-1'), await all.addRun('run-2')];
    const headers = { 'retry-after': '90' };
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 403, headers });
    all.outbox().start();
    const startMs = all.clock.ms;

    await all.tell(first, 'QUEUED');
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 0, nextAtMs: startMs + 90_000 }),
    );
    await all.tell(second, 'QUEUED');
    await eventually(async () =>
      expect(await all.store.find('run-2')).toMatchObject({ attempts: 0, nextAtMs: startMs + 90_000 }),
    );
    expect(all.writes()).toHaveLength(1);

    all.clock.ms += 90_000;
    all.outbox().wake();
    await all.settled('run-1');
    await all.settled('run-2');
    expect(all.shown()).toHaveLength(2);
  });

  test('puts off all that waits at once when the pace is reached, for a second at least', async () => {
    await using all = await openOutbox();
    const first = await all.addRun('run-0');
    all.outbox().start();
    await all.tell(first, 'FINISHED');
    await all.settled('run-0');
    const write = { method: 'PATCH', url: '/repos/{owner}/{repo}/check-runs/{check_run_id}', headers: {} };
    for (let count = 0; count < 162; count += 1) all.budget.record(all.installation.id, write);
    const runs = [await all.addRun('run-1'), await all.addRun('run-2'), await all.addRun('run-3')];
    all.clock.ms += 59_900;
    const backAtMs = all.clock.ms + 1000;
    for (const run of runs) await all.tell(run, 'QUEUED');

    await eventually(async () => expect(await all.store.nextDueMs([])).toBe(backAtMs));
    expect(all.writes()).toHaveLength(1);
    all.clock.ms = backAtMs;
    all.outbox().wake();

    for (const { id } of runs) await all.settled(id);
    expect(all.shown()).toHaveLength(4);
  });

  test('does not let one repository that fails hold up another run', async () => {
    await using all = await openOutbox();
    const [first, second] = [await all.addRun('run-1'), await all.addRun('run-2')];
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 500 });
    all.outbox().start();

    await all.tell(first, 'QUEUED');
    await all.tell(second, 'QUEUED');

    await all.settled('run-2');
    expect(await all.store.find('run-1')).toMatchObject({ isSettled: false });
  });

  test('gives up in the end, and takes the next state up again', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 500, times: maxAttempts });
    all.outbox().start();
    await all.tell(run, 'QUEUED');

    for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
      await eventually(async () =>
        expect(await all.store.find('run-1')).toMatchObject({ attempts: attempt }),
      );
      all.clock.ms += 30 * 60_000;
      all.outbox().wake();
    }
    await all.settled('run-1');
    expect(all.shown()).toEqual([]);
    expect((await all.store.find('run-1'))?.lastError).toContain('Ordered by failNext');

    await all.tell(run, 'FINISHED');
    await eventually(() => expect(all.shown()).toHaveLength(1));
  });

  test('bears refusals for longer than it takes to find out that the App was taken out of the repository', () => {
    const waits = Array.from({ length: maxRefusals - 1 }, (_, index) => backoffMs(index + 1));
    // A tenth more at most, and as long again for an answer that took its time.
    expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThan(2 * everyMs);
  });

  test.each([404, 410, 422])(
    'gives up soon after a %i, says so, and takes the next state up',
    async (status) => {
      await using all = await openOutbox();
      const run = await all.addRun('run-1');
      all.github.failNext({ method: 'POST', pathPattern: collection, status, times: maxRefusals });
      all.outbox().start();
      await all.tell(run, 'QUEUED');

      for (let attempt = 1; attempt < maxRefusals; attempt += 1) {
        await eventually(async () =>
          expect(await all.store.find('run-1')).toMatchObject({ attempts: attempt }),
        );
        all.clock.ms += backoffMs(attempt);
        all.outbox().wake();
      }
      await all.settled('run-1');

      expect(all.writes()).toHaveLength(maxRefusals);
      expect(await all.store.find('run-1')).toMatchObject({
        lastError: expect.stringContaining(`Ordered by failNext: ${status}`),
      });
      expect(await all.store.standing(all.clock.ms)).toEqual({ waiting: 0, givenUp: 1 });
      expect(all.errors.map((line) => JSON.parse(line))).toMatchObject([
        { item: 'run-1', kind: 'check_run', level: 50 },
      ]);
      await all.tell(run, 'FINISHED');
      await eventually(() => expect(all.shown()).toMatchObject([{ conclusion: 'success' }]));
      await all.settled('run-1');
      expect(await all.store.standing(0)).toEqual({ waiting: 0, givenUp: 0 });
    },
  );

  const resetAt = (seconds: number) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(seconds),
  });
  test.each<[string, number, Record<string, string>, string, number]>([
    ['the primary limit', 403, resetAt(Date.parse('2026-11-21T10:20:00Z') / 1000), 'API rate limit', 1200],
    ['the primary limit of today', 429, resetAt(Date.parse('2026-11-21T10:20:00Z') / 1000), '', 1200],
    ['the secondary limit', 403, { 'retry-after': '30' }, 'You have exceeded a secondary rate limit', 30],
    ['the secondary limit without a time', 403, {}, 'You have exceeded a secondary rate limit.', 60],
    ['a 429 without a time', 429, {}, 'Too many requests', 60],
    ['a time that is far away', 429, { 'retry-after': '999999' }, '', 3600],
    ['a time that is now', 429, { 'retry-after': '0' }, '', 1],
  ])('waits as long as %s says, and does not count it', async (_, status, headers, message, seconds) => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    const fault = { method: 'POST', pathPattern: collection, status, headers };
    all.github.failNext({ ...fault, ...(message === '' ? {} : { message }) });
    all.outbox().start();
    const startMs = all.clock.ms;

    await all.tell(run, 'QUEUED');
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({
        isSettled: false,
        attempts: 0,
        nextAtMs: startMs + seconds * 1000,
      }),
    );
    // The state goes on meanwhile; it is not sent before its time either.
    await all.tell(run, 'FINISHED');
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ nextAtMs: startMs + seconds * 1000 }),
    );
    expect(all.writes()).toHaveLength(1);
    all.clock.ms += seconds * 1000;
    all.outbox().wake();

    await all.settled('run-1');
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });

  test('keeps what is wanted while the App is suspended, however long, and shows the last of it after', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    const { account } = all.installation;
    const known = (suspended: boolean) =>
      all.database.write((tx) =>
        all.repositories.saveAccount(tx, {
          ...{ id: account.id, login: 'acme', installationId: all.installation.id },
          suspended,
        }),
      );
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.settled('run-1');

    // GitHub refuses before we have heard why.
    await all.github.suspendApp('acme', true);
    await all.tell(run, 'PLANNING');
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 0, nextAtMs: all.clock.ms + 60_000 }),
    );
    await known(true);
    await all.tell(run, 'FINISHED');
    all.clock.ms += 30 * 86_400_000;
    all.outbox().wake();
    expect(await all.store.find('run-1')).toMatchObject({ isSettled: false, attempts: 0 });
    await all.github.suspendApp('acme', false);
    await known(false);
    all.outbox().wake();

    await all.settled('run-1');
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });

  test('does not let a repository where GitHub does not answer hold up the others', async () => {
    await using all = await openOutbox();
    const other = await all.addOtherRepository('shop');
    const [stuck, free] = [await all.addRun('run-1'), await all.addRun('run-2', other)];
    const never = Promise.withResolvers<void>();
    all.beforeEach(async (name) => {
      if (name === 'infra') await never.promise;
    });
    all.outbox().start();

    await all.tell(stuck, 'QUEUED');
    await eventually(() => expect(all.underWay()).toBe(1));
    await all.tell(free, 'QUEUED', other);

    await all.settled('run-2');
    expect(await all.store.find('run-1')).toMatchObject({ isSettled: false });
    never.resolve();
    await all.settled('run-1');
  });

  test('does not wait for a time that a clock set back has moved far away', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 429 });
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await eventually(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ nextAtMs: all.clock.ms + 60_000 }),
    );

    all.clock.ms -= 86_400_000;
    all.outbox().wake();

    await all.settled('run-1');
  });

  test('keeps what is for a repository that the App does not see, until it does', async () => {
    await using all = await openOutbox();
    const { database, repositories, repository } = all;
    const run = await all.addRun('run-1');
    const known = await repositories.find(repository.id);
    await database.write((tx) => repositories.markRemoved(tx, [repository.id]));
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    expect(await all.store.nextDueMs([])).toBeNull();

    await database.write(async (tx) => known && (await repositories.saveRepository(tx, known)));
    all.outbox().wake();

    await all.settled('run-1');
    expect(all.writes()).toHaveLength(1);
  });

  test('repeats an update whose answer was lost', async () => {
    await using all = await openOutbox();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.settled('run-1');
    all.github.failNext({ method: 'PATCH', pathPattern: member, status: 0, dropAnswer: true });

    await all.tell(run, 'FINISHED');
    await eventually(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));
    all.clock.ms += 2000;
    all.outbox().wake();
    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });
});
