import type { Run } from '../../src/runs/run.ts';
import type { RunEvent } from '../../src/runs/run-event.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Tx } from '../../src/tx.ts';
import { aRun, aStack, stackSettings } from '../support/builders.ts';

export function anEvent(run: Partial<Run> = {}, change: Partial<Omit<RunEvent, 'run'>> = {}): RunEvent {
  return {
    run: aRun(run),
    stack: aStack(),
    timestampMs: Date.parse('2026-11-21T10:00:00Z'),
    actor: 'ada',
    note: null,
    ...change,
  };
}

/** The rows that a check run needs around it; other people's stores are not the subject here. */
export async function insertRun(database: Database, tx: Tx, run: Run, repository: Repository): Promise<void> {
  const db = database.inside(tx);
  const { id, accountId, installationId, fullName, defaultBranch } = repository;
  await db
    .insertInto('account')
    .values({ id: accountId, login: 'acme', installation_id: installationId, suspended: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const names = {
    full_name: fullName,
    default_branch: defaultBranch,
    is_private: 1,
    removed: 0,
    archived: 0,
    file_unread: 0,
  } as const;
  await db
    .insertInto('repository')
    .values({ id, account_id: accountId, installation_id: installationId, ...names })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const stack = {
    account_id: accountId,
    repository_id: id,
    settings: JSON.stringify(stackSettings()),
    lock: null,
    created_at_ms: 0,
  };
  await db
    .insertInto('stack')
    .values({ key: run.stackKey, id: run.stackKey, ...stack })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .insertInto('run')
    .values({
      id: run.id,
      stack_key: run.stackKey,
      type: run.type,
      state: run.state,
      state_version: run.stateVersion,
      branch: run.branch,
      commit_hash: run.commit.hash,
      commit: JSON.stringify(run.commit),
      pull_request: null,
      untrusted: 0,
      created_at_ms: run.createdAtMs,
      triggered_by: run.triggeredBy,
      started_by: run.startedBy,
      restarts: 0,
      had_worker: 0,
      renewed: 0,
      priority: 0,
      log_removed: 0,
      dedupe_key: run.id,
    })
    .execute();
}
