import type { Tx } from '../../tx.ts';
import { UserError } from '../../user-error.ts';
import type { Run } from '../run.ts';
import { type GateStanding, standingOf } from './gate.ts';
import type { GateStore } from './gate-store.ts';
import type { Guards } from './guards.ts';
import { isReviewed } from './review.ts';

/** Asks whether approval policies let a run go on. Who goes by the answer asks inside the transaction that does. */
export interface Gates {
  standing(run: Pick<Run, 'id' | 'stackKey' | 'state' | 'stateVersion'>, tx?: Tx): Promise<GateStanding>;
}

export function createGates(parts: { guards: Guards; runGates: Pick<GateStore, 'find'> }): Gates {
  return {
    async standing(run, tx) {
      if (!isReviewed(run.state)) return standingOf(run, [], null);
      const guards = await parts.guards.guardsOf(run.stackKey, tx);
      return standingOf(run, guards, guards.length === 0 ? null : await parts.runGates.find(run.id, tx));
    },
  };
}

/** Throws `approval-required`, with what is missing, while the gate is shut. */
export function requireOpen(standing: GateStanding): void {
  if (standing.kind === 'open') return;
  throw new UserError('approval-required', `The run waits for approval: ${standing.reason}.`, {
    hint: 'Approve it, or let those approve it whom the policies ask for; then confirm.',
  });
}
