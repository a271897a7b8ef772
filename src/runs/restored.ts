import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { isServersOwn } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { JobQueue } from './job-queue.ts';
import { type JudgeJob, judgeQueue } from './judge-jobs.ts';
import { changesTheWorld, isBlocking, isTerminal, type Run, type RunState, runStates } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { StackList } from './stack-list.ts';
import type { Transitions } from './transition.ts';

/** Whether this database came out of a backup and no server has run on it since. */
export interface BackupMark {
  /** When the backup was made; null for a database that lives. */
  takenAtMs(tx: Tx): Promise<number | null>;
  /** It lives again: what must not go on where the backup left it (sessions, the cursors of events) is moved on. */
  clear(tx: Tx): Promise<void>;
}

export interface Restored {
  /**
   * Before the recovery of a start. A backup knows nothing of what happened after it: what it holds as waiting may be
   * done, and an apply that it never heard of may have been cut off. So no run goes on that could change anything, none
   * is started after another, and every stack is locked until a person has looked. In one transaction; nothing for a
   * database that lives.
   */
  settle(): Promise<void>;
}

const doubtful: ReadonlySet<RunState> = new Set(
  runStates.filter((state) => !isTerminal(state) && !changesTheWorld.has(state)),
);

export function createRestored(parts: {
  mark: BackupMark;
  runs: RunStore;
  stacks: StackStore;
  stackList: Pick<StackList, 'places'>;
  queue: Pick<JobQueue, 'unfinished' | 'cancel'>;
  transitions: Transitions;
  transactions: Transactions;
  clock: Clock;
  logger: Logger;
}): Restored {
  const { mark, runs, stacks, stackList, queue, transitions, transactions, clock, logger } = parts;

  /** What may have changed something since; recovery ends what was changing something then. */
  async function endDoubtful(tx: Tx, ids: readonly string[], since: string): Promise<void> {
    for (const id of ids) {
      const run = await runs.find(id, tx);
      if (run && doubtful.has(run.state) && isBlocking(run.type)) await abandon(tx, run, since);
    }
  }

  async function abandon(tx: Tx, run: Run, since: string): Promise<void> {
    const note = `The server was restored from a backup of ${since}, when this run was ${run.state}; it may have gone on after it.\nCheck the real state, then start another run.`;
    const by = { actor: 'server', note, change: { outcome: 'backup_restored' } } as const;
    const moved = await transitions.move(tx, run, { kind: 'abandon' }, by);
    if (moved.kind !== 'moved') throw new Error(`abandon was refused in ${run.state}`);
  }

  /** Trigger policies may have been asked since, and what they wanted may have run; of what was given up here they are not asked. */
  async function startNothing(tx: Tx): Promise<void> {
    for (const { key, data } of await queue.unfinished(tx, judgeQueue)) {
      if ((data as JudgeJob).kind === 'trigger') await queue.cancel(tx, judgeQueue, key);
    }
  }

  async function lock(tx: Tx, key: string, since: string): Promise<void> {
    // Recovery locks for what was changing something, and says which run it was.
    const active = await runs.activeRun(key, tx);
    if (active && changesTheWorld.has(active.state)) return;
    const before = (await stacks.findByKey(key, tx))?.lock ?? null;
    if (before && isServersOwn(before)) return;
    await stacks.setLock(tx, key, {
      holder: 'slipway',
      holderKey: '',
      kind: 'system',
      reason: `The server was restored from a backup of ${since}. Check what happened since, then unlock the stack.`,
      run: null,
      sinceMs: clock.nowMs(),
      ...(before ? { covers: before } : {}),
    });
  }

  return {
    async settle() {
      const takenAtMs = await transactions.write((tx) => mark.takenAtMs(tx));
      if (takenAtMs === null) return;
      const since = new Date(takenAtMs).toISOString();
      const runIds = (await runs.inState([...doubtful])).map(({ id }) => id);
      const keys = (await stackList.places({})).map(({ key }) => key);
      await transactions.write(async (tx) => {
        await endDoubtful(tx, runIds, since);
        await startNothing(tx);
        for (const key of keys) await lock(tx, key, since);
        await mark.clear(tx);
      });
      logger.warn({ takenAt: since, stacks: keys.length }, 'restored from a backup: every stack is locked');
    },
  };
}
