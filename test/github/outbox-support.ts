import { expect } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { createOutbox } from '../../src/github/feedback/outbox.ts';
import type { PolicyLine } from '../../src/github/feedback/policy-lines.ts';
import { createFeedbackReactor } from '../../src/github/feedback/reactor.ts';
import { createSenders } from '../../src/github/feedback/senders.ts';
import { createLogger } from '../../src/logger.ts';
import type { Gates } from '../../src/runs/approvals/gates.ts';
import type { Run, RunState } from '../../src/runs/run.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import type { Database } from '../../src/storage/database.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { noApprovals } from '../support/approvals.ts';
import { aCommit, aRun, aStack } from '../support/builders.ts';
import { anEvent, insertRun } from './builders.ts';
import { eventually, startGithub, tempDatabase } from './support.ts';

/** On the runs and stacks of a database whose secrets nobody has to read. */
export function sendersOn(
  database: Database,
  clock: Clock,
  gates: Gates = noApprovals,
  lines: Readonly<Record<string, readonly PolicyLine[]>> = {},
) {
  const box = createSecretBox(Buffer.alloc(32, 7));
  const runs = createRunStore(database, box);
  return createSenders({
    stacks: createStackStore(database, box),
    runs,
    gates,
    appId: 7,
    webUrl: 'https://github.example',
    publicUrl: () => 'https://slipway.example.com',
    isSandboxed: true,
    clock,
    policyLines: async (runId) => lines[runId] ?? [],
  });
}

/** Reactor, outbox and stand-in, with a commit to show checks on. */
export async function openOutbox() {
  const started = await startGithub();
  const { github, app, budget, clock, installation } = started;
  const temp = await tempDatabase();
  const { database } = temp;
  const store = createOutboxStore(database);
  const repositories = createRepositoryStore(database);
  const errors: string[] = [];
  const logger = createLogger('error', { write: (line) => void errors.push(line) });
  let hold: (repositoryName: string) => Promise<void> = () => Promise.resolve();
  let underWay = 0;
  const slowed: typeof app = {
    ...app,
    async asInstallation(id) {
      const octokit = await app.asInstallation(id);
      octokit.hook.before('request', async (options) => {
        underWay += 1;
        await hold(String(options['repo']));
        underWay -= 1;
      });
      return octokit;
    },
  };
  const senders = sendersOn(database, clock);
  const parts = { app: slowed, senders, budget, store, repositories, transactions: database, clock, logger };
  const start = () => createOutbox(parts);
  let outbox = start();
  const reactor = createFeedbackReactor({
    calmMs: 0,
    store,
    clock,
    publicUrl: () => 'https://slipway.example.com',
    isSandboxed: true,
    onWanted: () => outbox.wake(),
  });
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  const hash = await github.commit(infra, { branch: 'main', message: 'Two', files: { a: '2' } });
  const repositoryOf = ({ id, name, owner }: typeof infra): Repository => ({
    id,
    accountId: owner.id,
    installationId: installation.id,
    fullName: `acme/${name}`,
    defaultBranch: 'main',
    isPrivate: true,
  });
  const repository = repositoryOf(infra);
  const heads = new Map([[repository.id, hash]]);

  return {
    ...started,
    store,
    database,
    repositories,
    repository,
    infra,
    clock,
    /** Lines of the log. */
    errors,
    /** Holds requests back before they leave. */
    beforeEach(wait: typeof hold) {
      hold = wait;
    },
    underWay: () => underWay,
    async addOtherRepository(name: string): Promise<Repository> {
      const added = await github.addRepository({ owner: 'acme', name, files: { a: '1' } });
      const commit = { branch: 'main', message: 'Two', files: { a: '2' } };
      heads.set(added.id, await github.commit(added, commit));
      return repositoryOf(added);
    },
    outbox: () => outbox,
    react: reactor,
    async restart() {
      await outbox[Symbol.asyncDispose]();
      outbox = start();
    },
    async addRun(id: string, where = repository): Promise<Run> {
      // FINISHED in its row only: of blocking runs the database allows one.
      const commit = aCommit({ hash: heads.get(where.id) ?? hash });
      const run = aRun({ id, commit });
      await database.write((tx) => insertRun(database, tx, { ...run, state: 'FINISHED' }, where));
      return run;
    },
    tell: (run: Run, state: RunState, where = repository) => {
      const stack = aStack({ repository: where });
      return database.write((tx) => reactor(tx, anEvent({ ...run, state }, { stack })));
    },
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
