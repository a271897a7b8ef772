import { awayReason } from '../stacks/away.ts';
import { isLockedFor, type Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Gates } from './approvals/gates.ts';
import { isBlocking, type Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/** What keeps a waiting run back; of one that waits for people (UNCONFIRMED, PENDING_REVIEW) what they have to see to first. */
export type Blocker =
  | { readonly kind: 'run'; readonly run: string; readonly state: Run['state'] }
  | { readonly kind: 'lock'; readonly holder: string; readonly reason: string }
  | { readonly kind: 'repository'; readonly reason: string }
  | { readonly kind: 'approval'; readonly reason: string };

/** The blocking runs of a stack, as far as they decide who is next. */
export interface Line {
  readonly active: Run | null;
  /** Of those whom the lock does not keep back: its holder locked the stack to be first. */
  readonly first: Run | null;
}

export type LineStore = Pick<RunStore, 'activeRun' | 'firstQueued'>;

export async function readLine(runs: LineStore, { key, lock }: Stack, tx?: Tx): Promise<Line> {
  const first = lock?.kind === 'system' ? null : await runs.firstQueued(key, lock?.holderKey ?? null, tx);
  return { active: await runs.activeRun(key, tx), first };
}

/** Null when it is the turn of the run. */
export function blockerOf(
  run: Run,
  { active, first }: Line,
  stack: Pick<Stack, 'lock' | 'away' | 'repository'>,
): Blocker | null {
  const away = awayReason(stack);
  if (away !== null) return { kind: 'repository', reason: away };
  if (!isBlocking(run.type)) return null;
  if (active && active.id !== run.id) return { kind: 'run', run: active.id, state: active.state };
  if (isLockedFor(stack.lock, run.startedBy)) {
    return { kind: 'lock', holder: stack.lock.holder, reason: stack.lock.reason };
  }
  return first && first.id !== run.id ? { kind: 'run', run: first.id, state: first.state } : null;
}

/** As of now: for whoever shows a run. Null: nothing but a machine, or a person's yes. */
export async function readBlocker(
  { runs, gates }: { readonly runs: LineStore; readonly gates: Gates },
  run: Run,
  stack: Stack,
): Promise<Blocker | null> {
  const before = run.state === 'QUEUED' ? blockerOf(run, await readLine(runs, stack), stack) : null;
  if (before) return before;
  const standing = await gates.standing(run);
  return standing.kind === 'shut' ? { kind: 'approval', reason: standing.reason } : null;
}
