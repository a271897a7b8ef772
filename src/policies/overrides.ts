import { type Actor, actorKey, actorName } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { Override, OverrideStore } from './override-store.ts';

/**
 * Lets a person take the responsibility for changes that plan policies deny. It changes no run: the next one of the
 * stack that would change just the same passes, as if the denials were warnings. Rights are the caller's business.
 */
export interface Overrides {
  /** Rejects with `not-denied` unless plan policies denied the run, and with `not-found`. */
  override(runId: string, request: { readonly actor: Actor; readonly reason: string }): Promise<Override>;
  /** Those given for what the run would change, on it or on a run before it; the oldest first. */
  of(run: Pick<Run, 'stackKey' | 'changesDigest'>): Promise<readonly Override[]>;
}

export function createOverrides(parts: {
  store: OverrideStore;
  runs: Pick<RunStore, 'find'>;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
}): Overrides {
  const { store, runs, transactions, clock, newId } = parts;

  return {
    of: async ({ stackKey, changesDigest }) =>
      changesDigest === undefined ? [] : store.ofChanges(stackKey, changesDigest),

    override: (runId, { actor, reason }) =>
      transactions.write(async (tx) => {
        const run = await runs.find(runId, tx);
        if (!run) throw new UserError('not-found', 'There is no such run.');
        const override = {
          id: newId(),
          stackKey: run.stackKey,
          runId,
          changesDigest: deniedChanges(run),
          actorKey: actorKey(actor),
          actorName: actorName(actor),
          reason,
          atMs: clock.nowMs(),
        };
        await store.insert(tx, override);
        return override;
      }),
  };
}

function deniedChanges({ outcome, state, changesDigest }: Run): string {
  if (outcome === 'policy_denied' && changesDigest !== undefined) return changesDigest;
  const why = whyNot[outcome ?? ''] ?? `the run is ${state}`;
  throw new UserError('not-denied', `Only what policies denied can be overridden; ${why}.`, {
    hint: 'A policy that cannot be evaluated has to be mended, or detached from the stack.',
  });
}

const whyNot: Readonly<Record<string, string>> = {
  policy_failed: 'a policy could not be evaluated',
  approval_rejected: 'approval policies have rejected it',
};
