import { type Actor, actorKey } from '../access/actor.ts';
import { isLockedFor, type Stack, vendorName } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { VendorRules } from '../stacks/vendor-settings.ts';
import type { Transactions, Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { RunCommands } from './commands.ts';
import { requireTracked } from './requirements.ts';
import { isTerminal, type Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/**
 * What is left of a run that was cut off, or that met a lock of the tool, is mended by one command of the tool in a TASK
 * run: so no other run of the stack is under way meanwhile.
 */
export interface Mending {
  /** Null: the run met no trouble. `who`: whose run it would be (`actorKey`). */
  standing(run: Run, stack: Stack, who: string, tx?: Tx): Promise<MendStanding | null>;
  /** Starts the task. Rejects with `nothing-to-mend`, `locked`, `commit-not-tracked` or `repository-away`. */
  start(runId: string, by: Actor): Promise<Run>;
}

/** Whether the trouble of a run can be mended now. */
export type MendStanding =
  | { readonly kind: 'possible'; readonly command: string }
  /** It would wait for that lock. */
  | { readonly kind: 'locked'; readonly command: string; readonly holder: string; readonly reason: string }
  /** A run that is on its way, the task that mends it maybe. */
  | { readonly kind: 'under-way'; readonly run: string }
  /** A run since then went through, or says more recently how the state is. */
  | { readonly kind: 'past'; readonly run: string }
  /** What a preview runs may be anybody's: it gets no more than it had. */
  | { readonly kind: 'preview' }
  /** The tool has no command for it. */
  | { readonly kind: 'unknown' };

interface MendFacts {
  readonly run: Run;
  /** The blocking runs of the stack that are newer, newest first. */
  readonly newer: readonly Run[];
  readonly command: string | null;
  readonly lock: Stack['lock'];
  readonly who: string;
}

/** Of a run with trouble. Pure. */
export function mendStanding({ run, newer, command, lock, who }: MendFacts): MendStanding {
  if (run.type === 'PROPOSED') return { kind: 'preview' };
  const since = newer.find(({ state, trouble }) => trouble !== undefined || state === 'FINISHED');
  if (since) return { kind: 'past', run: since.id };
  if (command === null) return { kind: 'unknown' };
  const busy = newer.find((each) => isUnderWay(each) || (isWaiting(each) && each.command === command));
  if (busy) return { kind: 'under-way', run: busy.id };
  if (!isLockedFor(lock, who)) return { kind: 'possible', command };
  return { kind: 'locked', command, holder: lock.holder, reason: lock.reason };
}

const isWaiting = ({ state }: Run): boolean => state === 'QUEUED';
const isUnderWay = (run: Run): boolean => !isWaiting(run) && !isTerminal(run.state);

/** Far more than come after a trouble while nobody sees to it; what is older is past anyway. */
const maxNewer = 100;

export function createMending(parts: {
  runs: Pick<RunStore, 'find' | 'newestBlocking'>;
  stacks: Pick<StackStore, 'findByKey'>;
  commands: Pick<RunCommands, 'create'>;
  vendors: readonly Pick<VendorRules, 'name' | 'mend'>[];
  transactions: Transactions;
}): Mending {
  const { runs, stacks, commands, vendors, transactions } = parts;

  async function standing(run: Run, stack: Stack, who: string, tx?: Tx): Promise<MendStanding | null> {
    const { trouble } = run;
    if (!trouble) return null;
    const rules = vendors.find(({ name }) => name === vendorName(stack.settings.vendor));
    const command = rules?.mend(trouble) ?? null;
    const newer = (await runs.newestBlocking(stack.key, maxNewer, tx)).filter(({ id }) => id > run.id);
    return mendStanding({ run, newer, command, lock: stack.lock, who });
  }

  return {
    standing,
    start: (runId, by) =>
      transactions.write(async (tx) => {
        const run = await runs.find(runId, tx);
        const stack = run && (await stacks.findByKey(run.stackKey, tx));
        if (!run || !stack) throw new UserError('not-found', 'There is no such run.');
        const found = await standing(run, stack, actorKey(by), tx);
        if (found?.kind !== 'possible') throw refusal(found);
        requireTracked(stack.settings, 'TASK', run.branch);
        const { stackKey, branch, commit } = run;
        const task = { type: 'TASK', command: found.command, note: `mends what run ${run.id} met` } as const;
        const made = await commands.create({ stackKey, branch, commit, ...task, by, dedupeKey: null }, tx);
        if (made === 'duplicate') throw new Error('a run without a dedupe key cannot be a duplicate');
        return made;
      }),
  };
}

function refusal(standing: Exclude<MendStanding, { kind: 'possible' }> | null): UserError {
  const nothing = (text: string, hint?: string) =>
    new UserError('nothing-to-mend', text, hint === undefined ? {} : { hint });
  switch (standing?.kind) {
    case undefined:
      return nothing('The run met nothing that could be mended.');
    case 'past':
      return nothing('That is past.', `Run ${standing.run} came since and says how the state is.`);
    case 'under-way':
      return nothing(
        'Another run of the stack is under way, maybe the one that mends it.',
        `Wait for run ${standing.run}, or end it.`,
      );
    case 'preview':
      return nothing(
        'A preview is not mended: what it runs may be anybody’s.',
        'Start a run of the tracked branch. What it meets can be mended.',
      );
    case 'unknown':
      return nothing('The tool has no command that would mend this.', 'The note of the run says what to do.');
    case 'locked':
      return new UserError('locked', `The stack is locked by ${standing.holder}: the task would wait.`, {
        hint: 'Unlock the stack first, once you have checked the real state.',
      });
  }
}
