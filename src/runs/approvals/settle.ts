import type { Clock } from '../../clock.ts';
import type { Tx } from '../../tx.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Transitions } from '../transition.ts';
import { type GateOutcome, judgedBy, type RunGate } from './gate.ts';
import type { GateStore } from './gate-store.ts';
import type { Guards } from './guards.ts';
import { isReviewed } from './review.ts';

/** What approval policies said of a run as it stood. */
export interface ApprovalVerdict {
  readonly outcome: GateOutcome;
  /** Which policies said it, "id version" each. */
  readonly guards: readonly string[];
  /** For people, without a full stop. */
  readonly note: string | null;
}

export type Settled =
  /** `isNews`: it is not what they had said already. */
  | { readonly kind: 'settled'; readonly isNews: boolean }
  /** The run is not any more where it was judged. */
  | { readonly kind: 'run-moved' }
  /** Other policies judge the stack by now: they are to be asked. */
  | { readonly kind: 'policies-changed' };

/**
 * Lets a run go on, wait or fail by what its approval policies said: in the caller's transaction, and only while the
 * run and its policies are what was judged.
 */
export type SettleApproval = (tx: Tx, judged: Run, verdict: ApprovalVerdict) => Promise<Settled>;

export function createSettleApproval(parts: {
  runs: Pick<RunStore, 'find'>;
  runGates: GateStore;
  guards: Guards;
  transitions: Transitions;
  wake: (stackKey: string) => void;
  /** What is shown of the run has changed, although its state has not. */
  onGateChanged: (tx: Tx, run: Run) => Promise<void>;
  clock: Clock;
}): SettleApproval {
  const { runs, runGates } = parts;

  async function act(tx: Tx, run: Run, gate: RunGate): Promise<void> {
    const by = { actor: 'policy', note: gate.note };
    if (gate.outcome === 'rejected') {
      await move(tx, run, 'reject', { ...by, change: { outcome: 'approval_rejected' } });
    } else if (gate.outcome === 'approved' && run.state === 'PENDING_REVIEW') {
      await move(tx, run, 'approve', by);
    } else if (gate.outcome === 'approved' && run.state === 'QUEUED') {
      tx.afterCommit(() => parts.wake(run.stackKey));
    }
  }

  async function move(
    tx: Tx,
    run: Run,
    kind: 'approve' | 'reject',
    by: Parameters<Transitions['move']>[3],
  ): Promise<void> {
    const moved = await parts.transitions.move(tx, run, { kind }, by);
    if (moved.kind !== 'moved') throw new Error(`${kind} was refused in ${run.state}`);
  }

  return async (tx, judged, { outcome, guards, note }) => {
    const run = await runs.find(judged.id, tx);
    if (run?.stateVersion !== judged.stateVersion || !isReviewed(run.state)) return { kind: 'run-moved' };
    const before = await runGates.find(run.id, tx);
    const gate: RunGate = {
      ...{ runId: run.id, stateVersion: run.stateVersion, outcome, note },
      ...{ judged: judgedBy(guards), atMs: parts.clock.nowMs() },
    };
    if (gate.judged !== judgedBy(await parts.guards.guardsOf(run.stackKey, tx)))
      return { kind: 'policies-changed' };
    if (before && saysTheSame(before, gate)) return { kind: 'settled', isNews: false };
    await runGates.save(tx, gate);
    await parts.onGateChanged(tx, run);
    await act(tx, run, gate);
    return { kind: 'settled', isNews: true };
  };
}

function saysTheSame(one: RunGate, other: RunGate): boolean {
  return (['stateVersion', 'outcome', 'judged', 'note'] as const).every((key) => one[key] === other[key]);
}
