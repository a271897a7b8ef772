import { expect } from 'vitest';
import { createFeedbackOutbox } from '../../src/github/feedback/outbox.ts';
import { createFeedbackReactor } from '../../src/github/feedback/reactor.ts';
import type { Run, RunState } from '../../src/runs/run.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { createCheckRunStore } from '../../src/storage/check-run-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { aCommit, aRun, aStack } from '../support/builders.ts';
import { anEvent, insertRun } from './builders.ts';
import { aClock, eventually, silent, startGithub, tempDatabase } from './support.ts';

/** Reactor, outbox and stand-in, with a commit to show checks on. */
export async function openOutbox() {
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
      eventually(async () => expect(await store.find(id)).toMatchObject({ isSettled: true })),
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
