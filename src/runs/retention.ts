import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { LogStore } from './log-store.ts';

/**
 * Lets go of what is old: the logs of runs first, later the runs themselves with all that hangs on them. In small
 * transactions with pauses between them, so that nobody who writes has to wait. What a run still needs is never
 * taken: a run that is not over, one of the newest of its stack, the newest of its type there (that there ever was one
 * means something), one of which a webhook has still to be told.
 */
export interface Retention {
  /** Once over all there is. Ends early, and resolves, when `signal` aborts. */
  sweep(signal: AbortSignal): Promise<void>;
}

/** 0 days: for ever. */
export interface RetentionRules {
  readonly runsDays: number;
  readonly logsDays: number;
}

/** Of each stack, however old they are. */
export const keptOfEachStack = 20;

const dayMs = 24 * 60 * 60 * 1000;
/** Looked at in one query. */
const pageSize = 200;
/** Removed in one transaction: each run takes some dozens of rows along. */
const runsAtOnce = 20;
const defaultPauseMs = 50;

export interface RetentionStore {
  /**
   * A page of runs in the order of their making, from behind `after` on (null: from the first), and which of them
   * may go: over since before `endedBeforeMs`, `keepNewest` newer ones in their stack, one of them of the same type, no
   * delivery to come.
   */
  expiredRuns(options: PageOptions & { readonly keepNewest: number }): Promise<ExpiredPage>;
  /** With their events, commands, plans, payloads, deliveries and check runs. What is not over stays. */
  removeRuns(tx: Tx, ids: readonly string[]): Promise<void>;
  /** The same for runs whose log is still there. */
  expiredLogs(options: PageOptions): Promise<ExpiredPage>;
  /** From then on the run says that its log is gone. */
  markLogsRemoved(tx: Tx, ids: readonly string[]): Promise<void>;
}

export interface PageOptions {
  readonly endedBeforeMs: number;
  readonly after: string | null;
  readonly limit: number;
}

export interface ExpiredPage {
  readonly ids: readonly string[];
  /** Where the next page begins; null when what follows is too young. */
  readonly next: string | null;
}

export function createRetention(parts: {
  store: RetentionStore;
  logs: Pick<LogStore, 'remove'>;
  transactions: Transactions;
  rules: RetentionRules;
  clock: Clock;
  logger: Logger;
  pauseMs?: number;
}): Retention {
  const { store, logs, transactions, rules, clock, logger, pauseMs = defaultPauseMs } = parts;

  async function forEachBatch(
    signal: AbortSignal,
    read: (after: string | null) => Promise<ExpiredPage>,
    work: (ids: readonly string[]) => Promise<void>,
  ): Promise<number> {
    let count = 0;
    let after: string | null = null;
    do {
      const page: ExpiredPage = await read(after);
      for (let at = 0; at < page.ids.length; at += runsAtOnce) {
        if (signal.aborted) return count;
        const ids = page.ids.slice(at, at + runsAtOnce);
        // Files first: a row without its log says so, a log without its row would stay for ever.
        for (const id of ids) await logs.remove(id);
        await work(ids);
        count += ids.length;
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
      after = page.next;
    } while (after !== null && !signal.aborted);
    return count;
  }

  const before = (days: number) => clock.nowMs() - days * dayMs;

  async function sweepLogs(signal: AbortSignal): Promise<number> {
    const endedBeforeMs = before(rules.logsDays);
    const read = (after: string | null) => store.expiredLogs({ endedBeforeMs, after, limit: pageSize });
    return forEachBatch(signal, read, (ids) => transactions.write((tx) => store.markLogsRemoved(tx, ids)));
  }

  async function sweepRuns(signal: AbortSignal): Promise<number> {
    const options = { endedBeforeMs: before(rules.runsDays), keepNewest: keptOfEachStack, limit: pageSize };
    const read = (after: string | null) => store.expiredRuns({ ...options, after });
    return forEachBatch(signal, read, (ids) => transactions.write((tx) => store.removeRuns(tx, ids)));
  }

  return {
    async sweep(signal) {
      const logsRemoved = rules.logsDays === 0 ? 0 : await sweepLogs(signal);
      const runsRemoved = rules.runsDays === 0 ? 0 : await sweepRuns(signal);
      if (logsRemoved + runsRemoved > 0) logger.info({ logsRemoved, runsRemoved }, 'what was old is removed');
    },
  };
}
