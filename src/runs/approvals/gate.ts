import { createHash } from 'node:crypto';
import type { Run } from '../run.ts';
import { isReviewed } from './review.ts';

/** What the approval policies of its stack said last of a run, all of them together. */
export interface RunGate {
  readonly runId: string;
  /** Counts while the run has it still. */
  readonly stateVersion: number;
  readonly outcome: GateOutcome;
  /** Which policies those were (`judgedBy`). */
  readonly judged: string;
  /** Who approved, or what is missing: for people, without a full stop. */
  readonly note: string | null;
  readonly atMs: number;
}

/** `failed`: a policy could not be evaluated, which approves nothing. */
export type GateOutcome = 'approved' | 'rejected' | 'undecided' | 'failed';

/** Whether a run may go on, as far as approval policies are asked. */
export type GateStanding =
  /** `isGuarded`: policies approved. Else there are none. */
  | { readonly kind: 'open'; readonly isGuarded: boolean }
  | {
      readonly kind: 'shut';
      /** For people, without a full stop. */
      readonly reason: string;
      /** The policies as they are now have said nothing of it yet. */
      readonly isUnjudged: boolean;
    };

/** SHA-256, in hex, of the policies that judge: "id version" each. */
export const judgedBy = (guards: readonly string[]): string =>
  createHash('sha256').update(guards.toSorted().join('\n')).digest('hex');

/** The one rule of the gate: it is open when the policies of now have approved the run as it stands. */
export function standingOf(
  run: Pick<Run, 'state' | 'stateVersion'>,
  guards: readonly string[],
  gate: RunGate | null,
): GateStanding {
  if (!isReviewed(run.state) || guards.length === 0) return { kind: 'open', isGuarded: false };
  if (gate?.stateVersion !== run.stateVersion) {
    return shut('the approval policies of the stack have not judged it yet', true);
  }
  if (gate.judged !== judgedBy(guards)) {
    return shut('the approval policies of the stack have changed and judge it anew', true);
  }
  if (gate.outcome === 'approved') return { kind: 'open', isGuarded: true };
  return shut(gate.note ?? 'the approval policies of the stack have not approved it', false);
}

const shut = (reason: string, isUnjudged: boolean): GateStanding => ({ kind: 'shut', reason, isUnjudged });
