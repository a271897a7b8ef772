import type { RunStore } from '../runs/run-store.ts';
import type { Database } from './database.ts';
import { toCommand, toEvent } from './run-rows.ts';

type RecordMethods = Pick<RunStore, 'events' | 'eventsAfter' | 'insertEvent' | 'addCommand' | 'commands'>;

/** What is written down of a run as it goes on: its state changes, and the commands that it executed. */
export function createRunRecords(database: Database): RecordMethods {
  return {
    async events(runId, tx) {
      const query = (tx ? database.inside(tx) : database.read)
        .selectFrom('run_event')
        .selectAll()
        .where('run_id', '=', runId);
      return (await query.orderBy('state_version').execute()).map(toEvent);
    },

    async eventsAfter(runId, stateVersion) {
      const query = database.read.selectFrom('run_event').selectAll().where('run_id', '=', runId);
      const later = query.where('state_version', '>', stateVersion);
      return (await later.orderBy('state_version').execute()).map(toEvent);
    },

    async insertEvent(tx, runId, event) {
      const { state, stateVersion, timestampMs, actor, note } = event;
      await database
        .inside(tx)
        .insertInto('run_event')
        .values({
          run_id: runId,
          state,
          state_version: stateVersion,
          timestamp_ms: timestampMs,
          actor,
          note,
        })
        .execute();
    },

    async addCommand(tx, runId, command) {
      const db = database.inside(tx);
      const last = await db
        .selectFrom('run_command')
        .select((select) => select.fn.max('ordinal').as('ordinal'))
        .where('run_id', '=', runId)
        .executeTakeFirst();
      await db
        .insertInto('run_command')
        .values({
          run_id: runId,
          ordinal: (last?.ordinal ?? 0) + 1,
          phase: command.phase,
          label: command.label,
          argv: JSON.stringify(command.argv),
          started_at_ms: command.startedAtMs,
          duration_ms: command.durationMs,
          exit_code: command.exitCode,
        })
        .execute();
    },

    async commands(runId, tx) {
      const query = (tx ? database.inside(tx) : database.read)
        .selectFrom('run_command')
        .selectAll()
        .where('run_id', '=', runId);
      return (await query.orderBy('ordinal').execute()).map(toCommand);
    },
  };
}
