import type { Clock } from '../../clock.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { showsDetails } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Tx } from '../../tx.ts';
import { aggregateIdOf } from './aggregate-check.ts';
import type { CheckRunBody } from './check-run.ts';
import type { OutboxStore } from './outbox-store.ts';

/** Something that came of a run besides its states, for the people who look at its commit. */
export interface RunNote {
  /** Of two notes of a run with the same key, the first is kept. */
  readonly key: string;
  /** Markdown, fit for everybody who may see that there is a run. */
  readonly text: string;
  /** The same with what only those may see who may read the stack. */
  readonly detailedText: string;
}

/**
 * Adds a note to the check run of a run: it is shown soon, and with every later state too. Called inside a
 * transaction; only writes rows. Nothing happens for a run that has no check run.
 */
export type NoteOnRun = (tx: Tx, runId: string, note: RunNote) => Promise<void>;

export function createNoteOnRun(parts: {
  readonly store: Pick<OutboxStore, 'addNote' | 'find'>;
  readonly runs: Pick<RunStore, 'find'>;
  readonly stacks: Pick<StackStore, 'findByKey'>;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): NoteOnRun {
  return async (tx, runId, { key, text, detailedText }) => {
    const run = await parts.runs.find(runId, tx);
    const stack = run && (await parts.stacks.findByKey(run.stackKey, tx));
    if (!stack) return;
    const shown = showsDetails(stack) ? detailedText : text;
    const nowMs = parts.clock.nowMs();
    const inAggregate = { key: `${runId}:${key}`, text: `${stack.id}: ${shown}` };
    const isAdded =
      stack.settings.checks === 'aggregate' && !(await parts.store.find(runId, tx))
        ? await parts.store.addNote(tx, aggregateIdOf(run, stack), inAggregate, nowMs)
        : await parts.store.addNote(tx, runId, { key, text: shown }, nowMs);
    if (isAdded) tx.afterCommit(parts.onWanted);
  };
}

/** GitHub takes 65,535 characters; a stack may have any number of webhooks. */
const maxShown = 20;

/** Pure. */
export function withNotes(body: CheckRunBody, notes: readonly string[]): CheckRunBody {
  if (notes.length === 0) return body;
  const rest = notes.length - maxShown;
  const paragraphs = [
    body.output.summary,
    ...notes.slice(0, maxShown),
    ...(rest > 0 ? [`And ${rest} more of this kind.`] : []),
  ];
  return { ...body, output: { ...body.output, summary: paragraphs.join('\n\n') } };
}
