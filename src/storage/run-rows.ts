import type { Delta, Outcome, Run, RunState, RunType } from '../runs/run.ts';
import type { Phase, RunCommandRecord, StoredEvent } from '../runs/run-store.ts';
import type { PullRequest } from '../stacks/pull-request.ts';
import type { Commit } from '../stacks/repository.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { RunCommandRow, RunEventRow, RunRow } from './schema.ts';

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    stackKey: row.stack_key,
    type: row.type as RunType,
    state: row.state as RunState,
    stateVersion: row.state_version,
    branch: row.branch,
    commit: JSON.parse(row.commit) as Commit,
    ...(row.pull_request === null ? {} : { pullRequest: JSON.parse(row.pull_request) as PullRequest }),
    ...(row.untrusted === 1 ? { isUntrusted: true } : {}),
    createdAtMs: row.created_at_ms,
    triggeredBy: row.triggered_by,
    startedBy: row.started_by,
    ...(row.delta === null ? {} : { delta: JSON.parse(row.delta) as Delta }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.outcome === null ? {} : { outcome: row.outcome as Outcome }),
    ...(row.trouble === null ? {} : { trouble: JSON.parse(row.trouble) as ToolTrouble }),
    ...(row.command === null ? {} : { command: row.command }),
    ...(row.plan_digest === null ? {} : { planDigest: row.plan_digest }),
    ...(row.plan_likeness === null ? {} : { planLikeness: row.plan_likeness }),
    ...(row.changes_digest === null ? {} : { changesDigest: row.changes_digest }),
    restarts: row.restarts,
    hadWorker: row.had_worker === 1,
    isRenewed: row.renewed === 1,
    priority: row.priority,
    ...(row.log_removed === 1 ? { logRemoved: true } : {}),
  };
}

export function toEvent(row: Omit<RunEventRow, 'seq'>): StoredEvent {
  return {
    state: row.state as RunState,
    stateVersion: row.state_version,
    timestampMs: row.timestamp_ms,
    actor: row.actor,
    note: row.note,
  };
}

export function toCommand(row: RunCommandRow): RunCommandRecord {
  return {
    phase: row.phase as Phase,
    label: row.label,
    argv: JSON.parse(row.argv) as string[],
    startedAtMs: row.started_at_ms,
    durationMs: row.duration_ms,
    exitCode: row.exit_code,
  };
}
