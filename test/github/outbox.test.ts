import { describe, expect, test, vi } from 'vitest';
import { maxAttempts } from '../../src/github/backoff.ts';
import { createFeedbackOutbox } from '../../src/github/feedback/outbox.ts';
import { createFeedbackReactor } from '../../src/github/feedback/reactor.ts';
import type { Run, RunState } from '../../src/runs/run.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { createCheckRunStore } from '../../src/storage/check-run-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { aCommit, aRun, aStack } from '../support/builders.ts';
import { anEvent, insertRun } from './builders.ts';
import { aClock, silent, startGithub, tempDatabase } from './support.ts';

async function open() {
  const started = await startGithub();
  const { github, app, installation } = started;
  const temp = await tempDatabase();
  const { database } = temp;
  const store = createCheckRunStore(database);
  const repositories = createRepositoryStore(database);
  const clock = aClock();
  const parts = { app, store, repositories, transactions: database, clock, logger: silent };
  const start = () => createFeedbackOutbox(parts);
  let outbox = start();
  const reactor = createFeedbackReactor({
    store,
    clock,
    publicUrl: () => 'https://slipway.example.com',
    isSandboxed: true,
    onWanted: () => outbox.wake(),
  });
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  const hash = await github.commit(infra, { branch: 'main', message: 'Two', files: { a: '2' } });
  const repository: Repository = {
    id: infra.id,
    accountId: infra.owner.id,
    installationId: installation.id,
    fullName: 'acme/infra',
    defaultBranch: 'main',
    isPrivate: true,
  };

  return {
    ...started,
    store,
    database,
    repositories,
    repository,
    infra,
    clock,
    outbox: () => outbox,
    async restart() {
      await outbox[Symbol.asyncDispose]();
      outbox = start();
    },
    async addRun(id: string): Promise<Run> {
      // FINISHED in its row only: of blocking runs the database allows one.
      const run = aRun({ id, commit: aCommit({ hash }) });
      await database.write((tx) => insertRun(database, tx, { ...run, state: 'FINISHED' }, repository));
      return run;
    },
    tell: (run: Run, state: RunState) =>
      database.write((tx) => reactor(tx, anEvent({ ...run, state }, { stack: aStack({ repository }) }))),
    settled: (id: string) =>
      vi.waitFor(async () => expect(await store.find(id)).toMatchObject({ isSettled: true })),
    shown: () =>
      github.checkRuns.map(({ externalId, status, conclusion }) => ({ externalId, status, conclusion })),
    writes: () =>
      github.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/check-runs')),
    async [Symbol.asyncDispose]() {
      await outbox[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

const collection = /\/check-runs$/;
const member = /\/check-runs\/\d+$/;

describe('the feedback outbox', () => {
  test('makes one check run for a run and brings it along from state to state', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.outbox().start();

    for (const state of ['QUEUED', 'PLANNING', 'UNCONFIRMED'] as const) {
      await all.tell(run, state);
      await all.settled('run-1');
    }

    expect(all.shown()).toEqual([
      { externalId: 'run-1', status: 'completed', conclusion: 'action_required' },
    ]);
    const [check] = all.github.checkRuns;
    expect(check).toMatchObject({ name: 'slipway/network-prod', headSha: run.commit.hash });
    expect(check?.actions.map(({ identifier }) => identifier)).toEqual(['confirm', 'discard']);
    await all.tell(run, 'APPLYING');
    await all.settled('run-1');
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'in_progress', conclusion: null }]);
    expect(check?.actions).toEqual([]);
  });

  test('sends the newest state only', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    for (const state of ['QUEUED', 'READY', 'PREPARING', 'PLANNING', 'FINISHED'] as const) {
      await all.tell(run, state);
    }

    all.outbox().start();
    await all.settled('run-1');

    expect(all.writes()).toHaveLength(1);
    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });

  test('sends what was wanted while it was sending', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.tell(run, 'PREPARING');
    await all.tell(run, 'FINISHED');

    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
    const statuses = all.writes().map(({ body }) => (body as { status: string }).status);
    expect(statuses.at(-1)).toBe('completed');
  });

  test('writes nothing when the state change is rolled back', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    const reactor = createFeedbackReactor({
      store: all.store,
      clock: all.clock,
      publicUrl: () => 'https://slipway.example.com',
      isSandboxed: true,
      onWanted: () => undefined,
    });

    const work = all.database.write(async (tx) => {
      await reactor(tx, anEvent(run));
      throw new Error('somebody was faster');
    });

    await expect(work).rejects.toThrow('somebody was faster');
    expect(await all.store.find('run-1')).toBeNull();
  });

  test.each([500, 502, 403, 404, 422])('tries again after a %i, later each time', async (status) => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status, times: 2 });
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    const firstMs = all.clock.ms;

    await vi.waitFor(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 1, nextAtMs: firstMs + 2000 }),
    );
    all.clock.ms += 2000;
    all.outbox().wake();
    await vi.waitFor(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 2, nextAtMs: firstMs + 10_000 }),
    );
    all.clock.ms += 8000;
    all.outbox().wake();
    await all.settled('run-1');

    expect(all.shown()).toHaveLength(1);
    expect(await all.store.find('run-1')).toMatchObject({ lastError: null, attempts: 0 });
  });

  test('makes no second check run when the answer to the first was lost', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    // Another run of the stack on the same commit has a check of the same name.
    const other = await all.addRun('run-0');
    all.outbox().start();
    await all.tell(other, 'FINISHED');
    await all.settled('run-0');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 0, dropAnswer: true });

    await all.tell(run, 'QUEUED');
    await vi.waitFor(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));
    // The state goes on meanwhile: attempts are counted anew, the lost create is not forgotten.
    await all.tell(run, 'PLANNING');
    await all.settled('run-1');

    expect(all.shown()).toEqual([
      { externalId: 'run-0', status: 'completed', conclusion: 'success' },
      { externalId: 'run-1', status: 'in_progress', conclusion: null },
    ]);
    expect((await all.store.find('run-1'))?.checkRunId).toBe(all.github.checkRuns[1]?.id);
  });

  test('makes no second check run when the process died between request and answer', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    await all.tell(run, 'QUEUED');
    // What a kill leaves: the create was announced and sent, nothing was written after it.
    await all.database.write((tx) => all.store.setCreateTried(tx, 'run-1'));
    const { octokit, desired } = {
      octokit: await all.app.asInstallation(all.installation.id),
      desired: (await all.store.find('run-1'))?.desired,
    };
    const target = { owner: 'acme', repo: 'infra' };
    await octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...target, ...desired } as never);

    all.outbox().start();
    await all.settled('run-1');

    expect(all.shown()).toHaveLength(1);
  });

  test('goes on after a restart with what was not sent', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 500 });
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await vi.waitFor(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));

    await all.restart();
    all.clock.ms += 2000;
    all.outbox().start();

    await all.settled('run-1');
    expect(all.shown()).toHaveLength(1);
  });

  test('makes a new check run when GitHub has dropped the old one', async () => {
    await using all = await open();
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
    await using all = await open();
    const [first, second] = [await all.addRun('run-1'), await all.addRun('run-2')];
    const headers = { 'retry-after': '90' };
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 403, headers });
    all.outbox().start();
    const startMs = all.clock.ms;

    await all.tell(first, 'QUEUED');
    await vi.waitFor(async () =>
      expect(await all.store.find('run-1')).toMatchObject({ attempts: 1, nextAtMs: startMs + 90_000 }),
    );
    await all.tell(second, 'QUEUED');
    await vi.waitFor(async () =>
      expect(await all.store.find('run-2')).toMatchObject({ attempts: 0, nextAtMs: startMs + 90_000 }),
    );
    expect(all.writes()).toHaveLength(1);

    all.clock.ms += 90_000;
    all.outbox().wake();
    await all.settled('run-1');
    await all.settled('run-2');
    expect(all.shown()).toHaveLength(2);
  });

  test('does not let one repository that fails hold up another run', async () => {
    await using all = await open();
    const [first, second] = [await all.addRun('run-1'), await all.addRun('run-2')];
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 500 });
    all.outbox().start();

    await all.tell(first, 'QUEUED');
    await all.tell(second, 'QUEUED');

    await all.settled('run-2');
    expect(await all.store.find('run-1')).toMatchObject({ isSettled: false });
  });

  test('gives up in the end, and takes the next state up again', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.github.failNext({ method: 'POST', pathPattern: collection, status: 422, times: maxAttempts });
    all.outbox().start();
    await all.tell(run, 'QUEUED');

    for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
      await vi.waitFor(async () =>
        expect(await all.store.find('run-1')).toMatchObject({ attempts: attempt }),
      );
      all.clock.ms += 30 * 60_000;
      all.outbox().wake();
    }
    await all.settled('run-1');
    expect(all.shown()).toEqual([]);
    expect((await all.store.find('run-1'))?.lastError).toContain('Ordered by failNext');

    await all.tell(run, 'FINISHED');
    await vi.waitFor(() => expect(all.shown()).toHaveLength(1));
  });

  test('sends nothing for a repository that the App no longer sees', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    await all.database.write((tx) => all.repositories.markRemoved(tx, [all.repository.id]));
    all.outbox().start();

    await all.tell(run, 'QUEUED');
    await all.settled('run-1');

    expect(await all.store.find('run-1')).toMatchObject({
      lastError: 'the App no longer sees the repository',
    });
    expect(all.writes()).toEqual([]);
  });

  test('repeats an update whose answer was lost', async () => {
    await using all = await open();
    const run = await all.addRun('run-1');
    all.outbox().start();
    await all.tell(run, 'QUEUED');
    await all.settled('run-1');
    all.github.failNext({ method: 'PATCH', pathPattern: member, status: 0, dropAnswer: true });

    await all.tell(run, 'FINISHED');
    await vi.waitFor(async () => expect(await all.store.find('run-1')).toMatchObject({ attempts: 1 }));
    all.clock.ms += 2000;
    all.outbox().wake();
    await all.settled('run-1');

    expect(all.shown()).toEqual([{ externalId: 'run-1', status: 'completed', conclusion: 'success' }]);
  });
});
